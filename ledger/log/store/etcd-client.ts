/**
 * The connection to etcd. The client package serves as a typed stub only. Its retries would report a committed transaction as a
 * conflict, its circuit breaker treats a large reply as an outage, and it sets no deadlines. So the first two are off, and
 * deadlines are set here.
 */
import { Etcd3, type IOptions } from 'etcd3';
import { accessOptions, type EtcdAccess, useCertificates } from './etcd-access.ts';

/** The deadline of a call that is not a stream. */
export const callTimeoutMs = 5_000;

type FaultPolicy = NonNullable<NonNullable<IOptions['faultHandling']>['global']>;

/** Calls once. `execute` is the only member that the client uses. */
const callOnce = {
  execute: async (call, signal = new AbortController().signal) => call({ signal }),
} satisfies Pick<FaultPolicy, 'execute'> as FaultPolicy;

/**
 * Connects without retries and without a circuit breaker. Each call that is not a stream has a deadline.
 * @throws Error when endpoints and access do not match.
 */
export function connectEtcd(endpoints: readonly string[], access: EtcdAccess = {}): Etcd3 {
  const client = new Etcd3({
    hosts: [...endpoints],
    ...accessOptions(endpoints, access),
    faultHandling: { global: callOnce, host: () => callOnce },
    grpcOptions: {
      'grpc.max_receive_message_length': 32 << 20,
      'grpc.keepalive_time_ms': 6_000,
      'grpc.keepalive_timeout_ms': 3_000,
      'grpc.keepalive_permit_without_calls': 1,
      'grpc.initial_reconnect_backoff_ms': 100,
      'grpc.max_reconnect_backoff_ms': 2_000,
    },
    defaultCallOptions: ({ isStream }) => (isStream ? {} : { deadline: Date.now() + callTimeoutMs }),
  });
  if (access.certificates) useCertificates(client, access.certificates);
  return client;
}

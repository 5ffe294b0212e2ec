/**
 * The connection to etcd. The client package is used as a typed stub only: its retries would report a committed transaction as a
 * conflict, its circuit breaker takes a large answer for an outage, and it knows no deadline; all three are off or set here.
 */
import { noop } from 'cockatiel';
import { Etcd3 } from 'etcd3';
import { accessOptions, type EtcdAccess, useCertificates } from './access.ts';

const callTimeoutMs = 5_000;

/**
 * A client that never retries, never breaks a circuit, and gives every call that is no stream a deadline.
 * @throws Error when endpoints and access do not fit.
 */
export function connectEtcd(endpoints: readonly string[], access: EtcdAccess = {}): Etcd3 {
  const client = new Etcd3({
    hosts: [...endpoints],
    ...accessOptions(endpoints, access),
    faultHandling: { global: noop, host: () => noop },
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

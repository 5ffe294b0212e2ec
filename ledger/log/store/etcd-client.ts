/**
 * The connection to etcd. The client package is used only for its types and calls. Its retries
 * would report a committed transaction as a conflict, and its circuit breaker treats a large reply
 * as an outage, so both are off. It sets no deadlines and picks any member, so this file sets
 * deadlines and picks members.
 */
import { Etcd3, type IOptions } from 'etcd3';
import { ClusterHealth } from './cluster-health.ts';
import { CallOnce } from './connection-pool.ts';
import { accessOptions, type EtcdAccess, useCertificates } from './etcd-access.ts';
import { probeMembers } from './probe-members.ts';

/** The deadline of every call that is not a stream. */
export const callTimeoutMs = 5_000;
/** The deadline of a request for a token at one member, if there are several. */
const authenticateTimeoutMs = 1_000;

/** A client of one cluster. */
export class EtcdClient extends Etcd3 {
  /** The health of the members; undefined for a single member. */
  readonly health: ClusterHealth | undefined;
  readonly #closed = new AbortController();

  constructor(options: IOptions, health: ClusterHealth | undefined) {
    super(options);
    this.health = health;
    if (health) probeMembers(this, health, this.#closed.signal);
  }

  override close(): void {
    this.#closed.abort();
    super.close();
  }
}

/**
 * Connects to etcd. Each call that is not a stream has a deadline, and goes to a member that
 * answers.
 * @throws Error if endpoints and access do not match.
 */
export function connectEtcd(endpoints: readonly string[], access: EtcdAccess = {}): EtcdClient {
  const hosts = [...new Set(endpoints)];
  const health = hosts.length > 1 ? new ClusterHealth(hosts) : undefined;
  const options: IOptions = {
    hosts,
    ...accessOptions(endpoints, access),
    faultHandling: {
      global: new CallOnce().asPolicy(),
      host: (host) => new CallOnce(health, hosts.indexOf(host)).asPolicy(),
    },
    grpcOptions: {
      'grpc.max_receive_message_length': 32 << 20,
      'grpc.keepalive_time_ms': 6_000,
      'grpc.keepalive_timeout_ms': 3_000,
      'grpc.keepalive_permit_without_calls': 1,
      'grpc.initial_reconnect_backoff_ms': 100,
      'grpc.max_reconnect_backoff_ms': 2_000,
      // Members share no connections: after a reset, a member would get the silent one again.
      ...(health && { 'grpc.use_local_subchannel_pool': 1 }),
    },
    defaultCallOptions: ({ isStream, service }) => {
      if (isStream) return {};
      return { deadline: Date.now() + (health && service === 'Auth' ? authenticateTimeoutMs : callTimeoutMs) };
    },
  };
  const client = new EtcdClient(options, health);
  // Ordered on each access, because the package reads the hosts for each token that it requests.
  if (health)
    Object.defineProperty(options, 'hosts', {
      get: () => health.order(performance.now()).map((index) => hosts[index] as string),
    });
  if (access.certificates) useCertificates(client, access.certificates);
  return client;
}

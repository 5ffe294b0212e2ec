/** Probes the members of etcd's cluster, so that calls go to members that answer. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { CallOptions, ClientUnaryCall, Metadata, ServiceError } from '@grpc/grpc-js';
import type { Etcd3, IRangeRequest, IRangeResponse } from 'etcd3';
import { status } from '../../../lib/errors.ts';
import type { ClusterHealth } from './cluster-health.ts';
import { type EtcdHost, poolOf } from './connection-pool.ts';
import { headKey } from './keys.ts';

/** The time from the end of a probe to the next one. */
const intervalMs = 200;
const timeoutMs = 5_000;
/** A lost member gets a new connection for each probe: an old one may wait long to reconnect. */
const lostTimeoutMs = 1_000;

/** Probes the members until the signal is aborted. Makes calls try healthy members first. */
export function probeMembers(client: Etcd3, health: ClusterHealth, signal: AbortSignal): void {
  const pool = poolOf(client);
  pool.shuffledHosts = function* () {
    for (;;) for (const index of health.order(performance.now())) yield pool.hosts[index] as EtcdHost;
  };
  for (const [index, host] of pool.hosts.entries()) void probeForever({ client, health, index, host, signal });
}

interface ProbedMember {
  readonly client: Etcd3;
  readonly health: ClusterHealth;
  readonly index: number;
  readonly host: EtcdHost;
  readonly signal: AbortSignal;
}

async function probeForever({ client, health, index, host, signal }: ProbedMember): Promise<void> {
  while (!signal.aborted) {
    try {
      const metadata = await poolOf(client).authenticator.getMetadata();
      const lost = health.lost(index);
      const deadline = Date.now() + (lost.aborted ? lostTimeoutMs : timeoutMs);
      health.onSent(index, performance.now());
      const ends = lost.aborted ? signal : AbortSignal.any([signal, lost]);
      const term = await probe(host, { metadata, deadline, signal: ends });
      health.onAnswered(index, performance.now(), term);
    } catch (error) {
      if (signal.aborted) return;
      health.onFailed(index, error);
      host.resetAllServices();
    }
    await sleep(intervalMs, undefined, { ref: false });
  }
}

interface ProbeOptions {
  readonly metadata: Metadata;
  readonly deadline: number;
  readonly signal: AbortSignal;
}

type RangeMethod = (
  request: IRangeRequest,
  metadata: Metadata,
  options: CallOptions,
  onReply: (error: ServiceError | null, reply?: IRangeResponse) => void,
) => ClientUnaryCall;

/** Statuses of a member without reach, quorum or reply. All other statuses are answers. */
const failures: readonly number[] = [
  status.UNAVAILABLE,
  status.DEADLINE_EXCEEDED,
  status.CANCELLED,
  status.UNKNOWN,
  status.INTERNAL,
];

/** The message with which a healthy member rejects a read during an election. */
const leaderChanged = 'etcdserver: leader changed';

/**
 * Reads one key with the quorum. Returns the term of etcd, or 0 if etcd refuses the read.
 * @throws ServiceError if the member does not serve the read
 */
function probe(host: EtcdHost, options: ProbeOptions): Promise<number> {
  const { metadata, deadline, signal } = options;
  const kv = host.getServiceClient('KV') as unknown as { range: RangeMethod };
  return new Promise((resolve, reject) => {
    const request = { key: Buffer.from(headKey), count_only: true };
    const call = kv.range(request, metadata, { deadline }, (error, reply) => {
      signal.removeEventListener('abort', cancel);
      if (error?.details === leaderChanged && !signal.aborted) resolve(probe(host, options));
      else if (error && failures.includes(error.code)) reject(error);
      else resolve(Number(reply?.header.raft_term ?? 0));
    });
    const cancel = (): void => call.cancel();
    signal.addEventListener('abort', cancel, { once: true });
  });
}

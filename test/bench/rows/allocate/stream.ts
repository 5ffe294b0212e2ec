/** The rate of Allocate over streams, beside etcd alone: transactions with as many allocations and bytes, one after the other. */
import { AllocateStream } from '../../../../services/allocator/grpc/testing/allocate-stream.ts';
import { mustRun } from '../../../harness/processes/command.ts';
import { findProgram } from '../../../harness/programs/find-program.ts';
import { type Alternated, alternate } from '../../measurement.ts';
import type { AllocateEnvironment } from './allocate-environment.ts';
import { addressIn, nextRequest } from './load.ts';

const streams = 8;
/** Of each stream: 512 in all. */
const outstanding = 64;
/** As many as fit into a transaction: two keys each, and the head. */
const perTransaction = 63;
/** Above the events of the bare server in the same etcd. */
const firstRawSeq = 1_000_000_000;
const rawTimeoutMs = 120_000;

/** Rounds of `count` allocations, after a round that warms up. Each value is allocations per second. */
export async function measureStream(
  environment: AllocateEnvironment,
  rounds: number,
  count: number,
): Promise<Alternated> {
  const program = await findProgram('raw-transactions');
  const { BARE_EVENT_BYTES = '', BARE_CLAIM_BYTES = '', BARE_HEAD_BYTES = '' } = environment.valueSizes;
  return alternate(
    rounds,
    () => runStreams(environment, count),
    async (round) => {
      const options = {
        endpoint: environment.bareEtcd.endpoint,
        first: firstRawSeq + round * count,
        count,
        'per-transaction': perTransaction,
        'event-bytes': BARE_EVENT_BYTES,
        'claim-bytes': BARE_CLAIM_BYTES,
        'head-bytes': BARE_HEAD_BYTES,
      };
      const args = Object.entries(options).map(([name, value]) => `-${name}=${value}`);
      return Number(await mustRun(program, args, { timeoutMs: rawTimeoutMs }));
    },
  );
}

/** Sends `count` requests over all streams. Resolves to allocations per second when each has its result. */
async function runStreams({ ours, acknowledged }: AllocateEnvironment, count: number): Promise<number> {
  const opened = Array.from({ length: streams }, () => new AllocateStream(ours));
  let remaining = count;
  const caller = async (stream: AllocateStream): Promise<void> => {
    while (remaining-- > 0) {
      const { name, request } = nextRequest();
      acknowledged.set(name, addressIn(await stream.allocate(request)));
    }
  };
  const startedAt = performance.now();
  await Promise.all(opened.flatMap((stream) => Array.from({ length: outstanding }, () => caller(stream))));
  const seconds = (performance.now() - startedAt) / 1_000;
  for (const stream of opened) stream.halfClose();
  for (const stream of opened) {
    const error = await stream.ended;
    if (error) throw error;
  }
  return count / seconds;
}

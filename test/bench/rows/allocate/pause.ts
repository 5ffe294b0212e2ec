/**
 * The pause of a suspended writer, one of three allocators, as by a long garbage collection while
 * clients go on: for how long no client is served, and how soon the suspended writer answers again
 * with all events.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { IpledgerError } from '../../../../lib/errors.ts';
import { call, type Connection } from '../../../../lib/grpc/client.ts';
import { IpamService } from '../../../../proto/generated/ipledger.ts';
import { type AllocatorServer, startAllocator } from '../../../harness/services.ts';
import type { BenchOptions } from '../../bench-row.ts';
import { createMeasurement, measureTime, type Measurement } from '../../measurement.ts';
import { type HistoryEnvironment, openHistoryEnvironment } from '../history/history-environment.ts';
import { applyBenchSubnet, openConnection, reconcile } from './allocate-environment.ts';
import { type Acknowledged, addressIn, benchSubnet, nextRequest } from './load.ts';
import { allocateUntilAcknowledged, currentWriter } from './takeover.ts';

interface Size {
  /** Claims before the suspension. */
  readonly live: number;
  readonly suspendedMs: number;
}

const sizes: Readonly<Record<'smoke' | 'normal' | 'pause-1m', Size>> = {
  smoke: { live: 100, suspendedMs: 200 },
  normal: { live: 20_000, suspendedMs: 30_000 },
  'pause-1m': { live: 1_000_000, suspendedMs: 30_000 },
};
const callers = 16;
/** The time that a caller waits between its requests: 30 s have some thousands of events. */
const intervalMs = 50;
/** Requests that the suspended writer gets before another writer is elected. */
const sentToSuspended = 16;
const timeoutMs = 60_000;

export async function measurePause(name: string, { run, rounds, size }: BenchOptions): Promise<Measurement[]> {
  const { live, suspendedMs } = sizes[name === 'pause-1m' ? name : size === 'smoke' ? size : 'normal'];
  const environment = await openHistoryEnvironment(run, live, { livePods: live, name: `etcd-${name}` });
  const { etcd } = environment;
  const names = size === 'smoke' ? ['second'] : ['second', 'third'];
  const others = await Promise.all(names.map((each) => startAllocator(run, { etcd, name: each })));
  const allocators = [environment.allocator, ...others];
  const connection = openConnection(run, allocators.map(({ endpoint }) => endpoint).join());
  await applyBenchSubnet(connection);
  const pausing = { ...environment, allocators, connection, acknowledged: new Map<string, string>(), suspendedMs };
  const [gaps, returns]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    const { gapMs, returnMs } = await suspendWriter(pausing);
    gaps.push(gapMs / 1_000);
    returns.push(returnMs);
  }
  await reconcile(pausing);
  for (const allocator of allocators) await allocator.kill();
  const what = 'ms until it answers with all events';
  return [
    createMeasurement({ name: `${name} gap`, what: 'seconds without a reply', ours: gaps, goal: { atMost: 6 } }),
    createMeasurement({ name: `${name} return`, what, ours: returns, goal: { atMost: 2_000 } }),
  ];
}

interface Pausing extends HistoryEnvironment {
  readonly allocators: readonly AllocatorServer[];
  readonly connection: Connection;
  readonly acknowledged: Acknowledged;
  readonly suspendedMs: number;
}

/**
 * Suspends the writer.
 * @throws Error when it restarts, returns a false answer, or takes the lease from its successor
 */
async function suspendWriter(pausing: Pausing): Promise<{ gapMs: number; returnMs: number }> {
  const { run, allocators, connection, acknowledged, suspendedMs } = pausing;
  const writer = await currentWriter(allocators, run);
  const { pid } = writer;
  const suspended = openConnection(run, writer.endpoint);
  let last = await allocateUntilAcknowledged(connection, acknowledged);
  writer.freeze();
  const late = Promise.all(Array.from({ length: sentToSuspended }, () => allocateLate(suspended, pausing)));
  const resuming = new AbortController();
  const measuring = longestGap(pausing, resuming.signal, (pod) => (last = pod));
  const resume = async (): Promise<number> => {
    await sleep(suspendedMs);
    const expected = last;
    writer.resume();
    const { ms } = await measureTime(() => readFrom(suspended, expected, acknowledged));
    resuming.abort();
    return ms;
  };
  const [gapMs, returnMs] = await Promise.all([measuring, resume(), late]);
  if (writer.pid !== pid || !writer.isAlive) throw new Error(`${writer.name} did not survive its suspension`);
  suspended.close();
  return { gapMs, returnMs };
}

/**
 * Sends a request that only the suspended writer gets. Its reply, if it gets one, is compared with
 * the ledger; else it is repeated.
 */
async function allocateLate(suspended: Connection, { connection, acknowledged }: Pausing): Promise<void> {
  const { name, request } = nextRequest();
  const reply = await call(suspended, IpamService.allocate, request, { timeoutMs }).catch((error: unknown) => {
    if (IpledgerError.from(error).kind !== 'transient') throw error;
    return call(connection, IpamService.allocate, request, { timeoutMs });
  });
  acknowledged.set(name, addressIn(reply));
}

/** Measures the longest time between two replies to callers, until the signal is aborted. */
async function longestGap(
  { connection, acknowledged }: Pausing,
  signal: AbortSignal,
  onReply: (pod: string) => void,
): Promise<number> {
  let [lastAt, longest] = [performance.now(), 0];
  const caller = async (): Promise<void> => {
    while (!signal.aborted) {
      onReply(await allocateUntilAcknowledged(connection, acknowledged));
      const now = performance.now();
      longest = Math.max(longest, now - lastAt);
      lastAt = now;
      await sleep(intervalMs);
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return longest;
}

/**
 * Resolves when the suspended writer knows the address of the last Pod.
 * @throws Error when it replies without it
 */
async function readFrom(suspended: Connection, pod: string, acknowledged: Acknowledged): Promise<void> {
  const address = acknowledged.get(pod) ?? '';
  for (;;)
    try {
      const { record } = await call(suspended, IpamService.getAddress, { subnet: benchSubnet, address }, { timeoutMs });
      const holder = record?.allocation?.attachment?.pod;
      if (holder !== pod) throw new Error(`the suspended writer names ${holder} for ${address}, and it is of ${pod}`);
      return;
    } catch (error) {
      if (!(error instanceof IpledgerError) || error.kind !== 'transient') throw error;
      await sleep(1);
    }
}

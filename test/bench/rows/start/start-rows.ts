/**
 * The rows about an allocator with many live allocations: its start, and the memory of its state.
 */
import { call, connect } from '../../../../lib/grpc/client.ts';
import { SubnetsService } from '../../../../proto/generated/ipledger.ts';
import { mustRun } from '../../../harness/processes/command.ts';
import { printProgress } from '../../../harness/progress.ts';
import { type AllocatorServer, startAllocator } from '../../../harness/services.ts';
import { residentMiB } from '../../../scale/resource-usage.ts';
import type { BenchGroup, BenchOptions } from '../../bench-row.ts';
import { floorProgram } from '../../floor-programs.ts';
import { alternate, createMeasurement, measureTime } from '../../measurement.ts';
import { type HistoryInEtcd, openHistory } from '../history/history-environment.ts';
import { measureStorageSize } from '../history/storage-size.ts';

interface Size {
  readonly live: number;
  readonly events: number;
}

const sizes: Readonly<Record<BenchOptions['size'], Size>> = {
  smoke: { live: 300, events: 1_500 },
  normal: { live: 150_000, events: 1_000_000 },
  long: { live: 150_000, events: 1_000_000 },
};
const longSize: Size = { live: 1_000_000, events: 2_500_000 };
/** The part of the allocations in the smaller state of the memory row. */
const smallPart = 10;
/** The events of a Pod in the memory row: its allocation, its binding, and one more. */
const eventsPerLive = 3;
const timeoutMs = 600_000;

export const startRows: BenchGroup = {
  rows: ['start-150k', 'memory'],
  longRows: ['live-1m'],
  async measure(options) {
    const { rows, size } = options;
    const state = sizeOr(sizes[size]);
    if (rows.has('start-150k')) await measureStart(await openLive(options, state), options);
    if (rows.has('memory')) await measureMemory(state.live, options);
    if (rows.has('live-1m')) await measureLongStart(await openLive(options, sizeOr(longSize), 'etcd-1m'), options);
  },
};

/** The size in LIVE and EVENTS; else the given size. */
const sizeOr = ({ live, events }: Size): Size => ({
  live: Number(process.env['LIVE'] || live),
  events: Number(process.env['EVENTS'] || events),
});

/** Builds live allocations in an etcd, without an allocator. */
function openLive({ run }: BenchOptions, { live, events }: Size, name?: string): Promise<HistoryInEtcd> {
  printProgress(`building ${live} live allocations, ${events} events:`);
  return openHistory(run, events, { livePods: live, name });
}

/**
 * Starts an allocator, and compares its counts with the ledger. Returns it and the milliseconds
 * from exec to ready.
 */
async function startAndCheck({ run, etcd }: HistoryInEtcd): Promise<{ ms: number; allocator: AllocatorServer }> {
  const { ms, result: allocator } = await measureTime(() => startAllocator(run, { etcd }));
  const connection = connect(allocator.endpoint, undefined);
  try {
    const { subnets } = await call(connection, SubnetsService.listSubnets, {}, { timeoutMs });
    const held = subnets.flatMap(({ usage }) => usage).reduce((sum, { inUse }) => sum + Number(inUse), 0);
    const inLedger = await readSnapshot({ etcd });
    if (held !== inLedger) throw new Error(`the allocator has ${held} allocations, and the ledger ${inLedger}`);
  } finally {
    connection.close();
  }
  return { ms, allocator };
}

async function measureStart(environment: HistoryInEtcd, { rounds, record }: BenchOptions): Promise<void> {
  const ours = async (): Promise<number> => {
    const { ms, allocator } = await startAndCheck(environment);
    await allocator.stop();
    return ms;
  };
  const floor = async (): Promise<number> => (await measureTime(() => readSnapshot(environment))).ms;
  const measured = await alternate(rounds, ours, floor);
  record(createMeasurement({ name: 'start-150k', what: 'ms from exec to ready', ...measured, goal: { atMost: 1.5 } }));
}

/** Reads the snapshot: the floor. Returns the number of addresses that a Pod holds. */
const readSnapshot = async ({ etcd }: Pick<HistoryInEtcd, 'etcd'>): Promise<number> =>
  Number(await mustRun(process.execPath, [floorProgram('read-snapshot'), etcd.endpoint], { timeoutMs }));

/**
 * Measures bytes for an additional live allocation: the difference between two states, divided by
 * the difference of their allocations. Both have as many events for an allocation, so that idle
 * addresses count little.
 */
async function measureMemory(live: number, options: BenchOptions): Promise<void> {
  const few = Math.max(100, Math.floor(live / smallPart));
  const small = await openLive(options, { live: few, events: eventsPerLive * few }, 'etcd-small');
  const large = await openLive(options, { live, events: eventsPerLive * live }, 'etcd-large');
  const [one, other] = [await measureState(small), await measureState(large)];
  const grown = other.bytes - one.bytes;
  // The heap of the few allocations of a smoke test may shrink.
  const slope = (options.size === 'smoke' ? Math.max(1, grown) : grown) / (other.live - one.live);
  const what = 'bytes for one more live allocation';
  options.record(createMeasurement({ name: 'memory allocator', what, ours: [slope], goal: { atMost: 300 } }));
}

interface StateSize {
  readonly live: number;
  readonly bytes: number;
}

/** Measures a state in a process of its own, so that the other state leaves nothing in its heap. */
async function measureState({ etcd }: HistoryInEtcd): Promise<StateSize> {
  const args = ['--expose-gc', `${import.meta.dirname}/state-memory.ts`, etcd.endpoint];
  return JSON.parse(await mustRun(process.execPath, args, { timeoutMs })) as StateSize;
}

async function measureLongStart(environment: HistoryInEtcd, { record }: BenchOptions): Promise<void> {
  await readSnapshot(environment); // fills the caches of etcd for both sides
  const floor = await measureTime(() => readSnapshot(environment));
  const { ms, allocator } = await startAndCheck(environment);
  const what = 'ms from exec to ready';
  record(createMeasurement({ name: 'live-1m ready', what, ours: [ms], goal: { atMost: 20_000 } }));
  record(createMeasurement({ name: 'live-1m start', what, ours: [ms], floor: [floor.ms], goal: { atMost: 1.5 } }));
  const resident = residentMiB(allocator.pid);
  record(createMeasurement({ name: 'live-1m rss', what: 'MiB resident', ours: [resident], goal: { atMost: 700 } }));
  for (const each of await measureStorageSize(environment))
    record({ ...each, name: each.name.replace('storage', 'live-1m') });
  await allocator.stop();
}

/**
 * The rows of the durable write path: Allocate over gRPC, beside a bare server that writes the same
 * keys.
 */
import type { BenchGroup, BenchOptions } from '../../bench-row.ts';
import { alternate, createMeasurement, type Measurement, quantile } from '../../measurement.ts';
import { type AllocateEnvironment, openAllocateEnvironment, reconcile, reconcileBare } from './allocate-environment.ts';
import { measureBeside } from './beside.ts';
import { measureDecide } from './decide.ts';
import { allocateOnce, runCallers } from './load.ts';
import { measurePause } from './pause.ts';
import { measureTakeover } from './takeover.ts';

const requestCounts = { smoke: 64, normal: 6_000, long: 20_000 };

export const allocateRows: BenchGroup = {
  rows: ['latency-1', 'unary-64', 'unary-256', 'beside', 'takeover', 'pause', 'decide'],
  longRows: ['pause-1m'],
  async measure(options) {
    const { rounds, rows, size, record } = options;
    if (rows.has('decide')) for (const each of measureDecide(rounds, size)) record(each);
    if (servedRows.some((name) => rows.has(name))) await measureServed(options);
    if (rows.has('takeover')) for (const each of await measureTakeover(options)) record(each);
    for (const name of ['pause', 'pause-1m'])
      if (rows.has(name)) for (const each of await measurePause(name, options)) record(each);
  },
};

/** The rows that share an allocator and a bare server. */
const servedRows = ['latency-1', 'unary-64', 'unary-256', 'beside'];

async function measureServed({ run, rounds, rows, size, record }: BenchOptions): Promise<void> {
  const environment = await openAllocateEnvironment(run);
  if (rows.has('latency-1')) record(await measureLatency(environment, { rounds, size }));
  for (const callers of [64, 256])
    if (rows.has(`unary-${callers}`)) record(await measureUnary(environment, callers, { rounds, size }));
  if (rows.has('beside')) {
    const load = { callers: 256, count: requestCounts[size] };
    const alternated = await measureBeside(environment, rounds, load);
    record(createMeasurement({ name: 'beside', what: 'Allocate per second', ...alternated, goal: { atLeast: 0.7 } }));
  }
  await reconcile(environment);
  await reconcileBare(environment);
}

type Sizing = Pick<BenchOptions, 'rounds' | 'size'>;

/** Measures the median of sequential calls. */
async function measureLatency(environment: AllocateEnvironment, { rounds, size }: Sizing): Promise<Measurement> {
  const count = requestCounts[size] / 20;
  const { ours, bare, acknowledged, bareAcknowledged } = environment;
  const p50 = async (connection: typeof ours, into: typeof acknowledged): Promise<number> => {
    const latencies: number[] = [];
    for (let sent = 0; sent < count; sent++) latencies.push(await allocateOnce(connection, into));
    return quantile(latencies, 0.5);
  };
  const alternated = await alternate(
    rounds,
    () => p50(ours, acknowledged),
    () => p50(bare, bareAcknowledged),
  );
  return createMeasurement({ name: 'latency-1', what: 'p50 ms of Allocate', ...alternated, goal: { atMost: 1.25 } });
}

async function measureUnary(
  { ours, bare, acknowledged, bareAcknowledged }: AllocateEnvironment,
  callers: number,
  { rounds, size }: Sizing,
): Promise<Measurement> {
  const load = { callers, count: requestCounts[size] };
  const alternated = await alternate(
    rounds,
    () => runCallers(ours, acknowledged, load),
    () => runCallers(bare, bareAcknowledged, load),
  );
  return createMeasurement({
    name: `unary-${callers}`,
    what: 'Allocate per second',
    ...alternated,
    goal: { atLeast: 0.85 },
  });
}

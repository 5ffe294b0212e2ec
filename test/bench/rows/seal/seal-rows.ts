/**
 * The rows about sealing with many live allocations: the size of the archive beside that of the
 * events, and how long calls wait for the allocator at the same time, also beside queries of the
 * past.
 */
import { globSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, stream } from '../../../../lib/grpc/client.ts';
import { LedgerService } from '../../../../proto/generated/ipledger.ts';
import { printProgress } from '../../../harness/progress.ts';
import { type AllocatorServer, startAllocator } from '../../../harness/services.ts';
import { peakResidentMiB, resetPeakMemory } from '../../../scale/resource-usage.ts';
import type { BenchGroup, BenchOptions } from '../../bench-row.ts';
import { createMeasurement, measureTime } from '../../measurement.ts';
import { openHistory } from '../history/history-environment.ts';

interface Size {
  readonly live: number;
  readonly events: number;
  readonly segmentEvents: number;
}

const sizes: Readonly<Record<BenchOptions['size'], Size>> = {
  smoke: { live: 100, events: 500, segmentEvents: 400 },
  normal: { live: 50_000, events: 200_000, segmentEvents: 2_000 },
  long: { live: 50_000, events: 200_000, segmentEvents: 2_000 },
};
const longSize: Size = { live: 1_000_000, events: 3_000_000, segmentEvents: 10_000 };
const pollMs = 250;
const silenceMs = 60_000;

export const sealRows: BenchGroup = {
  rows: ['seal'],
  longRows: ['seal-1m'],
  async measure(options) {
    if (options.rows.has('seal')) await measureSealing('seal', sizes[options.size], options);
    if (options.rows.has('seal-1m')) await measureSealing('seal-1m', longSize, options);
  },
};

/** Seals the complete history, then reads past states. */
async function measureSealing(
  name: string,
  { live, events, segmentEvents }: Size,
  options: BenchOptions,
): Promise<void> {
  const { run, record } = options;
  printProgress(`building ${live} live allocations, ${events} events:`);
  const { etcd, ledger } = await openHistory(run, events, { livePods: live, name: `etcd-${name}` });
  const folder = join(run.folder, `archive-${name}`);
  mkdirSync(folder);
  const turnFile = join(folder, 'longest-turn');
  const env = { NODE_OPTIONS: `--import=${import.meta.dirname}/longest-turn.ts`, LOOP_TURN_FILE: turnFile };
  const archive = { location: folder, keepEvents: 1, segmentEvents, env };
  const allocator = await startAllocator(run, { etcd, archive });
  process.kill(allocator.pid, 'SIGUSR2');
  resetPeakMemory(allocator.pid);

  const segments = Math.floor((events - 1) / segmentEvents);
  const { ms: sealMs } = await measureTime(async () => {
    // The log start: etcd has the last events only, beside any number of claims
    while ((await ledger.logStart(run.signal)) <= segments * segmentEvents) await sleep(pollMs);
  });
  const bytes = { all: bytesOf(folder, '*.{gz,json}'), events: bytesOf(folder, '*.events.ndjson.gz') };
  const written = { name: `${name} bytes`, what: 'bytes in the archive', ours: [bytes.all], floor: [bytes.events] };
  record(createMeasurement({ ...written, goal: { atMost: 2 } }));
  const perSegment = sealMs / segments;
  const states = filesOf(folder, 'state.ndjson.gz').length;
  printProgress(`  ${segments} segments, ${states} end states, ${Math.round(perSegment)} ms for a segment`);

  const past = { lastSealed: segments * segmentEvents, live };
  const { ms: pastMs } = await measureTime(() => readPast(allocator, past, run.signal));
  printProgress(`  two StateAt and a Diff at the same time: ${Math.round(pastMs)} ms`);
  await sleep(2 * pollMs);
  const turn = Number(readFileSync(turnFile, 'utf8'));
  record(
    createMeasurement({ name: `${name} turn`, what: 'ms of CPU, the longest', ours: [turn], goal: { atMost: 50 } }),
  );
  const [what, peak] = ['MiB resident, the most', peakResidentMiB(allocator.pid)];
  record(createMeasurement({ name: `${name} rss`, what, ours: [peak], goal: { atMost: 2_048 } }));
  await allocator.stop();
}

const filesOf = (folder: string, kind: string): string[] => globSync(`*/*.${kind}`, { cwd: folder });

const bytesOf = (folder: string, pattern: string): number =>
  globSync(`*/${pattern}`, { cwd: folder }).reduce((sum, file) => sum + statSync(join(folder, file)).size, 0);

/**
 * Reads a state of the past, and then a difference from another state.
 * @throws Error when a state has far fewer addresses than are live, or the difference has none
 */
async function readPast(
  allocator: AllocatorServer,
  { lastSealed, live }: { readonly lastSealed: number; readonly live: number },
  signal: AbortSignal,
): Promise<void> {
  const connection = connect(allocator.endpoint, undefined);
  const options = { signal, silenceMs };
  const stateAt = async (seq: number): Promise<void> => {
    let addresses = 0;
    for await (const { records } of stream(connection, LedgerService.stateAt, { pointInTime: { seq } }, options))
      addresses += records.length;
    if (addresses < live / 2) throw new Error(`the state at event ${seq} has ${addresses} addresses, of ${live}`);
  };
  const diff = async (from: number, to: number): Promise<void> => {
    let changes = 0;
    const range = { from: { seq: from }, to: { seq: to } };
    for await (const { addresses } of stream(connection, LedgerService.diff, range, options))
      changes += addresses.length;
    if (changes === 0) throw new Error(`nothing differs between events ${from} and ${to}`);
  };
  try {
    await stateAt(lastSealed);
    await Promise.all([stateAt(lastSealed - 1), diff(lastSealed - 10, lastSealed)]);
  } finally {
    connection.close();
  }
}

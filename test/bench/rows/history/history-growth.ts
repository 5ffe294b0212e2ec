/**
 * The rows about the growth of queries with the log, with an archive: who-had, the history of an
 * address, a period, and verification, each in logs of two or three sizes of one run. The figure is
 * how many times as long a query takes in a log of ten times the events.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { pino } from 'pino';
import { addressAtInstant, buildAddressPeriods } from '../../../../cli/allocation-periods/allocation-periods.ts';
import { findHolder } from '../../../../cli/allocation-periods/find-holder.ts';
import { openAllocatorClient, openReadModelClient } from '../../../../cli/clients/ledger-client.ts';
import { ArchivedLedger } from '../../../../ledger/archive/archived-ledger.ts';
import { FolderArchive } from '../../../../ledger/archive/folder-archive.ts';
import { type SealingContext, sealOldestEvents } from '../../../../ledger/archive/seal.ts';
import { verifyLedger } from '../../../../ledger/audit/verification/verify-ledger.ts';
import { addressesOf } from '../../../../ledger/domain/events/registry.ts';
import { eventVersions } from '../../../../ledger/domain/events/schema-version.ts';
import type { SealedSegment } from '../../../../ledger/domain/values/ledger.ts';
import { parseEvent } from '../../../../ledger/log/chain/chain.ts';
import { createUlidSource } from '../../../../ledger/log/chain/ulid-source.ts';
import { Replica } from '../../../../ledger/log/reader/replica.ts';
import { Writer } from '../../../../ledger/log/writer/writer.ts';
import { call, connect } from '../../../../lib/grpc/client.ts';
import { type Event, LedgerService } from '../../../../proto/generated/ipledger.ts';
import { printProgress } from '../../../harness/progress.ts';
import type { Run } from '../../../harness/run.ts';
import { startAllocator, startReadModel } from '../../../harness/services.ts';
import type { BenchGroup, BenchOptions } from '../../bench-row.ts';
import { createMeasurement, measureTime, median } from '../../measurement.ts';
import { openHistory } from './history-environment.ts';
import { readHistoryEvents } from './query-latency.ts';

interface Sizes {
  readonly events: readonly number[];
  readonly segmentEvents: number;
  readonly queries: number;
}

const sizes: Readonly<Record<BenchOptions['size'], Sizes>> = {
  smoke: { events: [200, 800], segmentEvents: 80, queries: 2 },
  normal: { events: [20_000, 100_000, 500_000], segmentEvents: 1_000, queries: 20 },
  long: { events: [100_000, 1_000_000, 10_000_000], segmentEvents: 10_000, queries: 50 },
};
const timeoutMs = 60_000;

/** Milliseconds of each query in a log of this size. */
interface Timings {
  readonly events: number;
  /** The median of `ipledger who-had` for times in the first tenth of the log. */
  readonly whoHad: number;
  /** The median of the history of an address, for each of its events. */
  readonly addressEvent: number;
  /** A page of all events before a time in the first tenth of the log. */
  readonly period: number;
  readonly verification: number;
}

const goals = {
  whoHad: { atMost: 2 },
  addressEvent: { atMost: 2 },
  period: { atMost: 2 },
  verification: { atMost: 12 },
};

export const historyGrowthRows: BenchGroup = {
  rows: ['growth'],
  async measure({ run, size, record }) {
    const measured: Timings[] = [];
    const [fewest = 0] = sizes[size].events;
    // The first log would be read by code that is not compiled, and hide a part of the growth.
    await measureSize(run, fewest, sizes[size], 'warm-up');
    for (const events of sizes[size].events) {
      const timings = await measureSize(run, events, sizes[size]);
      printProgress(`  ${JSON.stringify(timings)}`);
      measured.push(timings);
    }
    const [smallest, largest] = [measured[0], measured.at(-1)];
    if (!smallest || !largest) throw new Error('there are no sizes');
    const tenfolds = Math.log10(largest.events / smallest.events);
    for (const [query, goal] of Object.entries(goals) as [keyof typeof goals, { atMost: number }][]) {
      const growth = (largest[query] / smallest[query]) ** (1 / tenfolds);
      const what = 'times as long in a log of ten times the events';
      record(createMeasurement({ name: `growth ${query}`, what, ours: [growth], goal }));
    }
  },
};

/** Builds a log, seals almost all of it, and measures each query. */
async function measureSize(
  run: Run,
  count: number,
  { segmentEvents, queries }: Sizes,
  name = `growth-${count}`,
): Promise<Timings> {
  const { etcd, ledger: inEtcd, events } = await openHistory(run, count, { name: `etcd-${name}` });
  printProgress('  sealing them');
  const location = join(run.folder, `archive-${name}`);
  mkdirSync(location);
  const archive = new FolderArchive(location);
  const ledger = new ArchivedLedger(inEtcd, archive);
  await sealAll({ ledger, archive }, { events, segmentEvents }, run.signal);
  const allocator = await startAllocator(run, { etcd, name, archive: { location } });
  const readModel = await startReadModel(run, { allocator });
  using allocatorClient = openAllocatorClient({ endpoint: allocator.endpoint }, run.signal);
  using index = openReadModelClient(readModel.endpoint, run.signal);
  const connection = connect(allocator.endpoint, undefined);
  const [whoHad, addressEvent, period]: [number[], number[], number[]] = [[], [], []];
  try {
    for (let query = 0; query < queries; query++) {
      const { address, subnet, at } = await oldEvent(
        ledger,
        1 + Math.floor((count / 10) * ((query + 1) / queries)),
        run,
      );
      const held = await measureTime(() =>
        findHolder({ allocator: allocatorClient, readModel: index }, { address, subnet, instant: at }),
      );
      const history = await measureTime(() => readHistoryEvents(connection, { address, subnet }));
      const expected = { subnet, historyStartsAt: '', ...addressAtInstant(at, buildAddressPeriods(history.result)) };
      if (!isDeepStrictEqual(held.result.subnets, [expected]))
        throw new Error(`the holder of ${address} at ${at} differs from its complete history`);
      whoHad.push(held.ms);
      addressEvent.push(history.ms / history.result.length);
      const request = { until: at, pageSize: 100 };
      const page = await measureTime(() => call(connection, LedgerService.history, request, { timeoutMs }));
      expectPage(page.result.events, request);
      period.push(page.ms);
    }
    const verified = await measureTime(() => verifyLedger(ledger, { signal: run.signal }));
    if (verified.result.findings[0]) throw new Error(`a finding: ${JSON.stringify(verified.result.findings[0])}`);
    const [whoHadMs, addressEventMs, periodMs] = [whoHad, addressEvent, period].map(median) as [number, number, number];
    return {
      events,
      whoHad: whoHadMs,
      addressEvent: addressEventMs,
      period: periodMs,
      verification: verified.ms,
    };
  } finally {
    connection.close();
    for (const server of [readModel, allocator, etcd]) await server.kill();
  }
}

/** @throws Error unless the page is full, or has all events, and ends before the time */
function expectPage(events: readonly Event[], { until, pageSize }: { until: string; pageSize: number }): void {
  const [newest] = events;
  if (!newest || newest.at > until || events.length !== Math.min(pageSize, newest.seq))
    throw new Error(`the page until ${until} has ${events.length} events, the newest of ${newest?.at}`);
}

/** Finds the first event from `seq` on that has an address. Returns the address and the time. */
async function oldEvent(ledger: ArchivedLedger, seq: number, run: Run) {
  for await (const lines of ledger.read(seq, run.signal))
    for (const { text } of lines) {
      const { envelope, sequenced } = parseEvent(text);
      const [address] = addressesOf(sequenced);
      if (address !== undefined && sequenced.type === 'AddressAllocated')
        return { address, subnet: envelope.subnet, at: envelope.at };
    }
  throw new Error(`no event from ${seq} on has an address`);
}

/** Seals all complete segments but the last, and deletes their events from etcd. */
async function sealAll(
  { ledger, archive }: Pick<SealingContext, 'ledger' | 'archive'>,
  { events, segmentEvents }: { readonly events: number; readonly segmentEvents: number },
  signal: AbortSignal,
): Promise<void> {
  const working = new AbortController();
  const replica = await Replica.load(ledger, signal);
  const newest = eventVersions.at(-1) ?? 1;
  const log = pino({ level: 'silent' });
  const writer = new Writer({ replica, newId: createUlidSource(), term: undefined, eventVersion: () => newest, log });
  const ended = writer.run(AbortSignal.any([signal, working.signal]));
  const submit = async (segment: SealedSegment): Promise<void> => {
    const command = (now: number) => ({ type: 'SealSegment', now, segment }) as const;
    await writer.submit({ command, answer: () => undefined, actor: 'allocator', signal });
  };
  try {
    for (let to = segmentEvents; to <= events - segmentEvents; to += segmentEvents)
      await sealOldestEvents({ ledger, archive, submit, canOmitEndState: () => true }, to, signal);
  } finally {
    working.abort();
    await ended;
  }
}

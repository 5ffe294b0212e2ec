import { expect } from 'chai';
import { IpledgerError } from '../../../lib/errors.ts';
import { SharedTurns } from '../../../lib/process/shared-turns.ts';
import type { Event } from '../../domain/events/event.ts';
import { allocated, bound, subnetConfigured, unbound } from '../../domain/testing/event-fixtures.ts';
import type { Segment } from '../../domain/values/ledger.ts';
import { lastSeqBefore, scanReverse } from './reverse-scan.ts';
import { chainEvent, emptyHead } from '../chain/chain.ts';
import { matchAllEvents } from './event-filter.ts';
import { logKey } from '../store/keys.ts';
import type { Ledger, StoredLine } from '../store/ledger.ts';
import { failureOf, never } from '../testing/running-writer.ts';

/** The log has one event each second. */
const count = 45_000;
const rare = 100;

/** Counts what a search reads of a ledger. */
class Log implements Pick<Ledger, 'read' | 'readEach'> {
  readonly lines: readonly StoredLine[];
  /** Earlier events are not available. */
  floor = 1;
  /** Whether the first refused read is the last one. */
  heals = false;
  pageSize = 2_000;
  linesRead = 0;
  seqsRead: number[] = [];

  constructor(lines: readonly StoredLine[]) {
    this.lines = lines;
  }

  async *read(from: number, signal: AbortSignal): AsyncIterable<readonly StoredLine[]> {
    signal.throwIfAborted();
    this.#refuseBelow(from);
    for (let first = from - 1; first < this.lines.length; first += this.pageSize) {
      const page = this.lines.slice(first, first + this.pageSize);
      this.linesRead += page.length;
      yield page;
    }
  }

  async readEach(seqs: readonly number[], signal: AbortSignal): Promise<readonly (StoredLine | undefined)[]> {
    signal.throwIfAborted();
    for (const seq of seqs) this.#refuseBelow(seq);
    this.seqsRead.push(...seqs);
    return seqs.map((seq) => this.lines[seq - 1]);
  }

  #refuseBelow(seq: number): void {
    if (seq >= this.floor) return;
    if (this.heals) this.floor = 1;
    throw new IpledgerError('POSITION_GONE', `event ${seq} is sealed`);
  }
}

/**
 * Chains events to a log. `earlier` has the last events of addresses, by the event that names them.
 */
function linesOf(
  length: number,
  {
    eventAt = (seq) => (seq % rare === 1 ? allocated('target', '172.17.0.11') : subnetConfigured()),
    timeOf = (seq) => seq * 1_000,
    earlier = {},
  }: {
    /** Default: one event in a hundred is of the Pod of the filter. */
    readonly eventAt?: (seq: number) => Event;
    readonly timeOf?: (seq: number) => number;
    readonly earlier?: Record<number, Record<string, number>>;
  } = {},
): StoredLine[] {
  const wrapping = { id: 'id', command: 'command', part: [1, 1], actor: 'spec' } as const;
  let head = emptyHead;
  return Array.from({ length }, (_, index) => {
    const [seq, at] = [index + 1, timeOf(index + 1)];
    const next = chainEvent(head, eventAt(seq), { ...wrapping, at, clock: at, before: earlier[seq] ?? {} });
    head = next.head;
    return { key: logKey(seq), text: next.stored.text, revision: 1n };
  });
}

describe('scanReverse', () => {
  let log: Log;
  let ledger: Ledger;
  before(() => {
    log = new Log(linesOf(count));
    ledger = log as unknown as Ledger;
  });
  beforeEach(() => {
    log.floor = 1;
    log.heals = false;
    log.pageSize = 2_000;
    log.linesRead = 0;
    log.seqsRead = [];
  });

  const filter = { ...matchAllEvents, namespace: 'default', pod: 'target' };
  const search = (from: number, more: object = {}, of = ledger) =>
    scanReverse(of, { filter, from, since: -Infinity, maxEvents: 1_000, turns: new SharedTurns(10), ...more }, never);
  const all = Array.from({ length: count / rare }, (_, index) => index * rare + 1).toReversed();

  it('scanReverse scans a bounded number of events per call, and returns where to continue', async () => {
    const found: number[] = [];
    const calls: [searched: number, more: boolean][] = [];
    for (let from = count; from > 0 && calls.length < 10;) {
      log.linesRead = 0;
      const { events, scannedFrom, hasMore } = await search(from);
      expect(log.linesRead).to.be.at.most(20_000);
      found.push(...events.map(({ envelope }) => envelope.seq));
      calls.push([scannedFrom, hasMore]);
      from = scannedFrom - 1;
    }
    expect(found).to.deep.equal(all);
    expect(calls).to.deep.equal([
      [25_001, true],
      [5_001, true],
      [1, false],
    ]);
  });

  it('scanReverse reads only the pages that it needs to find the requested number of events', async () => {
    const { events, scannedFrom, hasMore } = await search(count, { maxEvents: 3 });
    expect(events.map(({ envelope }) => envelope.seq)).to.deep.equal(all.slice(0, 3));
    expect([scannedFrom, hasMore]).to.deep.equal([all[2], true]);
    expect(log.linesRead).to.equal(2_000);
  });

  it('scanReverse reads no second page when the first one has just the requested number of events', async () => {
    const { events, scannedFrom, hasMore } = await search(count, { maxEvents: 20 });
    expect(events.map(({ envelope }) => envelope.seq)).to.deep.equal(all.slice(0, 20));
    expect([scannedFrom, hasMore, log.linesRead]).to.deep.equal([43_001, true, 2_000]);
  });

  it('scanReverse scans the rest of a step that has just the requested number of events', async () => {
    const { events, scannedFrom, hasMore } = await search(44_950, { maxEvents: 20 });
    expect(events.at(-1)?.envelope.seq).to.equal(43_001);
    expect([scannedFrom, hasMore]).to.deep.equal([42_951, true]);
  });

  it('scanReverse begins no other step when one has just the requested number of events', async () => {
    const { events, scannedFrom, hasMore } = await search(44_950, { maxEvents: 2 });
    expect(events.map(({ envelope }) => envelope.seq)).to.deep.equal([44_901, 44_801]);
    expect([scannedFrom, hasMore]).to.deep.equal([44_751, true]);
  });

  it('scanReverse reads the first event of the log, also if it is alone on its page', async () => {
    const { events, scannedFrom, hasMore } = await search(2_001);
    expect(events.at(-1)?.envelope.seq).to.equal(1);
    expect([scannedFrom, hasMore]).to.deep.equal([1, false]);
    const before = await search(20_001);
    expect([before.scannedFrom, before.hasMore], 'in another call').to.deep.equal([2, true]);
  });

  it('scanReverse returns the same events from pages of any size', async () => {
    const expected = await search(5_000);
    for (const pageSize of [700, 1_999]) {
      log.pageSize = pageSize;
      expect(await search(5_000)).to.deep.equal(expected);
    }
  });

  it('scanReverse ends when its caller leaves', async () => {
    const turns = new SharedTurns(10);
    const scan = { filter, from: count, since: -Infinity, maxEvents: 1, turns };
    expect(await failureOf(scanReverse(ledger, scan, AbortSignal.abort()))).to.have.property('name', 'AbortError');
  });

  it('scanReverse takes an allocation by an owner from its page, without another read', async () => {
    const owner = { kind: 'ReplicaSet', name: 'web', uid: 'uid-of-web' };
    const grant = allocated('target', '172.17.0.11');
    const eventAt = (): Event => ({ ...grant, data: { ...grant.data, owner } });
    const owned = new Log(linesOf(10, { eventAt }));
    const found = await search(10, { filter: { ...matchAllEvents, owner } }, owned as unknown as Ledger);
    expect(found.events).to.have.length(10);
    expect([owned.linesRead, owned.seqsRead]).to.deep.equal([10, []]);
  });

  it('scanReverse ends at events older than `since`', async () => {
    const { events, hasMore } = await search(count, { since: (count - 250) * 1_000 });
    expect(events.map(({ envelope }) => envelope.seq)).to.deep.equal(all.slice(0, 2));
    expect(hasMore).to.equal(false);
  });

  it('scanReverse finds each event of the instant `since`, however many there are', async () => {
    const sameTime = new Log(linesOf(1_000, { timeOf: () => 5_000 })) as unknown as Ledger;
    const { events } = await search(1_000, { since: 5_000 }, sameTime);
    expect(events.map(({ envelope }) => envelope.seq)).to.deep.equal(all.slice(-10));
    expect((await search(1_000, { since: 5_001 }, sameTime)).events).to.deep.equal([]);
  });

  it('scanReverse finds the end of a binding on a node whose start is older than all events that the call scans', async () => {
    const held = allocated('target', '172.17.0.11');
    const events: Record<number, Event> = { 2: held, 500: bound(held, 2, { node: 'node-9' }), 20_500: unbound(held) };
    const eventAt = (seq: number): Event => events[seq] ?? subnetConfigured();
    const earlier = { 500: { '172.17.0.11': 2 }, 20_500: { '172.17.0.11': 500 } };
    const long = new Log(linesOf(20_500, { eventAt, earlier }));
    const found = await search(20_500, { filter: { ...matchAllEvents, node: 'node-9' } }, long as unknown as Ledger);
    expect(found.events.map(({ envelope }) => envelope.seq)).to.deep.equal([20_500]);
    expect([found.scannedFrom, long.linesRead, long.seqsRead]).to.deep.equal([501, 20_000, [500]]);
  });

  it('scanReverse takes the start of a binding from the events that the call scans anyway, without another read', async () => {
    const held = allocated('target', '172.17.0.11');
    const start = bound(held, 2, { node: 'node-9' });
    const events: Record<number, Event> = { 2: held, 2_400: start, 4_500: unbound(held) };
    const eventAt = (seq: number): Event => events[seq] ?? subnetConfigured();
    const earlier = { 2_400: { '172.17.0.11': 2 }, 4_500: { '172.17.0.11': 2_400 } };
    const short = new Log(linesOf(5_000, { eventAt, earlier }));
    const filter = { ...matchAllEvents, node: 'node-9' };
    const found = await search(5_000, { filter }, short as unknown as Ledger);
    expect(found.events.map(({ envelope }) => envelope.seq)).to.deep.equal([4_500, 2_400]);
    expect(short.seqsRead).to.deep.equal([]);
  });

  it('scanReverse returns all available events of a sealed log, then reports its beginning', async () => {
    log.floor = 42_500;
    const { events, scannedFrom, hasMore } = await search(44_000);
    expect(events.map(({ envelope }) => envelope.seq)).to.deep.equal(
      all.filter((seq) => seq <= 44_000 && seq >= 42_500),
    );
    expect([scannedFrom, hasMore]).to.deep.equal([42_500, true]);
    expect(await failureOf(search(scannedFrom - 1))).to.have.property('code', 'POSITION_GONE');
    const last = await search(scannedFrom);
    expect([last.scannedFrom, last.hasMore], 'from the last event that is available').to.deep.equal([42_500, true]);
  });

  it('scanReverse reads a page again, and no event twice, when the archive answers again after a failed read', async () => {
    const expected = await search(44_000);
    log.floor = count + 1;
    log.heals = true;
    const { events, scannedFrom, hasMore } = await search(44_000);
    expect(events.map(({ envelope }) => envelope.seq)).to.deep.equal(
      expected.events.map(({ envelope }) => envelope.seq),
    );
    expect([scannedFrom, hasMore]).to.deep.equal([expected.scannedFrom, expected.hasMore]);
  });

  it('scanReverse finds the end of a binding whose start is available, next to one whose start is sealed', async () => {
    const [gone, kept] = [allocated('target', '172.17.0.11'), allocated('target', '172.17.0.12', { ordinal: 1 })];
    const events: Record<number, Event> = {
      2: gone,
      3: bound(gone, 2, { node: 'node-9' }),
      199: kept,
      200: bound(kept, 199, { node: 'node-9' }),
      20_500: unbound(gone),
      20_501: unbound(kept),
    };
    const earlier = { 20_500: { '172.17.0.11': 3 }, 20_501: { '172.17.0.12': 200 } };
    const long = new Log(linesOf(20_600, { eventAt: (seq) => events[seq] ?? subnetConfigured(), earlier }));
    long.floor = 100;
    const found = await search(20_600, { filter: { ...matchAllEvents, node: 'node-9' } }, long as unknown as Ledger);
    expect(found.events.map(({ envelope }) => envelope.seq)).to.deep.equal([20_501]);
  });

  it('scanReverse and lastSeqBefore report a log with a missing event as damaged', async () => {
    const lines = linesOf(3_000);
    const damaged = new Log(lines.filter((_, index) => index !== 2_499)) as unknown as Ledger;
    for (const from of [3_000, 2_999])
      expect(await failureOf(search(from, {}, damaged))).to.include({
        code: 'LEDGER_DAMAGED',
        message: `the log has a gap between event ${from - 1_999} and event ${from}. Run: ipledger verify`,
      });
    const missing = { readEach: () => Promise.resolve([undefined]) };
    expect(await failureOf(lastSeqBefore({ ledger: missing, segments: [] }, 2_500_000, 3_000, never))).to.include({
      code: 'LEDGER_DAMAGED',
      message: 'event 2048 is missing from the log. Run: ipledger verify',
    });
  });

  it('lastSeqBefore returns no event while etcd does not reply', async () => {
    const silent = { readEach: () => Promise.reject(new IpledgerError('UNAVAILABLE', 'etcd does not reply')) };
    expect(await failureOf(lastSeqBefore({ ledger: silent, segments: [] }, 1, 3_000, never))).to.have.property(
      'code',
      'UNAVAILABLE',
    );
  });

  it('lastSeqBefore finds a time in the log, sealed or not', async () => {
    const at = (seq: number): number => seq * 1_000;
    for (const floor of [1, 20_000]) {
      log.floor = floor;
      expect(await lastSeqBefore({ ledger, segments: [] }, at(30_000), count, never)).to.equal(29_999);
      expect(await lastSeqBefore({ ledger, segments: [] }, at(30_000) + 1, count, never)).to.equal(30_000);
      expect(await lastSeqBefore({ ledger, segments: [] }, at(count + 1), count, never)).to.equal(count);
    }
    log.floor = 1;
    expect(await lastSeqBefore({ ledger, segments: [] }, 0, count, never)).to.equal(0);
  });

  it('lastSeqBefore returns the last event before the first segment for a time before it, when earlier segments were dropped', async () => {
    log.floor = 10_001;
    const [since, until] = [10_001, 20_000].map((seq) => new Date(seq * 1_000).toISOString()) as [string, string];
    const kept: Segment = { from: 10_001, to: 20_000, since, until, hash: '', manifest: '', archive: '', seq: 20_001 };
    expect(await lastSeqBefore({ ledger, segments: [kept] }, 5_000_000, count, never)).to.equal(10_000);
  });

  it('lastSeqBefore reads at most one segment, because segments have the times of their first and last events', async () => {
    const segments = Array.from({ length: 4 }, (_, index): Segment => {
      const [from, to] = [index * 10_000 + 1, (index + 1) * 10_000];
      const [since, until] = [from, to].map((seq) => new Date(seq * 1_000).toISOString()) as [string, string];
      return { from, to, since, until, hash: '', manifest: '', archive: '', seq: to + 1 };
    });
    const segmentOf = (seq: number): number => Math.min(4, Math.floor((seq - 1) / 10_000));
    for (const [at, expected] of [
      [15_000, 14_999],
      [10_001, 10_000],
      [10_000, 9_999],
      [20_000.5, 20_000],
      [1, 0],
      [40_001, 40_000],
      [44_000, 43_999],
    ] as const) {
      log.seqsRead = [];
      expect(await lastSeqBefore({ ledger, segments }, at * 1_000, count, never), String(at)).to.equal(expected);
      expect(new Set(log.seqsRead.map(segmentOf)).size, `segments read for ${at}`).to.be.at.most(1);
      const isBetween = [0, 10_000, 20_000].includes(expected);
      expect(log.seqsRead.length === 0, `a time between segments needs no read: ${at}`).to.equal(isBetween);
    }
  });
});

import { expect } from 'chai';
import { allocate, allocateAll, allocated } from '../../domain/testing/event-fixtures.ts';
import type { Event } from '../../domain/events/event.ts';
import type { Segment } from '../../domain/values/ledger.ts';
import { emptyHead } from '../chain/chain.ts';
import type { AppendOutcome, Batch } from '../store/ledger.ts';
import { configured, created } from '../testing/ledger-under-test.ts';
import { MemoryLedger } from '../testing/memory-ledger.ts';
import {
  batchOf,
  createLedger,
  failureOf,
  logOf,
  macvlan,
  never,
  release,
  startWriter,
  submitAll,
} from '../testing/running-writer.ts';
import { UnreliableLedger } from '../testing/unreliable-ledger.ts';
import { replay } from './replay.ts';

/** The bytes of the events, or of the claims, of a transaction. */
const limit = 128 << 10;

class RecordingLedger extends MemoryLedger {
  readonly batches: Batch[] = [];

  constructor(ops = 10_000) {
    super({ ops, bytes: 16 << 20 });
  }

  override append(batch: Batch): Promise<AppendOutcome> {
    this.batches.push(batch);
    return super.append(batch);
  }
}

async function* linesOf(texts: Iterable<string>): AsyncIterable<string> {
  for (const text of texts) yield text;
}

const textsOf = (events: readonly Event[]): string[] => batchOf(emptyHead, events).events.map(({ text }) => text);

/** Allocations on nodes whose names have these lengths. */
const grants = (lengths: readonly number[]): Event[] =>
  lengths.map((length, index) => allocated(`p${index}`, `172.17.1.${index}`, { node: 'n'.repeat(length) }));

/** The transactions of a replay of these lines. */
async function transactionsOf(texts: readonly string[], ops?: number): Promise<readonly Batch[]> {
  const to = new RecordingLedger(ops);
  await replay(to, linesOf(texts), { signal: never });
  return to.batches;
}

const eventCounts = (batches: readonly Batch[]): number[] =>
  batches.map(({ events }) => events.length).filter((count) => count > 0);
const claimCounts = (batches: readonly Batch[]): number[] =>
  batches.filter(({ events }) => events.length === 0).map(({ claims }) => claims.length);

describe('The transactions of a replay', () => {
  it('The transactions of a replay take events until they have more than 128 KiB of them', async () => {
    const empty = textsOf([created, configured, ...grants([0, 0, 0, 0, 0])]).map((text) => text.length);
    const [first = 0, second = 0, third = 0, , fifth = 0] = empty;
    const lines = (excess: number): string[] => {
      const [one, three] = [limit - first - second - third + excess, limit - fifth + excess];
      return textsOf([created, configured, ...grants([one, 0, three, 0, 0])]);
    };
    expect(eventCounts(await transactionsOf(lines(0)))).to.deep.equal([4, 2, 1]);
    expect(eventCounts(await transactionsOf(lines(1)))).to.deep.equal([3, 2, 2]);
  });

  it('The transactions of a replay write a Subnet only with its event', async () => {
    const batches = await transactionsOf(textsOf([created, configured, ...grants([limit, limit, 0])]));
    expect(batches.slice(0, 3).map(({ subnets }) => subnets.length)).to.deep.equal([1, 0, 0]);
  });

  it('The transactions of a replay take at most 128 KiB of claims, or one larger claim', async () => {
    const small = await transactionsOf(textsOf([created, configured, ...grants([0])]));
    const size = small.at(-1)?.claims[0]?.text?.length ?? 0;
    const claimsOf = async (lengths: readonly number[]): Promise<number[]> =>
      claimCounts(await transactionsOf(textsOf([created, configured, ...grants(lengths)])));
    const half = limit / 2 - size;
    expect(await claimsOf([half, half, half, half])).to.deep.equal([2, 2]);
    expect(await claimsOf([half, half + 1, half, half + 1])).to.deep.equal([1, 1, 1, 1]);
    expect(await claimsOf([limit, limit])).to.deep.equal([1, 1]);
  });

  it('The transactions of a replay leave room for the keys that a command can change besides its events', async () => {
    const texts = textsOf([created, configured, ...grants(Array<number>(100).fill(0))]);
    const batches = await transactionsOf(texts, 40);
    // Room for the next event, two other keys, three of ended Pods, and the four that are compared
    expect(eventCounts(batches).slice(1, 3)).to.deep.equal([30, 30]);
    expect(claimCounts(batches)).to.deep.equal([36, 36, 28]);
  });

  it('The transactions of a replay write the key of the first Pod that ended', async () => {
    const from = new MemoryLedger();
    const { writer, stop } = await startWriter(from);
    await submitAll(writer, createLedger(), macvlan, allocate('a'), release('a'));
    await stop();
    const to = new RecordingLedger();
    await replay(to, linesOf((await logOf(from)).map(({ text }) => text)), { signal: never });
    expect(to.everything()).to.deep.equal(from.everything());
  });

  it('The transactions of a replay write no key of a segment that a later event of the same transaction drops', async () => {
    const times = { since: '2026-01-31T08:00:00.000Z', until: '2026-01-31T08:00:00.000Z' };
    const sealed = [1, 2, 3].map((event): Event => {
      const segment: Omit<Segment, 'seq'> = {
        from: event,
        to: event,
        ...times,
        hash: 'h',
        manifest: 'm',
        archive: 'a',
      };
      return { type: 'SegmentSealed', subnet: '', data: segment };
    });
    const data = { to: 2, until: times.until, hash: 'h', reason: 'full' };
    const drop: Event = { type: 'HistoryDropped', subnet: '', data };
    const [batch] = await transactionsOf(textsOf([created, configured, ...sealed, drop]));
    expect(batch?.segments.map(({ from }) => from)).to.deep.equal([3]);
    expect(batch?.historyStart).to.include({ from: 2, dropped: 6 });
  });

  it('The transactions of a replay end with its signal, before another line is read', async () => {
    const stopping = new AbortController();
    let read = 0;
    async function* lines(): AsyncIterable<string> {
      for (const text of textsOf([created, configured, ...grants([0, 0])])) {
        if (++read === 2) stopping.abort();
        yield text;
      }
    }
    const to = new RecordingLedger();
    expect(await failureOf(replay(to, lines(), { signal: stopping.signal }))).to.have.property('name', 'AbortError');
    expect([read, to.batches]).to.deep.equal([2, []]);
  });

  it('The transactions of a replay name the claims if these are what could not be written', async () => {
    const to = new UnreliableLedger(new RecordingLedger());
    to.faults.push((append) => append(), to.lostRequest);
    const failed = await failureOf(
      replay(to, linesOf(textsOf([created, configured, ...grants([0])])), { signal: never }),
    );
    expect(failed.message).to.equal('claims may not be written: connection lost. To continue, use --resume');
  });

  it('The transactions of a replay have only complete commands, and a log that ends after the first event of one is damaged', async () => {
    const from = new MemoryLedger();
    const { writer, stop } = await startWriter(from);
    await submitAll(writer, createLedger(), macvlan, allocateAll('c', [{}, { ordinal: 1 }]));
    await stop();
    const texts = (await logOf(from)).map(({ text }) => text).slice(0, 3);
    const damaged = await failureOf(replay(new RecordingLedger(), linesOf(texts), { signal: never }));
    expect(damaged.message).to.equal('the last command of the log is incomplete');
  });
});

import { expect } from 'chai';
import { maxPageBytes } from '../../../lib/net/page-size.ts';
import { quarantined, subnetConfigured } from '../../domain/testing/event-fixtures.ts';
import { emptyHead } from '../chain/chain.ts';
import { logKey } from '../store/keys.ts';
import { MemoryLedger } from '../testing/memory-ledger.ts';
import { batchOf, failureOf, never } from '../testing/running-writer.ts';
import { exportLines, type ExportPage, type ExportRange } from './export.ts';

/** More than one page of 500 lines. */
const count = 1_201;

/** A ledger of `events` events, which are read in pages of `pageSize`. */
async function ledgerOf(events: number, pageSize = 1_000): Promise<MemoryLedger> {
  const ledger = new MemoryLedger({ ops: events + 1, bytes: 1 << 30 }, pageSize);
  const all = [subnetConfigured(), ...Array.from({ length: events - 1 }, () => quarantined('172.17.0.11'))];
  const batch = batchOf(emptyHead, all);
  expect(await ledger.append(batch)).to.have.property('kind', 'appended');
  return ledger;
}

async function pagesOf(ledger: MemoryLedger, range: ExportRange = {}): Promise<ExportPage[]> {
  const pages: ExportPage[] = [];
  for await (const page of exportLines(ledger, range, never)) pages.push(page);
  return pages;
}

const linesOf = (ledger: MemoryLedger, from: number, to: number): (string | undefined)[] =>
  Array.from({ length: to - from + 1 }, (_, index) => ledger.get(logKey(from + index)));

describe('exportLines', () => {
  it('exportLines yields all lines once, in pages of at most 500, each with the head after its last line', async () => {
    const ledger = await ledgerOf(count);
    const pages = await pagesOf(ledger);
    expect(pages.map(({ lines, head }) => [lines.length, head.seq])).to.deep.equal([
      [500, 500],
      [500, 1_000],
      [201, 1_201],
    ]);
    expect(pages.flatMap(({ lines }) => lines)).to.deep.equal(linesOf(ledger, 1, count));
    const { epoch, seq, hash } = await ledger.head(never);
    expect(pages.at(-1)?.head).to.deep.equal({ epoch, seq, hash });
  });

  for (const [title, from, to] of [
    ['a range that begins and ends inside of a page', 2, 7],
    ['one event', 5, 5],
    ['a range that ends with a page of the log', 3, 10],
    ['a range that ends with the first event of a page', 3, 11],
    ['the last event', 25, 25],
  ] as const)
    it(`exportLines yields ${title}`, async () => {
      const ledger = await ledgerOf(25, 10);
      const pages = await pagesOf(ledger, { from, to });
      expect(pages.flatMap(({ lines }) => lines)).to.deep.equal(linesOf(ledger, from, to));
      expect(pages.at(-1)?.head.seq).to.equal(to);
      expect(pages.every(({ lines }) => lines.length > 0)).to.equal(true);
    });

  it('exportLines limits a page by its bytes, too', async () => {
    const ledger = new MemoryLedger({ ops: 128, bytes: 1 << 30 });
    const long = { ...quarantined('172.17.0.11') };
    const data = { ...long.data, reason: 'a'.repeat(maxPageBytes / 2) } as object;
    const events = Array.from({ length: 3 }, () => ({ ...long, data }) as typeof long);
    expect(await ledger.append(batchOf(emptyHead, events))).to.have.property('kind', 'appended');
    expect((await pagesOf(ledger)).map(({ lines }) => lines.length)).to.deep.equal([1, 1, 1]);
  });

  it('exportLines yields the events until the head that it has read, while others are appended', async () => {
    const ledger = await ledgerOf(5);
    const head = await ledger.head(never);
    await ledger.append(batchOf(head, [quarantined('172.17.0.11')]));
    ledger.head = () => Promise.resolve(head);
    expect((await pagesOf(ledger)).flatMap(({ lines }) => lines)).to.deep.equal(linesOf(ledger, 1, 5));
    expect(await pagesOf(ledger, { from: 6 })).to.deep.equal([]);
  });

  it('exportLines reads no further than the end of the range', async () => {
    const ledger = await ledgerOf(25, 10);
    let linesRead = 0;
    const { read } = ledger;
    ledger.read = async function* (...from) {
      for await (const page of read.apply(ledger, from)) {
        linesRead += page.length;
        yield page;
      }
    };
    expect((await pagesOf(ledger, { to: 10 })).flatMap(({ lines }) => lines)).to.have.length(10);
    expect(linesRead).to.equal(10);
  });

  it('exportLines yields nothing to a client that has all events', async () => {
    const ledger = await ledgerOf(5);
    expect(await pagesOf(ledger, { from: 6 })).to.deep.equal([]);
    expect(await pagesOf(new MemoryLedger())).to.deep.equal([]);
  });

  for (const [range, message] of [
    [{ from: 7 }, 'event 7 does not exist: the ledger ends with event 5'],
    [{ to: 6 }, 'event 6 does not exist: the ledger ends with event 5'],
    [{ from: 4, to: 3 }, 'the range from event 4 to event 3 ends before it begins'],
  ] as const)
    it(`exportLines rejects the range ${JSON.stringify(range)} of five events`, async () => {
      const error = await failureOf(pagesOf(await ledgerOf(5), range));
      expect([error.code, error.message]).to.deep.equal(['INVALID_REQUEST', message]);
    });

  it('exportLines names the first event that is left, if the first one of the range is gone', async () => {
    const ledger = await ledgerOf(5);
    for (const seq of [1, 2]) ledger.remove(logKey(seq));
    const error = await failureOf(pagesOf(ledger));
    expect(error.code).to.equal('POSITION_GONE');
    expect(error.message).to.contain('event 1 is no longer in the log: begin with event 3');
    expect((await pagesOf(ledger, { from: 3 })).flatMap(({ lines }) => lines)).to.have.length(3);
  });

  it('exportLines reports a gap between two events, and after the last one', async () => {
    const inside = await ledgerOf(5);
    inside.remove(logKey(3));
    const gap = await failureOf(pagesOf(inside));
    expect([gap.code, gap.message]).to.deep.equal([
      'LEDGER_DAMAGED',
      'the log has a gap: event 4 follows event 2. Run: ipledger verify',
    ]);
    const atEnd = await ledgerOf(5);
    atEnd.remove(logKey(5));
    const missing = await failureOf(pagesOf(atEnd));
    expect([missing.code, missing.message]).to.deep.equal([
      'LEDGER_DAMAGED',
      'event 5 is missing from the log, which ends with event 5. Run: ipledger verify',
    ]);
  });

  it('exportLines reports an event whose predecessor was changed, unless the range begins with it', async () => {
    const ledger = await ledgerOf(5);
    const text = ledger.get(logKey(2)) ?? '';
    ledger.put(logKey(2), text.replace('a printer', 'a scanner'));
    const error = await failureOf(pagesOf(ledger));
    expect(error.code).to.equal('LEDGER_DAMAGED');
    expect(error.message).to.contain('the hash chain is broken at event 3');
    expect((await pagesOf(ledger, { from: 3 })).flatMap(({ lines }) => lines)).to.have.length(3);
  });
});

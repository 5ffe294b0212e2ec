import { expect } from 'chai';
import { IpledgerError } from '../../../lib/errors.ts';
import { allocated, subnetConfigured } from '../domain/specification.ts';
import { lastBefore, searchBackwards } from './backwards.ts';
import { chain, emptyHead } from './chain.ts';
import { everything } from './filter.ts';
import type { Ledger, StoredLine } from './ledger.ts';
import { failureOf, never } from './specification.ts';

/** One a second, from the first on. */
const count = 45_000;
const rare = 100;

/** What a search reads of a ledger, and how much it read. */
class Log implements Pick<Ledger, 'read' | 'readEach'> {
  readonly lines: readonly StoredLine[];
  /** Below this nothing is at hand. */
  floor = 1;
  linesRead = 0;

  constructor(lines: readonly StoredLine[]) {
    this.lines = lines;
  }

  async *read(from: number): AsyncIterable<readonly StoredLine[]> {
    this.#refuseBelow(from);
    for (let first = from - 1; first < this.lines.length; first += 2_000) {
      const page = this.lines.slice(first, first + 2_000);
      this.linesRead += page.length;
      yield page;
    }
  }

  async readEach(seqs: readonly number[]): Promise<readonly (StoredLine | undefined)[]> {
    for (const seq of seqs) this.#refuseBelow(seq);
    return seqs.map((seq) => this.lines[seq - 1]);
  }

  #refuseBelow(seq: number): void {
    if (seq < this.floor) throw new IpledgerError('POSITION_GONE', `event ${seq} is sealed`);
  }
}

describe('A search from the end of the log', () => {
  let log: Log;
  let ledger: Ledger;
  before(() => {
    // One in a hundred is of the Pod that is looked for
    const wrapping = { id: 'id', command: 'command', part: [1, 1], actor: 'spec', before: {} } as const;
    let head = emptyHead;
    const lines = Array.from({ length: count }, (_, index) => {
      const event = index % rare === 0 ? allocated('wanted', '172.17.0.11') : subnetConfigured();
      const at = (index + 1) * 1_000;
      const next = chain(head, event, { ...wrapping, at, clock: at });
      head = next.head;
      return { text: next.stored.text, revision: 1n };
    });
    log = new Log(lines);
    ledger = log as unknown as Ledger;
  });
  beforeEach(() => {
    log.floor = 1;
    log.linesRead = 0;
  });

  const filter = { ...everything, namespace: 'default', pod: 'wanted' };
  const search = (from: number, more: object = {}) =>
    searchBackwards(ledger, { filter, from, since: -Infinity, most: 1_000, ...more }, never);
  const all = Array.from({ length: count / rare }, (_, index) => index * rare + 1).toReversed();

  it('looks at so many events a call, and says where to go on', async () => {
    const found: number[] = [];
    const calls: [searched: number, more: boolean][] = [];
    for (let from = count; from > 0;) {
      log.linesRead = 0;
      const { events, searched, more } = await search(from);
      expect(log.linesRead).to.be.at.most(20_000);
      found.push(...events.map(({ envelope }) => envelope.seq));
      calls.push([searched, more]);
      from = searched - 1;
    }
    expect(found).to.deep.equal(all);
    expect(calls).to.deep.equal([
      [25_001, true],
      [5_001, true],
      [1, false],
    ]);
  });

  it('reads no more than it takes to find what was asked for', async () => {
    const { events, searched, more } = await search(count, { most: 3 });
    expect(events.map(({ envelope }) => envelope.seq)).to.deep.equal(all.slice(0, 3));
    expect([searched, more]).to.deep.equal([all[2], true]);
    expect(log.linesRead).to.equal(2_000);
  });

  it('ends where what is older is not asked for', async () => {
    const { events, more } = await search(count, { since: (count - 250) * 1_000 });
    expect(events.map(({ envelope }) => envelope.seq)).to.deep.equal(all.slice(0, 2));
    expect(more).to.equal(false);
  });

  it('tells all that is at hand of a log whose beginning is sealed, and then where it ends', async () => {
    log.floor = 42_500;
    const { events, searched, more } = await search(44_000);
    expect(events.map(({ envelope }) => envelope.seq)).to.deep.equal(
      all.filter((seq) => seq <= 44_000 && seq >= 42_500),
    );
    expect([searched, more]).to.deep.equal([42_500, true]);
    expect(await failureOf(search(searched - 1))).to.have.property('code', 'POSITION_GONE');
  });

  it('finds an instant in the log, sealed or not', async () => {
    const at = (seq: number): number => seq * 1_000;
    for (const floor of [1, 20_000]) {
      log.floor = floor;
      expect(await lastBefore(ledger, at(30_000), count, never)).to.equal(29_999);
      expect(await lastBefore(ledger, at(30_000) + 1, count, never)).to.equal(30_000);
      expect(await lastBefore(ledger, at(count + 1), count, never)).to.equal(count);
    }
    log.floor = 1;
    expect(await lastBefore(ledger, 0, count, never)).to.equal(0);
  });
});

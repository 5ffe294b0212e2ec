import { expect } from 'chai';
import { endOf, logKey, logPrefix, prefix } from './keys.ts';
import { type Stretch, stretchAfter } from './stretch.ts';

/** All that is asked of a store with these keys, and what it gives, four keys a page. */
function readThrough(keys: readonly string[], range: Stretch): { readonly asked: Stretch[]; readonly given: string[] } {
  const [asked, given]: [Stretch[], string[]] = [[], []];
  for (let stretch: Stretch | undefined = range; stretch;) {
    asked.push(stretch);
    const { from, end }: Stretch = stretch;
    const there = keys.filter((key) => key >= from && key < end);
    const page = there.slice(0, 4);
    given.push(...page);
    const answer = { keys: page.length, last: page.at(-1) ?? '', more: there.length > 4 };
    stretch = stretchAfter(stretch, answer, range.end, 4);
  }
  return { asked, given };
}

const logOf = (...seqs: number[]): string[] => seqs.map(logKey);
const all = endOf(logPrefix);

describe('Reading a range in pages', () => {
  it('is one request for what fits a page', () => {
    expect(readThrough(logOf(1, 2, 3, 4), { from: logKey(1), end: all }).asked).to.have.length(1);
    expect(readThrough([], { from: logKey(1), end: all }).asked).to.have.length(1);
  });

  it('names of a log, after the first page, no more keys than fill one', () => {
    const keys = logOf(...Array.from({ length: 14 }, (_, index) => index + 1));
    const { asked, given } = readThrough(keys, { from: logKey(1), end: all });
    expect(given).to.deep.equal(keys);
    expect(asked).to.deep.equal([
      { from: logKey(1), end: all },
      { from: logKey(5), end: logKey(9) },
      { from: logKey(9), end: logKey(13) },
      { from: logKey(13), end: logKey(17) },
      { from: logKey(17), end: all },
    ]);
  });

  it('misses nothing behind a gap, however wide', () => {
    const keys = logOf(1, 2, 3, 4, 5, 6, 9, 100, 101, 102, 103, 104, 105, 106, 107);
    expect(readThrough(keys, { from: logKey(1), end: all }).given).to.deep.equal(keys);
  });

  it('goes to where it is asked to, and no further', () => {
    const keys = logOf(...Array.from({ length: 20 }, (_, index) => index + 1));
    const { asked, given } = readThrough(keys, { from: logKey(3), end: logKey(12) });
    expect(given).to.deep.equal(keys.slice(2, 11));
    for (const { end } of asked) expect(end <= logKey(12)).to.equal(true);
  });

  it('goes through keys of all kinds', () => {
    const others = ['addr/lan/10.0.0.1', 'addr/lan/10.0.0.2', 'head', 'subnet/lan', 'subnet/san', 'writer'];
    const keys = [...others.map((key) => prefix + key), ...logOf(1, 2, 3, 4, 5, 6, 7, 8, 9)].toSorted();
    expect(readThrough(keys, { from: prefix, end: endOf(prefix) }).given).to.deep.equal(keys);
  });
});

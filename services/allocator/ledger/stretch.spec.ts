import { expect } from 'chai';
import { endOf, logKey, logPrefix, prefix } from './keys.ts';
import { firstStretch, keysOfNextPage, mostBytes, type Stretch, stretchAfter } from './stretch.ts';

/** All that is asked of a store with these keys, and what it gives, four keys a page. */
function readThrough(keys: readonly string[], range: Stretch, floor = 1) {
  const [asked, given]: [Stretch[], string[]] = [[], []];
  const paging = { pageSize: 4, floor };
  for (let stretch: Stretch | undefined = firstStretch(range, paging); stretch;) {
    asked.push(stretch);
    const { from, end }: Stretch = stretch;
    const there = keys.filter((key) => key >= from && key < end);
    const page = there.slice(0, 4);
    given.push(...page);
    const answer = { keys: page.length, last: page.at(-1) ?? '', more: there.length > 4 };
    stretch = stretchAfter(stretch, answer, range.end, paging);
  }
  return { asked, given };
}

const logOf = (...seqs: number[]): string[] => seqs.map(logKey);
const all = endOf(logPrefix);

describe('Reading a range in pages', () => {
  it('asks for as many keys as fill 4 MiB, by what the page before weighed, and for 2,000 at most', () => {
    expect(keysOfNextPage(500, 500 * 1_000)).to.equal(2_000);
    expect(keysOfNextPage(100, 100 * (128 << 10))).to.equal(32);
    expect(keysOfNextPage(1, 2 * mostBytes)).to.equal(1);
    expect(keysOfNextPage(0, 0)).to.equal(2_000);
  });

  it('misses nothing where pages become smaller on the way, or larger', () => {
    const keys = logOf(...Array.from({ length: 40 }, (_, index) => index + 1));
    const given: string[] = [];
    const sizes = [4, 1, 7, 2, 3];
    let paging = { pageSize: 5, floor: 1 };
    for (let stretch: Stretch | undefined = firstStretch({ from: logKey(1), end: all }, paging); stretch;) {
      const { from, end }: Stretch = stretch;
      const there = keys.filter((key) => key >= from && key < end);
      // As where the keys were too large for the whole stretch.
      const page = there.slice(0, Math.max(1, paging.pageSize - 1));
      given.push(...page);
      const next = { ...paging, pageSize: sizes[given.length % sizes.length] ?? 1 };
      const answer = { keys: page.length, last: page.at(-1) ?? '', more: there.length > page.length };
      stretch = stretchAfter(stretch, answer, all, { ...paging, nextPageSize: next.pageSize });
      paging = next;
    }
    expect(given).to.deep.equal(keys);
  });

  it('is two requests for what does not fill a page: one for it, and one for what should not be there', () => {
    expect(readThrough(logOf(1, 2, 3), { from: logKey(1), end: all }).asked).to.have.length(2);
    expect(readThrough([], { from: logKey(1), end: all }).asked).to.have.length(2);
  });

  it('names of a log no more keys than fill a page, wherever in it a reader begins', () => {
    const keys = logOf(...Array.from({ length: 14 }, (_, index) => index + 1));
    const { asked, given } = readThrough(keys, { from: logKey(6), end: all });
    expect(given).to.deep.equal(keys.slice(5));
    expect(asked).to.deep.equal([
      { from: logKey(6), end: logKey(10) },
      { from: logKey(10), end: logKey(14) },
      { from: logKey(14), end: logKey(18) },
      { from: logKey(18), end: all },
    ]);
  });

  it('comes to its end through the whole log', () => {
    const keys = logOf(...Array.from({ length: 14 }, (_, index) => index + 1));
    const { asked, given } = readThrough(keys, { from: logKey(1), end: all });
    expect(given).to.deep.equal(keys);
    expect(asked).to.deep.equal([
      { from: logKey(1), end: logKey(5) },
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

  const others = ['addr/a', 'addr/b', 'addr/c', 'addr/d', 'addr/e', 'head', 'subnet/lan', 'subnet/san', 'writer'];
  const everything = { from: prefix, end: endOf(prefix) };

  it('goes through keys of all kinds, and asks for the log with none but its own, a page at a time', () => {
    const keys = [...others.map((key) => prefix + key), ...logOf(7, 8, 9, 10, 11, 12, 13, 14, 15)].toSorted();
    const { asked, given } = readThrough(keys, everything, 7);
    expect(given).to.deep.equal(keys);
    expect(asked).to.deep.equal([
      { from: prefix, end: logPrefix },
      { from: `${prefix}addr/d\0`, end: logPrefix },
      { from: logPrefix, end: logKey(11) },
      { from: logKey(11), end: logKey(15) },
      { from: logKey(15), end: logKey(19) },
      { from: logKey(19), end: everything.end },
    ]);
  });

  it('misses nothing where the log begins elsewhere than it is said to', () => {
    for (const first of [1, 5, 30]) {
      const keys = [prefix + 'head', ...logOf(...Array.from({ length: 11 }, (_, index) => first + index))].toSorted();
      for (const floor of [1, 4, 12, 100])
        expect(readThrough(keys, everything, floor).given, `${first} for ${floor}`).to.deep.equal(keys);
    }
    expect(readThrough([], everything).given).to.deep.equal([]);
  });
});

import { expect } from 'chai';
import fc from 'fast-check';
import { prefixEnd, logKey, logPrefix, keyPrefix } from './keys.ts';
import { firstPageRange, nextPageKeys, maxPageBytes, type PageRange, nextPageRange } from './range-pages.ts';

const maxRequests = 100;
/** Compares keys as etcd does: byte by byte. */
const compare = (one: string, other: string): number => Buffer.compare(Buffer.from(one), Buffer.from(other));

/**
 * Reads a range of a store with these keys, four keys a page. Returns the requested ranges and the
 * keys.
 * @throws Error if the requests do not end
 */
function readAll(keys: readonly string[], range: PageRange, logStart = 1) {
  const [requested, received]: [PageRange[], string[]] = [[], []];
  const paging = { pageSize: 4, logStart };
  for (let pageRange: PageRange | undefined = firstPageRange(range, paging); pageRange;) {
    if (requested.push(pageRange) > maxRequests) throw new Error('the requests do not end');
    const { from, end }: PageRange = pageRange;
    const inRange = keys.filter((key) => compare(key, from) >= 0 && compare(key, end) < 0);
    const page = inRange.slice(0, 4);
    received.push(...page);
    const reply = { keys: page.length, last: page.at(-1) ?? '', more: inRange.length > 4 };
    pageRange = nextPageRange(pageRange, reply, range.end, paging);
  }
  return { requested, received };
}

const logOf = (...seqs: number[]): string[] => seqs.map(logKey);
const all = prefixEnd(logPrefix);

describe('Reading a range in pages', () => {
  it('Reading a range in pages requests as many keys as fill 4 MiB, judged by the last page, but at most 2,000', () => {
    expect(nextPageKeys(500, 500 * 1_000)).to.equal(2_000);
    expect(nextPageKeys(100, 100 * (128 << 10))).to.equal(32);
    expect(nextPageKeys(1, 2 * maxPageBytes)).to.equal(1);
    expect(nextPageKeys(0, 0)).to.equal(2_000);
  });

  it('Reading a range in pages returns all keys when the page size changes', () => {
    const keys = logOf(...Array.from({ length: 40 }, (_, index) => index + 1));
    const received: string[] = [];
    const sizes = [4, 1, 7, 2, 3];
    let paging = { pageSize: 5, logStart: 1 };
    let requests = 0;
    for (let pageRange: PageRange | undefined = firstPageRange({ from: logKey(1), end: all }, paging); pageRange;) {
      if (++requests > maxRequests) throw new Error('the requests do not end');
      const { from, end }: PageRange = pageRange;
      const inRange = keys.filter((key) => key >= from && key < end);
      // A page may be cut short, because its values are large.
      const page = inRange.slice(0, Math.max(1, paging.pageSize - 1));
      received.push(...page);
      const next = { ...paging, pageSize: sizes[received.length % sizes.length] ?? 1 };
      const reply = { keys: page.length, last: page.at(-1) ?? '', more: inRange.length > page.length };
      pageRange = nextPageRange(pageRange, reply, all, { ...paging, nextPageSize: next.pageSize });
      paging = next;
    }
    expect(received).to.deep.equal(keys);
  });

  it('Reading a range in pages sends two requests for a log that does not fill a page: one for the page, and one for keys after a gap', () => {
    expect(readAll(logOf(1, 2, 3), { from: logKey(1), end: all }).requested).to.have.length(2);
    expect(readAll([], { from: logKey(1), end: all }).requested).to.have.length(2);
    expect(readAll(logOf(7, 8), { from: logPrefix, end: all }, 7).requested).to.have.length(2);
  });

  it('Reading a range in pages requests ranges of one page each, from any event', () => {
    const keys = logOf(...Array.from({ length: 14 }, (_, index) => index + 1));
    const { requested, received } = readAll(keys, { from: logKey(6), end: all });
    expect(received).to.deep.equal(keys.slice(5));
    expect(requested).to.deep.equal([
      { from: logKey(6), end: logKey(10) },
      { from: logKey(10), end: logKey(14) },
      { from: logKey(14), end: logKey(18) },
      { from: logKey(18), end: all },
    ]);
  });

  it('Reading a range in pages reads a log from its first event to its end', () => {
    const keys = logOf(...Array.from({ length: 14 }, (_, index) => index + 1));
    const { requested, received } = readAll(keys, { from: logKey(1), end: all });
    expect(received).to.deep.equal(keys);
    expect(requested).to.deep.equal([
      { from: logKey(1), end: logKey(5) },
      { from: logKey(5), end: logKey(9) },
      { from: logKey(9), end: logKey(13) },
      { from: logKey(13), end: logKey(17) },
      { from: logKey(17), end: all },
    ]);
  });

  it('Reading a range in pages returns the keys after gaps of any width', () => {
    const keys = logOf(1, 2, 3, 4, 5, 6, 9, 100, 101, 102, 103, 104, 105, 106, 107);
    expect(readAll(keys, { from: logKey(1), end: all }).received).to.deep.equal(keys);
  });

  it('Reading a range in pages stops at the end of the range', () => {
    const keys = logOf(...Array.from({ length: 20 }, (_, index) => index + 1));
    const { requested, received } = readAll(keys, { from: logKey(3), end: logKey(12) });
    expect(received).to.deep.equal(keys.slice(2, 11));
    for (const { end } of requested) expect(end <= logKey(12)).to.equal(true);
  });

  const others = ['addr/a', 'addr/b', 'addr/c', 'addr/d', 'addr/e', 'head', 'subnet/lan', 'subnet/san', 'writer'];
  const everything = { from: keyPrefix, end: prefixEnd(keyPrefix) };

  it('Reading a range in pages reads all kinds of keys, and requests log keys separately from others, a page at a time', () => {
    const keys = [...others.map((key) => keyPrefix + key), ...logOf(7, 8, 9, 10, 11, 12, 13, 14, 15)].toSorted();
    const { requested, received } = readAll(keys, everything, 7);
    expect(received).to.deep.equal(keys);
    expect(requested).to.deep.equal([
      { from: keyPrefix, end: logPrefix },
      { from: `${keyPrefix}addr/d\0`, end: logPrefix },
      { from: logPrefix, end: logKey(11) },
      { from: logKey(11), end: logKey(15) },
      { from: logKey(15), end: logKey(19) },
      { from: logKey(19), end: everything.end },
    ]);
  });

  it('Reading a range in pages ends a range with the keys that share the beginning of the last page, so that etcd counts no other keys', () => {
    const address = (text: string): string => `${keyPrefix}addr/${text}`;
    const keys = [
      'lan/10.0.10',
      'lan/10.0.11',
      'lan/10.0.12',
      'lan/10.0.13',
      'lan/10.0.14',
      'lan/10.0.15',
      'lan/10.0.2',
    ]
      .concat([
        'lan/10.1.0',
        'lan/10.1.1',
        'lan/10.2.0',
        'san/10.0.1',
        'san/10.0.2',
        'san/10.0.3',
        'san/10.0.4',
        'san/fd00::1',
      ])
      .map(address);
    const range = { from: address(''), end: prefixEnd(address('')) };
    const { requested, received } = readAll(keys, range);
    expect(received).to.deep.equal(keys);
    expect(requested.slice(0, 5)).to.deep.equal([
      range,
      { from: `${address('lan/10.0.13')}\0`, end: range.end },
      { from: `${address('lan/10.1.0')}\0`, end: address('lan/10/') },
      { from: address('lan/10/'), end: address('lan/11') },
      { from: address('lan/11'), end: range.end },
    ]);
  });

  it('Reading a range in pages returns each key exactly once, for keys of any form', () => {
    const anyKey = fc
      .array(fc.constantFrom('a', 'b', '/', '.', '0', '9', '~', '\u007f', '\u0000', 'é', '€'), { maxLength: 6 })
      .map((texts) => `${keyPrefix}addr/${texts.join('')}`);
    fc.assert(
      fc.property(fc.uniqueArray(anyKey, { maxLength: 60, size: 'max' }), (found) => {
        const keys = found.toSorted(compare);
        expect(readAll(keys, everything).received).to.deep.equal(keys);
      }),
    );
  });

  it('Reading a range in pages returns each key exactly once, for keys that share half of a character', () => {
    // These characters have the same first half in UTF-16. etcd compares keys by their UTF-8 bytes.
    const keys = ['😀', '😁', '😂', '😃', '😄', '😅', '😆', '😇', '😈'].map(
      (character) => `${keyPrefix}addr/${character}`,
    );
    expect(readAll(keys, everything).received).to.deep.equal(keys);
  });

  it('Reading a range in pages returns all keys when the log start is wrong', () => {
    for (const first of [1, 5, 30]) {
      const keys = [
        keyPrefix + 'head',
        ...logOf(...Array.from({ length: 11 }, (_, index) => first + index)),
      ].toSorted();
      for (const logStart of [1, 4, 12, 100])
        expect(readAll(keys, everything, logStart).received, `${first} for ${logStart}`).to.deep.equal(keys);
    }
    expect(readAll([], everything).received).to.deep.equal([]);
  });
});

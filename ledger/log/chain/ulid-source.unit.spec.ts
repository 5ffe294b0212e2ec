import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { expect } from 'chai';
import { decodeTime } from 'ulid';
import { createUlidSource } from './ulid-source.ts';

describe('createUlidSource', () => {
  it('createUlidSource creates ULIDs of the current time, each greater than the previous ULID', () => {
    const before = Date.now();
    const newId = createUlidSource();
    const ids = Array.from({ length: 20_000 }, newId);
    for (const id of ids) expect(id).to.match(/^[0-9A-HJKMNP-TV-Z]{26}$/);
    expect(ids).to.deep.equal([...new Set(ids)].toSorted());
    expect(decodeTime(ids[0] ?? '')).to.be.within(before, Date.now());
  });

  it('createUlidSource counts up within a millisecond, and also when the clock is set back', () => {
    const times = [5_000, 5_000, 4_000, 5_001];
    const newId = createUlidSource(() => times.shift() ?? 5_001);
    const [first, ...others] = [newId(), newId(), newId(), newId()];
    expect(first.slice(0, 10)).to.equal('00000004W8');
    expect(others.slice(0, 2).map((id) => id.slice(0, 19))).to.deep.equal([first.slice(0, 19), first.slice(0, 19)]);
    expect(others.map(decodeTime)).to.deep.equal([5_000, 5_000, 5_001]);
    expect([first, ...others]).to.deep.equal([...new Set([first, ...others])].toSorted());
  });

  it('createUlidSource continues with the next millisecond when the numbers of one are used up', () => {
    const { randomBytes } = crypto;
    const use = (bytes: object): void => {
      Object.assign(crypto, { randomBytes: bytes });
      syncBuiltinESMExports();
    };
    try {
      // The first number of each millisecond is its last one.
      use((size: number) => Buffer.alloc(size, 255));
      const newId = createUlidSource(() => 5_000);
      const ids = [newId(), newId(), newId()];
      expect(ids.map(decodeTime)).to.deep.equal([5_000, 5_001, 5_002]);
      expect(ids[0]?.slice(10)).to.equal('Z'.repeat(16));
    } finally {
      use(randomBytes);
    }
  });

  it('createUlidSource reads random bytes in bulk, because each read takes microseconds', () => {
    const { randomBytes } = crypto;
    let reads = 0;
    Object.assign(crypto, { randomBytes: (size: number) => (reads++, randomBytes(size)) });
    syncBuiltinESMExports();
    try {
      let now = 0;
      const newId = createUlidSource(() => ++now);
      for (let count = 0; count < 1_000; count++) newId();
    } finally {
      Object.assign(crypto, { randomBytes });
      syncBuiltinESMExports();
    }
    expect(reads).to.equal(4);
  });

  it('createUlidSource creates ids of thousands of milliseconds, each with another random part', () => {
    let now = 0;
    const newId = createUlidSource(() => ++now);
    const parts = Array.from({ length: 2_000 }, () => newId().slice(10));
    expect(new Set(parts).size).to.equal(2_000);
  });

  it('createUlidSource shares no random part between two sources, and uses every letter', () => {
    const parts = Array.from({ length: 500 }, () => createUlidSource()().slice(10));
    expect(new Set(parts).size).to.equal(500);
    expect(new Set(parts.join('')).size).to.equal(32);
  });
});

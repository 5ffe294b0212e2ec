import { expect } from 'chai';
import { decodeTime } from 'ulid';
import { idSource } from './ids.ts';

describe('Ids', () => {
  it('are ULIDs of the present, each greater than the one before it', () => {
    const before = Date.now();
    const newId = idSource();
    const ids = Array.from({ length: 20_000 }, newId);
    for (const id of ids) expect(id).to.match(/^[0-9A-HJKMNP-TV-Z]{26}$/);
    expect(ids).to.deep.equal([...new Set(ids)].toSorted());
    expect(decodeTime(ids[0] ?? '')).to.be.within(before, Date.now());
  });

  it('of two sources have nothing random in common, and use every letter', () => {
    const parts = Array.from({ length: 500 }, () => idSource()().slice(10));
    expect(new Set(parts).size).to.equal(500);
    expect(new Set(parts.join('')).size).to.equal(32);
  });
});

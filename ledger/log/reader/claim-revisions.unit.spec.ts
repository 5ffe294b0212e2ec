import { expect } from 'chai';
import fc from 'fast-check';
import type { ClaimName as Name } from '../../domain/state/claim.ts';
import { ClaimRevisions } from './claim-revisions.ts';

const anyName = fc.record({
  subnet: fc.constantFrom('lan', 'wan'),
  address: fc.oneof(fc.constantFrom('0.0.0.0', '10.0.0.1', '10.1.0.1', '255.255.255.255', 'fd00::1', '::'), fc.ipV4()),
});
const anyRevision = fc.bigInt({ min: 1n, max: BigInt(Number.MAX_SAFE_INTEGER) });

describe('ClaimRevisions', () => {
  it('ClaimRevisions returns the same revisions as a Map after random changes', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(anyName, fc.option(anyRevision)), { maxLength: 100, size: 'max' }), (steps) => {
        const revisions = new ClaimRevisions();
        const map = new Map<string, bigint>();
        for (const [name, revision] of steps) {
          const key = `${name.subnet}/${name.address}`;
          if (revision === null) {
            revisions.delete(name);
            map.delete(key);
          } else {
            revisions.set(name, revision);
            map.set(key, revision);
          }
        }
        for (const [name] of steps)
          expect(revisions.get(name)).to.equal(map.get(`${name.subnet}/${name.address}`) ?? 0n);
      }),
    );
  });

  it('ClaimRevisions keeps the revisions of near addresses when it deletes one', () => {
    const [first, second] = ['10.0.0.1', '10.0.0.2'].map((address) => ({ subnet: 'lan', address })) as [Name, Name];
    const revisions = new ClaimRevisions();
    revisions.set(first, 7n);
    revisions.set(second, 8n);
    revisions.delete(first);
    expect([revisions.get(first), revisions.get(second)]).to.deep.equal([0n, 8n]);
  });

  it('ClaimRevisions keeps the revisions of near addresses in each of its pages', () => {
    const names = ['10.0.0.1', '10.0.1.1', '10.0.1.2', '10.0.1.3'].map((address): Name => ({ subnet: 'lan', address }));
    const revisions = new ClaimRevisions();
    for (const [index, name] of names.entries()) revisions.set(name, BigInt(index + 1));
    for (const name of names.slice(0, 2)) revisions.delete(name);
    expect(names.map((name) => revisions.get(name))).to.deep.equal([0n, 0n, 3n, 4n]);
  });

  it('ClaimRevisions takes no more memory for any number of addresses that come and go', () => {
    const revisions = new ClaimRevisions();
    const before = process.memoryUsage().arrayBuffers;
    for (let count = 0; count < 100_000; count++) {
      const name = { subnet: 'lan', address: `10.${count >> 12}.${(count >> 4) & 255}.${(count & 15) << 4}` };
      revisions.set(name, 7n);
      revisions.delete(name);
    }
    expect(process.memoryUsage().arrayBuffers - before).to.be.below(1 << 20);
  });

  it('ClaimRevisions takes memory in proportion to its addresses', () => {
    const revisions = new ClaimRevisions();
    const before = process.memoryUsage().arrayBuffers;
    for (let count = 0; count < 6_000; count++)
      revisions.set({ subnet: 'lan', address: `10.0.${count >> 8}.${count & 255}` }, 7n);
    expect(process.memoryUsage().arrayBuffers - before).to.be.below(2 << 20);
  });

  it('ClaimRevisions returns 0n for an address without a key', () => {
    expect(new ClaimRevisions().get({ subnet: 'lan', address: '10.0.0.1' })).to.equal(0n);
  });
});

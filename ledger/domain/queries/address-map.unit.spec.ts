import { expect } from 'chai';
import fc from 'fast-check';
import { formatAddress, parseAddress } from '../addresses/address.ts';
import { VisitCounter } from '../testing/count-visits.ts';
import { allocated, bound, released, subnetConfigured } from '../testing/event-fixtures.ts';
import { foldEvents } from '../testing/given-when-then.ts';
import { addressMap, inNumericOrder } from './address-map.ts';

const anyAddress = fc.oneof(
  fc.bigInt({ min: 0n, max: 2n ** 32n - 1n }).map((value) => formatAddress({ family: 4, value })),
  fc.bigInt({ min: 2n ** 120n, max: 2n ** 128n - 1n }).map((value) => formatAddress({ family: 6, value })),
);

describe('inNumericOrder', () => {
  it('inNumericOrder returns each address once, IPv4 first, in the order of the values', () => {
    fc.assert(
      fc.property(fc.uniqueArray(anyAddress, { maxLength: 2_500, size: 'max' }), (addresses) => {
        const found = [...inNumericOrder(addresses)].filter((address) => address !== undefined);
        const parsed = addresses.flatMap((address) => parseAddress(address) ?? []);
        const expected = parsed.toSorted((a, b) => a.family - b.family || (a.value < b.value ? -1 : 1));
        expect(found).to.deep.equal(expected.map(formatAddress));
      }),
      { numRuns: 10 },
    );
  });

  it('inNumericOrder ends a step after at most 1,024 addresses that it sorts or merges', () => {
    const addresses = Array.from({ length: 10_000 }, (_, index) => `10.0.${index >> 8}.${index & 255}`).reverse();
    let steps = 0;
    for (const address of inNumericOrder(addresses)) {
      if (address !== undefined) break;
      steps++;
    }
    // Ten runs, and four rounds that merge all addresses.
    expect(steps).to.be.at.least(10 + 4 * 8);
  });
});

describe('addressMap', () => {
  const grants = Array.from({ length: 500 }, (_, index) =>
    allocated(`p${index}`, `172.17.${index >> 8}.${index & 255}`),
  );
  const state = foldEvents([
    subnetConfigured(),
    ...grants,
    bound(grants[0] as (typeof grants)[0], 2),
    ...grants.slice(0, 400).map((each, index) => released(each, index + 2)),
  ]);

  it('addressMap returns the addresses that are not free: held and allocated ones', () => {
    const records = [...addressMap(state, '', 0)].filter((record) => record !== undefined);
    expect(records).to.have.length(101);
    expect(records[0]).to.include({ address: '172.17.0.0', state: 'held' });
    expect(records[1]).to.include({ address: '172.17.1.144', state: 'allocated' });
  });

  it('addressMap reads at most one claim in a step', () => {
    using counter = new VisitCounter();
    const steps = addressMap(state, 'macvlan', 0);
    for (let before = 0; !steps.next().done; before = counter.visits) expect(counter.visits - before).to.be.at.most(3);
    expect(counter.visits).to.be.at.least(500);
  });
});

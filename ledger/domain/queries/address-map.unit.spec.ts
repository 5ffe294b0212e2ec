import { expect } from 'chai';
import fc from 'fast-check';
import { formatAddress, parseAddress } from '../addresses/address.ts';
import type { Event } from '../events/event.ts';
import type { Claim } from '../state/claim.ts';
import { claimOf } from '../state/state.ts';
import { VisitCounter } from '../testing/count-visits.ts';
import {
  allocated,
  bound,
  quarantined,
  released,
  reserved,
  subnetConfigured,
  transferred,
} from '../testing/event-fixtures.ts';
import { foldEvents } from '../testing/given-when-then.ts';
import { addressMap, claimsAgree, inNumericOrder } from './address-map.ts';

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

describe('claimsAgree', () => {
  const held = allocated('a', '172.17.0.11');
  const claimAfter = (...events: readonly Event[]): Claim | undefined =>
    claimOf(foldEvents([subnetConfigured(), ...events]), 'macvlan', '172.17.0.11');

  it('claimsAgree reports each difference of holder, node, container, reservation and quarantine, which a diff must show', () => {
    const [both, first, second] = [
      [bound(held, 2), bound(held, 2, { containerId: 'container-2' })],
      [bound(held, 2)],
      [bound(held, 2, { interface: 'net2' })],
    ];
    const claims = {
      free: claimAfter(),
      held: claimAfter(held),
      'held by a later Pod': claimAfter(held, transferred(held, 2, 'uid-later')),
      'held on a node': claimAfter({ ...held, data: { ...held.data, node: 'node-9' } }),
      'with a container': claimAfter(held, ...first),
      'with another interface': claimAfter(held, ...second),
      'with two containers': claimAfter(held, ...both),
      'released with a container': claimAfter(held, ...first, released(held, 2)),
      reserved: claimAfter(reserved('vip/web', ['172.17.0.11'])),
      'reserved later': claimAfter(subnetConfigured(), reserved('vip/db', ['172.17.0.11'])),
      quarantined: claimAfter(quarantined('172.17.0.11')),
      'quarantined later': claimAfter(subnetConfigured(), quarantined('172.17.0.11')),
    };
    for (const [one, claim] of Object.entries(claims))
      for (const [other, against] of Object.entries(claims))
        expect(claimsAgree(claim, against), `${one} and ${other}`).to.equal(one === other);
  });

  it('claimsAgree ignores the order of containers, and that a free address was used before', () => {
    const two = bound(held, 2, { containerId: 'container-2' });
    expect(claimsAgree(claimAfter(held, bound(held, 2), two), claimAfter(held, two, bound(held, 2)))).to.equal(true);
    expect(claimsAgree(claimAfter(held, released(held, 2)), undefined)).to.equal(true);
  });
});

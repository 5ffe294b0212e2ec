import { expect } from 'chai';
import fc from 'fast-check';
import { anyAllocation, anyClaim } from '../../testing/any-claim.ts';
import type { Allocation, Claim } from '../claim.ts';
import { ClaimBytes } from './claim-bytes.ts';

const name = { subnet: 'small', address: '10.0.0.2' };
const allocation: Allocation = {
  seq: 7,
  at: 1_769_846_400_000,
  subnet: 'small',
  attachment: { namespace: 'default', pod: 'web-5d4-x7', provider: 'small.default', ordinal: 0 },
  uid: '6f1c2f4e-0a1b-4c2d-8e3f-0123456789ab',
  owner: { kind: 'ReplicaSet', name: 'web-5d4', uid: '7f1c2f4e-0a1b-4c2d-8e3f-0123456789ab' },
  node: 'node-1',
  addresses: [{ address: '10.0.0.2', cidr: '10.0.0.0/24', gateway: '10.0.0.1' }],
  mac: '02:00:00:00:00:01',
  interface: 'net1',
  cause: 'dynamic',
  routes: [],
};
const { attachment } = allocation;
const binding = {
  alloc: 7,
  attachment,
  containerId: '0123456789abcdef'.repeat(4),
  interface: 'net1',
  node: 'node-1',
  bootId: 'boot-1',
  at: 1_769_846_401_000,
};
const claim: Claim = {
  last: 8,
  lastAt: 1_769_846_401_000,
  networks: ['small.default'],
  allocation,
  bindings: [binding],
};

/** Encodes a claim, and decodes it. */
function roundTrip(codec: ClaimBytes, before: Claim): Claim {
  const bytes = codec.encode(codec.encodeName(name), before);
  expect(codec.decodeName(bytes)).to.deep.equal(name);
  const held = before.allocation && codec.allocations.decode(codec.allocations.encode(before.allocation));
  return codec.decode(bytes, held);
}

/** Sorts the known parts of a claim. The order inside each part, and of unknown keys, stays. */
const inOrder = ({ last, lastAt, networks, allocation, bindings, released, ...rest }: Claim): object => ({
  last,
  lastAt,
  networks,
  bindings,
  released,
  rest,
  ...(allocation && { allocation: { ...allocation, seq: 0, at: 0, subnet: '' } }),
});

describe('ClaimBytes', () => {
  it('ClaimBytes decodes a claim with the JSON text of the encoded one, with and without shared texts', () => {
    const codecs = [new ClaimBytes(), new ClaimBytes(0, 0), new ClaimBytes(3, 1)];
    fc.assert(
      fc.property(anyClaim, (before) => {
        for (const codec of codecs) {
          const after = roundTrip(codec, before);
          expect(after).to.deep.equal(before);
          expect(JSON.stringify(after.bindings)).to.equal(JSON.stringify(before.bindings));
          expect(JSON.stringify(after.released)).to.equal(JSON.stringify(before.released));
        }
      }),
    );
  });

  it('ClaimBytes decodes an allocation with the JSON text of the encoded one, and reads its event', () => {
    const codecs = [new ClaimBytes(1_000, 0), new ClaimBytes(0, 0)];
    fc.assert(
      fc.property(anyAllocation, (before) => {
        for (const codec of codecs) {
          const bytes = codec.allocations.encode(before);
          const after = codec.allocations.decode(bytes);
          expect(after).to.deep.equal(before);
          expect(JSON.stringify({ ...after, seq: 0, at: 0, subnet: '' })).to.equal(
            JSON.stringify({ ...before, seq: 0, at: 0, subnet: '' }),
          );
          expect(codec.allocations.seqOf(bytes)).to.equal(before.seq);
        }
      }),
    );
  });

  it('ClaimBytes keeps keys that it does not know, and the order of keys', () => {
    const { uid, ...rest } = allocation;
    const claims: readonly object[] = [
      { ...claim, later: { any: 1 } },
      { ...claim, allocation: { ...allocation, later: 1 } },
      { ...claim, allocation: { ...rest, uid } },
      { ...claim, allocation: { ...allocation, addresses: [{ ...allocation.addresses[0], later: true }] } },
      {
        ...claim,
        allocation: { ...allocation, attachment: { ...attachment, later: 1 } },
        bindings: [{ ...binding, attachment: { ...attachment } }],
      },
      { ...claim, allocation: { ...allocation, owner: { ...allocation.owner, later: 1 } } },
      { ...claim, allocation: { ...allocation, routes: [{ dst: '10.1.0.0/16', gw: '10.0.0.1', later: 1 }] } },
      { ...claim, allocation: { ...allocation, defaultRoute: 'yes' } },
      { ...claim, bindings: [{ ...binding, attachment: { ...attachment, later: 1 } }] },
      { ...claim, bindings: [{ ...binding, attachment: { ...attachment, pod: 'other', later: 1 } }] },
      { ...claim, bindings: [{ later: [], ...binding }] },
      { ...claim, bindings: [{ ...binding, alloc: undefined, node: 5 }] },
      { ...claim, released: { seq: 1, at: 2, pod: 'default/a', uid: 'u', later: '' } },
    ];
    const codec = new ClaimBytes(100, 0);
    for (const each of claims)
      expect(JSON.stringify(inOrder(roundTrip(codec, each as Claim)))).to.equal(JSON.stringify(inOrder(each as Claim)));
  });

  it('ClaimBytes takes less than a fifth of the JSON text for a bound claim', () => {
    const codec = new ClaimBytes();
    const bytes = codec.encode(codec.encodeName(name), claim).length + codec.allocations.encode(allocation).length;
    expect(bytes).to.be.lessThan(JSON.stringify(claim).length / 5);
  });

  it('ClaimBytes takes less than half of the JSON text for the claim of a released address, with its Pod and its MAC', () => {
    const { uid, mac } = allocation;
    const released = { seq: 8, at: 1_769_846_401_000, uid, pod: 'default/web-5d4-x7', mac };
    const { allocation: _, ...before } = { ...claim, bindings: [], released };
    const codec = new ClaimBytes();
    const bytes = codec.encode(codec.encodeName(name), before);
    expect(bytes.length).to.be.below(JSON.stringify(before).length / 2);
  });

  it('ClaimBytes returns the same list of networks for claims with equal networks', () => {
    const codec = new ClaimBytes();
    const [one, other] = [roundTrip(codec, claim), roundTrip(codec, { ...claim, networks: [...claim.networks] })];
    expect(one.networks).to.equal(other.networks);
  });
});

import { expect } from 'chai';
import { heldAllocation } from '../../testing/fakes.ts';
import type { HeldAllocation, LedgerEvent, ReservedAddress } from '../../ledger/ledger-events.ts';
import { IpamClaimAddressCache } from './ipam-claim-address-cache.ts';

const reserved = (address: string, owner = 'ipamclaim/default/vm1'): ReservedAddress => ({
  seq: 1,
  subnet: 'macvlan',
  address,
  reservedFor: owner,
  reason: '',
  mac: '',
});
const released = ({ seq, subnet, namespace, pod, uid }: HeldAllocation, addresses: string[]) =>
  ({ kind: 'released', seq, subnet, namespace, pod, uid, addresses }) as const;

describe('the addresses of IPAMClaims', () => {
  const affected: string[] = [];
  let cache: IpamClaimAddressCache;
  beforeEach(() => {
    cache = new IpamClaimAddressCache((claim) => void affected.push(claim));
    cache.onSnapshot({
      seq: 1,
      allocations: [heldAllocation('vm')],
      subnets: [],
      pools: [],
      reservations: [reserved('fd00::2'), reserved('10.0.0.2'), reserved('10.0.0.9', 'vip/web')],
    });
    affected.length = 0;
  });

  it('the addresses of an IPAMClaim are those that the ledger has reserved for it, IPv4 first', () => {
    expect(cache.get('default/vm1')).to.deep.equal({ subnet: 'macvlan', addresses: ['10.0.0.2', 'fd00::2'] });
    expect(cache.keys()).to.deep.equal(['default/vm1']);
  });

  it('the addresses of IPAMClaims count for their namespace while no Pod holds them', () => {
    expect(cache.idleAddresses('default', 'macvlan')).to.deep.equal(['fd00::2']);
    expect(cache.idleAddresses('shop', 'macvlan')).to.deep.equal([]);
    cache.onEvents([released(heldAllocation('vm'), ['10.0.0.2'])]);
    expect(cache.idleAddresses('default', 'macvlan')).to.have.members(['10.0.0.2', 'fd00::2']);
    cache.onEvents([{ kind: 'unreserved', ...reserved('fd00::2') }]);
    expect(cache.idleAddresses('default', 'macvlan')).to.deep.equal(['10.0.0.2']);
  });

  it('the addresses of an IPAMClaim have a holder from the ledger’s allocation to its release', () => {
    expect(cache.holderOf('default/vm1')).to.equal('default/vm');
    expect(cache.claimsHeldBy('default/vm')).to.deep.equal(['default/vm1']);
    cache.onEvents([released(heldAllocation('vm'), ['10.0.0.2'])]);
    expect(cache.holderOf('default/vm1')).to.equal(undefined);
    expect(cache.claimsHeldBy('default/vm')).to.deep.equal([]);
    expect(affected).to.deep.equal(['default/vm1']);
  });

  it('the addresses of an IPAMClaim keep their new holder when the end of an earlier allocation arrives late', () => {
    cache.onEvents([{ kind: 'allocated', allocation: heldAllocation('next', { seq: 8 }) }]);
    cache.onEvents([released(heldAllocation('vm'), ['10.0.0.2'])]);
    expect(cache.holderOf('default/vm1')).to.equal('default/next');
  });

  it('the addresses of an IPAMClaim are those of their new holder only, once the ledger has transferred them', () => {
    expect(cache.claimsHeldBy('default/vm')).to.deep.equal(['default/vm1']);
    cache.onEvents([{ kind: 'allocated', allocation: { ...heldAllocation('next'), seq: 90 } }]);
    expect(cache.holderOf('default/vm1')).to.equal('default/next');
    expect(cache.claimsHeldBy('default/next')).to.deep.equal(['default/vm1']);
    expect(cache.claimsHeldBy('default/vm')).to.deep.equal([]);
  });

  it('the addresses of an IPAMClaim include those that are reserved later, and none of other owners or Subnets', () => {
    cache.onEvents([
      { kind: 'reserved', reserved: reserved('10.0.0.3') },
      { kind: 'reserved', reserved: { ...reserved('10.9.0.3'), subnet: 'other' } },
      { kind: 'reserved', reserved: reserved('10.0.0.4', 'vip/web') },
      { kind: 'unreserved', ...reserved('10.0.0.2', 'vip/web') },
      { kind: 'unreserved', ...reserved('10.0.0.2'), subnet: 'other' },
    ]);
    const addresses = ['10.0.0.2', '10.0.0.3', 'fd00::2'];
    expect(cache.get('default/vm1')).to.deep.equal({ subnet: 'macvlan', addresses });
    expect(affected).to.deep.equal(['default/vm1']);
  });

  it('the addresses of an IPAMClaim that a rewound ledger has lost are reported, and are no longer held', () => {
    cache.onSnapshot({ seq: 0, allocations: [], subnets: [], pools: [], reservations: [] });
    expect(affected).to.deep.equal(['default/vm1']);
    expect([cache.get('default/vm1'), cache.holderOf('default/vm1')]).to.deep.equal([undefined, undefined]);
    expect(cache.idleAddresses('default', 'macvlan')).to.deep.equal([]);
  });

  it('the addresses of an IPAMClaim are removed when their last reservation ends', () => {
    for (const address of ['10.0.0.2', 'fd00::2']) cache.onEvents([{ kind: 'unreserved', ...reserved(address) }]);
    expect(cache.get('default/vm1')).to.equal(undefined);
    expect(cache.keys()).to.deep.equal([]);
  });

  it('the addresses of an IPAMClaim are reported when one is reserved, cancelled, allocated or released, and no others are', () => {
    const steps: LedgerEvent[] = [
      { kind: 'reserved', reserved: reserved('10.0.0.3', 'ipamclaim/default/vm2') },
      {
        kind: 'allocated',
        allocation: heldAllocation('next', { addresses: [{ address: '10.0.0.3', cidr: '', gateway: '' }] }),
      },
      released(heldAllocation('next'), ['10.0.0.3']),
      { kind: 'unreserved', ...reserved('10.0.0.3', 'ipamclaim/default/vm2') },
    ];
    for (const step of steps) {
      affected.length = 0;
      cache.onEvents([step]);
      expect(affected, step.kind).to.deep.equal(['default/vm2']);
    }
  });

  it('the addresses of an IPAMClaim have no holder after their reservation is cancelled, nor from a later allocation', () => {
    cache.onEvents([{ kind: 'unreserved', ...reserved('10.0.0.2') }]);
    expect([cache.holderOf('default/vm1'), cache.claimsHeldBy('default/vm')]).to.deep.equal([undefined, []]);
    affected.length = 0;
    cache.onEvents([{ kind: 'allocated', allocation: heldAllocation('next', { seq: 8 }) }]);
    expect([affected, cache.claimsHeldBy('default/next')]).to.deep.equal([[], []]);
    cache.onEvents([released(heldAllocation('next', { seq: 8 }), ['10.0.0.2'])]);
    cache.onEvents([{ kind: 'reserved', reserved: reserved('10.0.0.2', 'ipamclaim/default/vm2') }]);
    expect(cache.holderOf('default/vm2')).to.equal(undefined);
  });

  it('the addresses of an IPAMClaim are those of one claim each after a rewind: none has a holder or address of before', () => {
    cache.onSnapshot({
      seq: 0,
      allocations: [],
      subnets: [],
      pools: [],
      reservations: [reserved('10.0.0.2', 'ipamclaim/shop/db')],
    });
    expect(cache.keys()).to.deep.equal(['shop/db']);
    expect([cache.holderOf('shop/db'), cache.claimsHeldBy('default/vm')]).to.deep.equal([undefined, []]);
    expect(affected).to.have.members(['shop/db', 'default/vm1']);
  });
});

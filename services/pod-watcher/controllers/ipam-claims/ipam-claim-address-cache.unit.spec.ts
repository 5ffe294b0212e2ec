import { expect } from 'chai';
import { heldAllocation } from '../../testing/fakes.ts';
import type { HeldAllocation, ReservedAddress } from '../../ledger/ledger-events.ts';
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
});

import { expect } from 'chai';
import type { SubnetObject } from '../../kubernetes/objects/subnet.ts';
import { appliedSubnet, subnetNamed } from '../../testing/fakes.ts';
import { SubnetCache } from './subnet-cache.ts';

describe('the Subnet cache', () => {
  const snapshot = { seq: 50, allocations: [], pools: [], reservations: [] };
  let objects: Map<string, SubnetObject>;
  let cache: SubnetCache;
  beforeEach(() => {
    objects = new Map(['lan', 'new'].map((name) => [name, subnetNamed(name)]));
    cache = new SubnetCache(objects);
    cache.onSnapshot({ ...snapshot, subnets: [appliedSubnet('lan'), { ...appliedSubnet('cli'), source: undefined }] });
  });

  it('the Subnet cache has the Subnets with an object or in force, and the provider of those in force', () => {
    expect(['lan', 'new', 'cli', 'other'].map((name) => cache.exists(name))).to.deep.equal([true, true, true, false]);
    expect(['lan', 'new', 'other'].map((name) => cache.providerOf(name))).to.deep.equal(['macvlan.default', '', '']);
  });

  it('the Subnet cache has no Subnet that a rewound ledger has lost', () => {
    cache.onSnapshot({ ...snapshot, seq: 40, subnets: [] });
    expect(cache.names()).to.deep.equal([]);
  });

  it('the Subnet cache has an accepted spec from the reply, unless the ledger’s events are already later', () => {
    cache.accepted(appliedSubnet('new'), 51);
    expect(cache.serves('new')).to.equal(true);
    cache.onEvents([{ kind: 'subnet-retired', subnet: 'new' }], 52);
    cache.accepted(appliedSubnet('new'), 51);
    expect(cache.serves('new')).to.equal(false);
    cache.onSnapshot({ ...snapshot, seq: 60, subnets: [] });
    cache.accepted(appliedSubnet('new'), 59);
    expect(cache.names()).to.deep.equal([]);
    const fresh = new SubnetCache(objects);
    fresh.accepted(appliedSubnet('new'), 1);
    expect(fresh.names(), 'before the first snapshot').to.deep.equal(['new']);
  });

  it('the Subnet cache has the reason of a rejection until a spec is accepted, or the object is deleted', () => {
    for (const end of [() => cache.accepted(appliedSubnet('lan'), 51), () => cache.forget('lan')]) {
      cache.refused('lan', 'the gateway is outside');
      expect(cache.whyNotServing('lan')).to.equal('Subnet lan is not in force: the gateway is outside');
      end();
      expect(cache.refusalOf('lan')).to.equal(undefined);
    }
  });

  it('the Subnet cache has the reason of a suspension until it ends, or the object is deleted', () => {
    for (const end of [() => cache.suspend('lan', undefined), () => cache.forget('lan')]) {
      cache.suspend('lan', 'Kube-OVN may give the same');
      expect([cache.serves('lan'), cache.suspended]).to.deep.equal([false, 1]);
      expect(cache.whyNotServing('lan')).to.equal('Subnet lan gives no new address: Kube-OVN may give the same');
      end();
      expect([cache.serves('lan'), cache.suspended]).to.deep.equal([true, 0]);
    }
  });
});

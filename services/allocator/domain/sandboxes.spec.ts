import { expect } from 'chai';
import fc from 'fast-check';
import type { Event } from './event.ts';
import { restore } from './restore.ts';
import { listBindings } from './sandboxes.ts';
import {
  allocated,
  bound,
  fold,
  released,
  smallSubnet,
  snapshotOf,
  subnetConfigured,
  unbound,
} from './specification.ts';

const one = allocated('one', '172.17.0.11');
const two = allocated('two', '172.17.0.12');
const all = { after: '', size: 1_000 };

/** "container/interface subnet addresses" of each. */
const told = (events: readonly Event[], node = '', page = all): string[] =>
  listBindings(fold(events), node, page).bindings.map(
    ({ subnet, addresses, binding }) => `${binding.containerId}/${binding.interface} ${subnet} ${addresses.join(',')}`,
  );

describe('The bindings in force', () => {
  it('are those that no DEL has ended, by container and interface', () => {
    const events = [
      subnetConfigured(),
      one,
      two,
      bound(two, 3, { containerId: 'z' }),
      bound(one, 2, { containerId: 'b' }),
      bound(one, 2, { containerId: 'a' }),
    ];
    expect(told(events)).to.deep.equal([
      'a/net1 macvlan 172.17.0.11',
      'b/net1 macvlan 172.17.0.11',
      'z/net1 macvlan 172.17.0.12',
    ]);
    expect(told([...events, unbound(one, 'b')])).to.deep.equal([
      'a/net1 macvlan 172.17.0.11',
      'z/net1 macvlan 172.17.0.12',
    ]);
  });

  it('outlive the release of the address, and of the subnet', () => {
    const retired: Event = { type: 'SubnetRetired', subnet: 'macvlan', data: {} };
    const events = [subnetConfigured(), one, bound(one, 2), released(one, 2), retired];
    expect(told(events)).to.deep.equal(['container-1/net1 macvlan 172.17.0.11']);
  });

  it('are told of a fenced address, too, as they were known', () => {
    const state = fold([subnetConfigured(), one, bound(one, 2)]);
    state.fenced.add('macvlan/172.17.0.11');
    expect(listBindings(state, '', all).bindings).to.have.length(1);
  });

  it('are one for the two addresses of a dual-stack allocation', () => {
    const dual = allocated('dual', '172.17.0.13');
    const six = { address: 'fd00::1', cidr: 'fd00::/64', gateway: 'fd00::ff' };
    const both = { ...dual, data: { ...dual.data, addresses: [six, ...dual.data.addresses] } };
    expect(told([both, bound(both, 1)])).to.deep.equal(['container-1/net1 macvlan 172.17.0.13,fd00::1']);
  });

  it('are two where one container was bound to what it was given first and second', () => {
    const again = allocated('one', '10.0.0.2', { subnet: 'small' });
    const events = [subnetConfigured(), smallSubnet(), one, bound(one, 3), released(one, 3), again, bound(again, 6)];
    expect(told(events)).to.deep.equal(['container-1/net1 macvlan 172.17.0.11', 'container-1/net1 small 10.0.0.2']);
  });

  it('can be asked for one node', () => {
    const events = [
      subnetConfigured(),
      one,
      two,
      bound(one, 2, { containerId: 'a', node: 'node-1' }),
      bound(two, 3, { containerId: 'b', node: 'node-2' }),
    ];
    expect(told(events, 'node-2')).to.deep.equal(['b/net1 macvlan 172.17.0.12']);
    expect(told(events, 'node-3')).to.deep.equal([]);
  });

  it('come in pages that hold each of them once, whatever comes and goes, and however the state was made', () => {
    const anyName = fc.stringMatching(/^[a-f0-9]{1,3}$/);
    const names = fc.uniqueArray(anyName, { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(names, fc.uniqueArray(anyName), fc.integer({ min: 1, max: 7 }), (stay, go, size) => {
        const leaving = go.filter((name) => !stay.includes(name));
        const bindings = [...stay, ...leaving].map((containerId) => bound(one, 2, { containerId }));
        const before = fold([subnetConfigured(), one, ...bindings]);
        const after = fold([subnetConfigured(), one, ...bindings, ...leaving.map((name) => unbound(one, name))]);
        const seen: string[] = [];
        let next = '';
        do {
          const page = listBindings(seen.length > 0 ? after : restore(snapshotOf(before)), '', { after: next, size });
          expect(page.bindings.length).to.be.at.most(size);
          seen.push(...page.bindings.map(({ binding }) => binding.containerId));
          next = page.next;
        } while (next !== '');
        const kept = seen.filter((name) => stay.includes(name));
        expect(kept).to.deep.equal(stay.toSorted());
        expect(seen).to.deep.equal(seen.toSorted());
      }),
    );
  });
});

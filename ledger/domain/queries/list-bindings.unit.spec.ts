import { expect } from 'chai';
import fc from 'fast-check';
import type { Event } from '../events/event.ts';
import { restoreState } from '../state/snapshot.ts';
import { type BindingPlace, listBindings } from './list-bindings.ts';
import { allocated, bound, released, smallSubnet, subnetConfigured, unbound } from '../testing/event-fixtures.ts';
import { foldEvents, snapshotOf } from '../testing/given-when-then.ts';

const one = allocated('one', '172.17.0.11');
const two = allocated('two', '172.17.0.12');
const all = { after: undefined, size: 1_000 };

/** Formats each binding as "container/interface subnet addresses". */
const describeBindings = (events: readonly Event[], node = '', page = all): string[] =>
  listBindings(foldEvents(events), node, page).bindings.map(
    ({ subnet, addresses, binding }) => `${binding.containerId}/${binding.interface} ${subnet} ${addresses.join(',')}`,
  );

describe('listBindings', () => {
  it('listBindings returns the bindings that no CNI DEL has ended, by allocation, container and interface', () => {
    const events = [
      subnetConfigured(),
      one,
      two,
      bound(two, 3, { containerId: 'z' }),
      bound(one, 2, { containerId: 'b' }),
      bound(one, 2, { containerId: 'a' }),
    ];
    expect(describeBindings(events)).to.deep.equal([
      'a/net1 macvlan 172.17.0.11',
      'b/net1 macvlan 172.17.0.11',
      'z/net1 macvlan 172.17.0.12',
    ]);
    expect(describeBindings([...events, unbound(one, 'b')])).to.deep.equal([
      'a/net1 macvlan 172.17.0.11',
      'z/net1 macvlan 172.17.0.12',
    ]);
  });

  it('listBindings returns a binding after the release of its address and the retirement of its Subnet', () => {
    const retired: Event = { type: 'SubnetRetired', subnet: 'macvlan', data: {} };
    const events = [subnetConfigured(), one, bound(one, 2), released(one, 2), retired];
    expect(describeBindings(events)).to.deep.equal(['container-1/net1 macvlan 172.17.0.11']);
  });

  it('listBindings returns the bindings of a fenced address', () => {
    const state = foldEvents([subnetConfigured(), one, bound(one, 2)]);
    state.fenced.add('macvlan/172.17.0.11');
    expect(listBindings(state, '', all).bindings).to.have.length(1);
  });

  it('listBindings returns one binding for the two addresses of a dual-stack allocation', () => {
    const dual = allocated('dual', '172.17.0.13');
    const six = { address: 'fd00::1', cidr: 'fd00::/64', gateway: 'fd00::ff' };
    const both = { ...dual, data: { ...dual.data, addresses: [six, ...dual.data.addresses] } };
    expect(describeBindings([both, bound(both, 1)])).to.deep.equal(['container-1/net1 macvlan 172.17.0.13,fd00::1']);
  });

  it('listBindings returns two bindings for a container that was bound to two allocations', () => {
    const again = allocated('one', '10.0.0.2', { subnet: 'small' });
    const events = [subnetConfigured(), smallSubnet(), one, bound(one, 3), released(one, 3), again, bound(again, 6)];
    expect(describeBindings(events)).to.deep.equal([
      'container-1/net1 macvlan 172.17.0.11',
      'container-1/net1 small 10.0.0.2',
    ]);
  });

  it('listBindings returns the bindings of one node when a node is given', () => {
    const events = [
      subnetConfigured(),
      one,
      two,
      bound(one, 2, { containerId: 'a', node: 'node-1' }),
      bound(two, 3, { containerId: 'b', node: 'node-2' }),
    ];
    expect(describeBindings(events, 'node-2')).to.deep.equal(['b/net1 macvlan 172.17.0.12']);
    expect(describeBindings(events, 'node-3')).to.deep.equal([]);
  });

  it('listBindings returns the bindings of all nodes in the order of node names', () => {
    const events = [
      subnetConfigured(),
      one,
      two,
      bound(one, 2, { containerId: 'b', node: 'node-2' }),
      bound(two, 3, { containerId: 'a', node: 'node-1' }),
      bound(two, 3, { containerId: 'c', node: 'node-2' }),
    ];
    const pages: string[] = [];
    let after: BindingPlace | undefined;
    do {
      const page = listBindings(foldEvents(events), '', { after, size: 1 });
      pages.push(page.bindings.map(({ binding }) => `${binding.node} ${binding.alloc} ${binding.containerId}`).join());
      after = page.next;
    } while (after);
    expect(pages).to.deep.equal(['node-1 3 a', 'node-2 2 b', 'node-2 3 c']);
  });

  it('listBindings returns each binding on exactly one page, while others begin and end, in a folded and a restored state', () => {
    const anyName = fc.stringMatching(/^[a-f0-9]{1,3}$/);
    const names = fc.uniqueArray(anyName, { minLength: 1, maxLength: 40, size: 'max' });
    fc.assert(
      fc.property(names, fc.uniqueArray(anyName), fc.integer({ min: 1, max: 7 }), (stay, go, size) => {
        const leaving = go.filter((name) => !stay.includes(name));
        const bindings = [...stay, ...leaving].map((containerId) => bound(one, 2, { containerId }));
        const before = foldEvents([subnetConfigured(), one, ...bindings]);
        const after = foldEvents([subnetConfigured(), one, ...bindings, ...leaving.map((name) => unbound(one, name))]);
        const seen: string[] = [];
        let next: BindingPlace | undefined;
        do {
          const page = listBindings(seen.length > 0 ? after : restoreState(snapshotOf(before)), '', {
            after: next,
            size,
          });
          expect(page.bindings.length).to.be.at.most(size);
          seen.push(...page.bindings.map(({ binding }) => binding.containerId));
          next = page.next;
        } while (next);
        const kept = seen.filter((name) => stay.includes(name));
        expect(kept).to.deep.equal(stay.toSorted());
        expect(seen).to.deep.equal(seen.toSorted());
      }),
    );
  });
});

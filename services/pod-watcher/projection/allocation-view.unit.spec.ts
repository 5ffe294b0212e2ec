import { expect } from 'chai';
import fc from 'fast-check';
import { ipObjectName } from '../../../lib/kubernetes/ip-object-name.ts';
import { boundEvent, heldAllocation, appliedSubnet } from '../testing/fakes.ts';
import type { HeldAllocation, LedgerEvent } from '../ledger/ledger-events.ts';
import { type AffectedObjects, AllocationView } from './allocation-view.ts';

const ended = (seq: number): LedgerEvent => ({
  kind: 'released',
  seq,
  subnet: 'macvlan',
  namespace: 'default',
  pod: 'a',
  uid: 'uid-a',
  addresses: ['10.0.0.2'],
});
const allocated = (seq: number, ordinal = 0): LedgerEvent => ({
  kind: 'allocated',
  allocation: heldAllocation('a', { seq, ordinal }),
});

function watched() {
  const affected: AffectedObjects[] = [];
  const view = new AllocationView((each) => affected.push(each));
  const last = () => {
    const { pods, ips, subnets } = affected.at(-1) ?? { pods: [], ips: [], subnets: [] };
    return { pods: [...pods], ips: [...ips], subnets: [...subnets] };
  };
  return { view, last };
}

describe('Allocation view', () => {
  it('finds allocations by Pod and by IP object, in order of the attachments', () => {
    const { view, last } = watched();
    view.onEvents([allocated(8, 1), allocated(7)], 8);
    expect(view.allocationsOfPod('default/a').map(({ seq }) => seq)).to.deep.equal([7, 8]);
    expect(view.allocationOfIp('a.default.macvlan.default.1')?.seq).to.equal(8);
    expect(last()).to.deep.equal({
      pods: ['default/a'],
      ips: ['a.default.macvlan.default.1', 'a.default.macvlan.default'],
      subnets: ['macvlan'],
    });
    expect(view.seq).to.equal(8);
  });

  it('is unchanged by a repeated event', () => {
    const { view } = watched();
    view.onSnapshot({
      seq: 8,
      allocations: [heldAllocation('a', { seq: 8 })],
      subnets: [appliedSubnet('macvlan')],
      pools: [],
      reservations: [],
    });
    view.onEvents([allocated(7)], 7);
    view.onEvents([ended(7)], 8);
    view.onEvents([allocated(8)], 8);
    expect(view.allocationsOfPod('default/a').map(({ seq }) => seq)).to.deep.equal([8]);
  });

  it('has interface and Node after a binding', () => {
    const { view, last } = watched();
    view.onEvents([allocated(7)], 7);
    view.onEvents([boundEvent('a', 7)], 8);
    expect(view.allocationsOfPod('default/a')[0]).to.include({ interface: 'net1', node: 'node-1' });
    expect(last().subnets).to.deep.equal([]);
    view.onEvents([boundEvent('a', 99)], 9);
    expect(last()).to.deep.equal({ pods: [], ips: [], subnets: [] });
  });

  it('reports all objects before and after a new snapshot as affected', () => {
    const { view, last } = watched();
    view.onSnapshot({
      seq: 5,
      allocations: [heldAllocation('old', { seq: 1 })],
      subnets: [appliedSubnet('retired')],
      pools: [],
      reservations: [],
    });
    view.onSnapshot({
      seq: 9,
      allocations: [heldAllocation('new', { seq: 9 })],
      subnets: [appliedSubnet('macvlan')],
      pools: [],
      reservations: [],
    });
    expect(last()).to.deep.equal({
      pods: ['default/old', 'default/new'],
      ips: ['old.default.macvlan.default', 'new.default.macvlan.default'],
      subnets: ['retired', 'macvlan'],
    });
    expect(view.allocationsOfPod('default/old')).to.deep.equal([]);
  });

  it('returns the older of two allocations with the same IP object name', () => {
    const { view } = watched();
    const other = heldAllocation('a', { seq: 3, uid: 'old' });
    view.onEvents([allocated(7), { kind: 'allocated', allocation: other }], 7);
    expect(view.allocationOfIp('a.default.macvlan.default')?.seq).to.equal(3);
    view.onEvents([ended(3)], 8);
    expect(view.allocationOfIp('a.default.macvlan.default')?.seq).to.equal(7);
    view.onEvents([ended(7)], 9);
    expect(view.allocationOfIp('a.default.macvlan.default')).to.equal(undefined);
  });

  it('finds the allocation of each IP object after random changes, also of Pods with dots and of shortened names', () => {
    const anyAttachment = fc.record({
      pod: fc.constantFrom('a', 'a.b', 'a.b.c'),
      namespace: fc.constantFrom('b', 'c'),
      provider: fc.constantFrom('', 'ovn', 'b', 'c.b', 'No_Valid_Name'),
      ordinal: fc.nat(1),
    });
    fc.assert(
      fc.property(fc.array(fc.tuple(anyAttachment, fc.boolean()), { maxLength: 30 }), (steps) => {
        const { view } = watched();
        let held: HeldAllocation[] = [];
        for (const [seq, [{ pod, ...attachment }, isRelease]] of steps.entries()) {
          const allocation = heldAllocation(pod, { ...attachment, seq });
          const name = ipObjectName(allocation);
          const released = isRelease ? held.find((each) => ipObjectName(each) === name) : undefined;
          const event: LedgerEvent = released
            ? { ...ended(released.seq), ...released, kind: 'released', addresses: [] }
            : { kind: 'allocated', allocation };
          view.onEvents([event], seq);
          held = released ? held.filter((each) => each !== released) : [...held, allocation];
          const oldest = held.find((each) => ipObjectName(each) === name);
          expect(view.allocationOfIp(name)).to.deep.equal(oldest);
        }
        expect(view.all().ips).to.deep.equal(new Set(held.map(ipObjectName)));
      }),
    );
  });

  it('finds the allocation of an address', () => {
    const { view } = watched();
    view.onEvents([allocated(7)], 7);
    expect(view.allocationAt({ subnet: 'macvlan', address: '10.0.0.2' })?.seq).to.equal(7);
    expect(view.allocationAt({ subnet: 'macvlan', address: '10.0.0.3' })).to.equal(undefined);
    expect(view.allocationAt({ subnet: 'other', address: '10.0.0.2' })).to.equal(undefined);
  });

  it('has the configured subnets', () => {
    const { view, last } = watched();
    view.onEvents([{ kind: 'subnet-configured', subnet: appliedSubnet('macvlan') }], 2);
    expect(view.subnet('macvlan')?.spec.provider).to.equal('macvlan.default');
    view.onEvents([{ kind: 'unbound', subnet: 'macvlan', namespace: 'default', pod: 'a', addresses: ['10.0.0.2'] }], 3);
    expect(view.subnet('macvlan')).not.to.equal(undefined);
    view.onEvents([{ kind: 'subnet-retired', subnet: 'macvlan' }], 4);
    expect(view.subnet('macvlan')).to.equal(undefined);
    expect(last().subnets).to.deep.equal(['macvlan']);
  });
});

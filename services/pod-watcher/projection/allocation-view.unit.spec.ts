import { expect } from 'chai';
import fc from 'fast-check';
import {
  type AttachmentName,
  distinctIpObjectName,
  ipObjectName,
  ipObjectNames,
} from '../../../lib/kubernetes/ip-object-name.ts';
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
  it('Allocation view finds allocations by Pod and by IP object, in order of the attachments', () => {
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

  it('Allocation view does not change when an event is repeated', () => {
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

  it('Allocation view has interface and Node after a binding', () => {
    const { view, last } = watched();
    view.onEvents([allocated(7)], 7);
    view.onEvents([boundEvent('a', 7)], 8);
    expect(view.allocationsOfPod('default/a')[0]).to.include({ interface: 'net1', node: 'node-1' });
    expect(last().subnets).to.deep.equal([]);
    view.onEvents([boundEvent('a', 99)], 9);
    expect(last()).to.deep.equal({ pods: [], ips: [], subnets: [] });
  });

  it('Allocation view reports all objects before and after a new snapshot as affected', () => {
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

  it('Allocation view returns the older of two allocations with the same IP object name', () => {
    const { view } = watched();
    const other = heldAllocation('a', { seq: 3, uid: 'old' });
    view.onEvents([allocated(7), { kind: 'allocated', allocation: other }], 7);
    expect(view.allocationOfIp('a.default.macvlan.default')?.seq).to.equal(3);
    view.onEvents([ended(3)], 8);
    expect(view.allocationOfIp('a.default.macvlan.default')?.seq).to.equal(7);
    view.onEvents([ended(7)], 9);
    expect(view.allocationOfIp('a.default.macvlan.default')).to.equal(undefined);
  });

  const anyAttachment = fc.record({
    pod: fc.constantFrom('a', 'a.b', 'a.b.c'),
    namespace: fc.constantFrom('b', 'c'),
    provider: fc.constantFrom('ovn', 'b', 'c.b', 'c.b.1', 'No_Valid_Name', 'n'.repeat(225)),
    ordinal: fc.nat(1),
  });
  type Attachment = typeof anyAttachment extends fc.Arbitrary<infer T> ? T : never;
  const attachmentText = ({ pod, namespace, provider, ordinal }: AttachmentName): string =>
    JSON.stringify([pod, namespace, provider, ordinal]);
  const reservationOf = ({ pod, namespace, provider }: Attachment) => ({
    seq: 1,
    subnet: 'macvlan',
    address: '10.0.0.9',
    reservedFor: `pod/${namespace}/${pod}/${provider}`,
    reason: `IP object ${ipObjectName({ pod, namespace, provider, ordinal: 0 })}`,
    mac: '',
  });

  it('Allocation view has one name per attachment after random changes, and reports each name whose allocation changes', () => {
    const step = fc.tuple(anyAttachment, fc.constantFrom('allocate', 'release', 'reserve', 'unreserve'));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30, size: 'max' }), (steps) => {
        /** The objects of a projection that reads only reported names. */
        const shown = new Map<string, HeldAllocation>();
        const view: AllocationView = new AllocationView(({ ips }) => {
          for (const name of ips) {
            const allocation = view.allocationOfIp(name);
            if (allocation) shown.set(name, allocation);
            else shown.delete(name);
          }
        });
        let held: HeldAllocation[] = [];
        for (const [seq, [attached, change]] of steps.entries()) {
          const { pod, ...attachment } = attached;
          const allocation = heldAllocation(pod, { ...attachment, seq });
          const released = held.find((each) => attachmentText(each) === attachmentText(attached));
          const reserved = reservationOf(attached);
          const events: LedgerEvent[] =
            change === 'allocate'
              ? [{ kind: 'allocated', allocation }]
              : change === 'reserve'
                ? [{ kind: 'reserved', reserved }]
                : change === 'unreserve'
                  ? [{ kind: 'unreserved', ...reserved }]
                  : released
                    ? [{ ...ended(released.seq), ...released, kind: 'released', addresses: [] }]
                    : [];
          view.onEvents(events, seq);
          if (change === 'allocate') held = [...held, allocation];
          else if (change === 'release') held = held.filter((each) => each !== released);
        }
        const names = new Map(held.map((each) => [attachmentText(each), view.ipNameOf(each)]));
        expect(new Set(names.values())).to.have.property('size', names.size);
        for (const each of held)
          expect(attachmentText(view.allocationOfIp(view.ipNameOf(each)) as HeldAllocation)).to.equal(
            attachmentText(each),
          );
        expect(new Set(shown.keys())).to.deep.equal(new Set(names.values()));
        expect(view.all().ips).to.deep.equal(new Set(names.values()));
      }),
      { numRuns: 1_000 },
    );
  });

  it('Allocation view has names that do not depend on the order of arrival of the allocations', () => {
    const attachments = fc
      .uniqueArray(anyAttachment, { selector: attachmentText, maxLength: 12 })
      .chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })));
    const reservations = fc.array(anyAttachment, { maxLength: 2 });
    fc.assert(
      fc.property(attachments, reservations, ([all, shuffled], reserved) => {
        const { view } = watched();
        const allocationsOf = (each: readonly Attachment[]): HeldAllocation[] =>
          each.map(({ pod, ...attachment }, seq) => heldAllocation(pod, { ...attachment, seq }));
        const held = allocationsOf(all);
        view.onEvents(
          allocationsOf(shuffled).map((allocation) => ({ kind: 'allocated', allocation })),
          1,
        );
        const lastOfName = [...new Map(reserved.map((each) => [reservationOf(each).reason, each])).values()];
        view.onEvents(
          lastOfName.map((each) => ({ kind: 'reserved', reserved: reservationOf(each) })),
          2,
        );
        expect(held.map((each) => view.ipNameOf(each))).to.deep.equal(
          ipObjectNames(
            held,
            lastOfName.map((each) => ({ ...each, ordinal: 0 })),
          ),
        );
      }),
    );
  });

  it('Allocation view gives a Pod with dots a distinct name while a Pod without dots shares its name', () => {
    const { view, last } = watched();
    const plain = 'a.bug.net.lan.default';
    const second = heldAllocation('a.bug', { namespace: 'net', provider: 'lan.default', seq: 7 });
    const first = heldAllocation('a', { namespace: 'bug', provider: 'net.lan.default', seq: 8 });
    view.onEvents([{ kind: 'allocated', allocation: second }], 7);
    expect(view.ipNameOf(second)).to.equal(plain);
    view.onEvents([{ kind: 'allocated', allocation: first }], 8);
    expect(view.ipNameOf(first)).to.equal(plain);
    expect(view.ipNameOf(second)).to.match(/^a\.bug\.net\.lan\.default-[0-9a-f]{32}$/);
    expect(last().ips).to.deep.equal([plain, view.ipNameOf(second), distinctIpObjectName(first)]);
    const distinct = view.ipNameOf(second);
    expect(view.allocationOfIp(distinct)?.seq).to.equal(7);
    view.onEvents([{ ...ended(7), ...second, kind: 'released', addresses: [] }], 9);
    expect(view.allocationOfIp(distinct)).to.equal(undefined);
    expect(view.allocationOfIp(plain)?.seq).to.equal(8);
  });

  it('Allocation view finds the allocation of an address', () => {
    const { view } = watched();
    view.onEvents([allocated(7)], 7);
    expect(view.allocationAt({ subnet: 'macvlan', address: '10.0.0.2' })?.seq).to.equal(7);
    expect(view.allocationAt({ subnet: 'macvlan', address: '10.0.0.3' })).to.equal(undefined);
    expect(view.allocationAt({ subnet: 'other', address: '10.0.0.2' })).to.equal(undefined);
  });

  it('Allocation view has the configured subnets', () => {
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

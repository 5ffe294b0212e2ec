import { expect } from 'chai';
import type { MessageInput } from '../../proto/codec.ts';
import { decode, encode } from '../../proto/codec.ts';
import type { Event } from '../../proto/generated/ipledger.ts';
import { addressAtInstant, buildAddressPeriods } from './allocation-periods.ts';

const minute = (count: number): string => `2026-11-17T14:${String(count).padStart(2, '0')}:00.000Z`;

/** Takes events oldest first, one per minute; returns them newest first, as the API does. */
const history = (...events: MessageInput<Event>[]): Event[] =>
  events
    .map((event, index) => ({ seq: index + 1, at: minute(index + 1), actor: 'watcher', subnet: 'macvlan', ...event }))
    .map((event) => decode('Event', encode('Event', event)) as Event)
    .toReversed();

const attachment = { namespace: 'default', pod: 'web-0', provider: 'macvlan.default' };
const allocated = (uid: string): MessageInput<Event> => ({
  addressAllocated: { attachment, uid, cause: 'ALLOCATION_CAUSE_STATIC' },
});
const bound = (alloc: number, containerId: string, node = 'node-a', bootId = 'boot-1'): MessageInput<Event> => ({
  addressBound: { alloc, containerId, interface: 'net1', node, bootId },
});
const unbound = (containerId: string): MessageInput<Event> => ({
  addressUnbound: { containerId, interface: 'net1', cause: 'UNBIND_CAUSE_CONTAINER_DELETED' },
});
const released = (alloc: number): MessageInput<Event> => ({
  addressReleased: { alloc, cause: 'RELEASE_CAUSE_POD_DELETED', evidence: 'Pod deleted' },
});

describe('Address periods', () => {
  it('Address periods last from allocation to release', () => {
    const events = history(allocated('one'), bound(1, 'c1'), unbound('c1'), released(1));
    const { allocationPeriods } = buildAddressPeriods(events);
    expect(allocationPeriods).to.have.length(1);
    expect(allocationPeriods[0]).to.deep.include({
      subnet: 'macvlan',
      podUid: 'one',
      node: 'node-a',
      from: minute(1),
      until: minute(4),
      grant: { seq: 1, cause: 'ALLOCATION_CAUSE_STATIC', actor: 'watcher', fromUid: '' },
      release: { seq: 4, actor: 'watcher', cause: 'RELEASE_CAUSE_POD_DELETED', evidence: 'Pod deleted', toUid: '' },
    });
    expect(allocationPeriods[0]?.bindings).to.deep.equal([
      {
        containerId: 'c1',
        interface: 'net1',
        node: 'node-a',
        bootId: 'boot-1',
        from: minute(2),
        until: minute(3),
        unbindCause: 'UNBIND_CAUSE_CONTAINER_DELETED',
      },
    ]);
  });

  it('Address periods include the instant of the allocation and exclude that of the release', () => {
    const periods = buildAddressPeriods(history({ subnetConfigured: {} }, allocated('one'), released(2)));
    const holder = (instant: string) => addressAtInstant(instant, periods).holder?.podUid;
    expect([minute(1), minute(2), '2026-11-17T14:02:59.999Z', minute(3)].map(holder)).to.deep.equal([
      undefined,
      'one',
      'one',
      undefined,
    ]);
  });

  it('Address periods leave a gap without a holder between two Pods, with the Pods before and after', () => {
    const periods = buildAddressPeriods(
      history(allocated('one'), released(1), { subnetConfigured: {} }, allocated('two')),
    );
    const { holder, before, after } = addressAtInstant(minute(3), periods);
    expect([holder?.podUid, before?.podUid, after?.podUid]).to.deep.equal([undefined, 'one', 'two']);
    expect(addressAtInstant(minute(59), periods).holder?.until).to.equal('');
    expect(addressAtInstant('2020-01-01T00:00:00.000Z', periods).before).to.equal(undefined);
  });

  it('Address periods list a lingering binding after the release', () => {
    const periods = buildAddressPeriods(history(allocated('one'), bound(1, 'c1'), released(1), unbound('c1')));
    expect(
      addressAtInstant(minute(3), periods).lingeringBindings.map(({ containerId, until }) => [containerId, until]),
    ).to.deep.equal([['c1', minute(4)]]);
    expect(addressAtInstant(minute(4), periods).lingeringBindings).to.deep.equal([]);
  });

  it('Address periods pass the bindings to the successor on a transfer', () => {
    const transferred = { addressTransferred: { attachment, uid: 'two', fromUid: 'one', alloc: 1 } };
    const { allocationPeriods } = buildAddressPeriods(
      history(allocated('one'), bound(1, 'c1'), transferred, unbound('c1'), released(3)),
    );
    expect(allocationPeriods.map(({ podUid, release }) => [podUid, release?.toUid, release?.cause])).to.deep.equal([
      ['one', 'two', 'RELEASE_CAUSE_UNSPECIFIED'],
      ['two', '', 'RELEASE_CAUSE_POD_DELETED'],
    ]);
    expect(allocationPeriods.map(({ bindings }) => bindings.map(({ until }) => until))).to.deep.equal([
      [minute(4)],
      [minute(4)],
    ]);
  });

  it('Address periods list a lingering binding once after a transfer', () => {
    const transferred = { addressTransferred: { attachment, uid: 'two', fromUid: 'one', alloc: 1 } };
    const periods = buildAddressPeriods(
      history(allocated('one'), bound(1, 'c1'), transferred, released(3), unbound('c1')),
    );
    expect(addressAtInstant(minute(4), periods).lingeringBindings.map(({ containerId }) => containerId)).to.deep.equal([
      'c1',
    ]);
  });

  it('Address periods end bindings without an unbind when another Pod gets the address', () => {
    const periods = buildAddressPeriods(
      history(
        allocated('one'),
        bound(1, 'c1'),
        released(1),
        allocated('two'),
        bound(4, 'c2'),
        unbound('c2'),
        released(4),
      ),
    );
    expect(addressAtInstant(minute(3), periods).lingeringBindings.map(({ containerId }) => containerId)).to.deep.equal([
      'c1',
    ]);
    expect(addressAtInstant(minute(7), periods).lingeringBindings).to.deep.equal([]);
    expect(periods.allocationPeriods[0]?.bindings[0]).to.include({
      until: minute(4),
      unbindCause: 'UNBIND_CAUSE_UNSPECIFIED',
    });
  });

  it('Address periods end the bindings of a boot with the first bind after the reboot', () => {
    const { allocationPeriods } = buildAddressPeriods(
      history(allocated('one'), bound(1, 'c1'), bound(1, 'c2', 'node-a', 'boot-2')),
    );
    expect(
      allocationPeriods[0]?.bindings.map(({ containerId, until, unbindCause }) => [containerId, until, unbindCause]),
    ).to.deep.equal([
      ['c1', minute(3), 'UNBIND_CAUSE_NODE_REBOOTED'],
      ['c2', '', 'UNBIND_CAUSE_UNSPECIFIED'],
    ]);
  });

  it('Address periods list each bind of a container', () => {
    const { allocationPeriods } = buildAddressPeriods(
      history(allocated('one'), bound(1, 'c1'), unbound('c1'), bound(1, 'c1')),
    );
    expect(allocationPeriods[0]?.bindings.map(({ from, until }) => [from, until])).to.deep.equal([
      [minute(2), minute(3)],
      [minute(4), ''],
    ]);
  });

  it('Address periods report the node of a virtual machine before and after its migration', () => {
    const periods = buildAddressPeriods(
      history(allocated('vm'), bound(1, 'c1'), bound(1, 'c2', 'node-b'), unbound('c1')),
    );
    const nodes = [minute(1), minute(2), minute(3), minute(5)].map(
      (instant) => addressAtInstant(instant, periods).holder?.node,
    );
    expect(nodes).to.deep.equal(['node-a', 'node-a', 'node-b', 'node-b']);
  });

  it('Address periods list reservations and quarantines', () => {
    const periods = buildAddressPeriods(
      history(
        { addressReserved: { reservedFor: 'vip/web' } },
        allocated('one'),
        { addressQuarantined: { reason: 'a printer' } },
        { quarantineLifted: {} },
        { reservationCancelled: { reservedFor: 'vip/web' } },
      ),
    );
    const restrictions = (instant: string) =>
      addressAtInstant(instant, periods).restrictions.map(
        ({ reserved, quarantined }) => reserved?.reservedFor ?? quarantined?.reason,
      );
    expect(restrictions(minute(2))).to.deep.equal(['vip/web']);
    expect(restrictions(minute(3))).to.deep.equal(['vip/web', 'a printer']);
    expect(restrictions(minute(4))).to.deep.equal(['vip/web']);
    expect(restrictions(minute(5))).to.deep.equal([]);
  });

  it('Address periods leave out periods that started before the oldest event', () => {
    expect(
      buildAddressPeriods(history(bound(99, 'c1'), unbound('c1'), released(99), allocated('two'))).allocationPeriods,
    ).to.have.length(1);
  });
});

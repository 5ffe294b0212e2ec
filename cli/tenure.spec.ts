import { expect } from 'chai';
import type { Input } from '../proto/codec.ts';
import { decode, encode } from '../proto/codec.ts';
import type { Event } from '../proto/ipledger.ts';
import { at, tenuresOf } from './tenure.ts';

const minute = (count: number): string => `2026-11-17T14:${String(count).padStart(2, '0')}:00.000Z`;

/** Events a minute apart, oldest first; as they come over the wire, newest first. */
const story = (...told: Input<Event>[]): Event[] =>
  told
    .map((event, index) => ({ seq: index + 1, at: minute(index + 1), actor: 'watcher', subnet: 'macvlan', ...event }))
    .map((event) => decode('Event', encode('Event', event)) as Event)
    .toReversed();

const attachment = { namespace: 'default', pod: 'web-0', provider: 'macvlan.default' };
const given = (uid: string): Input<Event> => ({
  addressAllocated: { attachment, uid, cause: 'ALLOCATION_CAUSE_STATIC' },
});
const bound = (alloc: number, containerId: string, node = 'node-a', bootId = 'boot-1'): Input<Event> => ({
  addressBound: { alloc, containerId, interface: 'net1', node, bootId },
});
const unbound = (containerId: string): Input<Event> => ({
  addressUnbound: { containerId, interface: 'net1', cause: 'UNBIND_CAUSE_CONTAINER_DELETED' },
});
const released = (alloc: number): Input<Event> => ({
  addressReleased: { alloc, cause: 'RELEASE_CAUSE_POD_DELETED', evidence: 'it is gone' },
});

describe('Who had an address', () => {
  it('is who was given it, from then until it was released', () => {
    const events = story(given('one'), bound(1, 'c1'), unbound('c1'), released(1));
    const { tenures } = tenuresOf(events);
    expect(tenures).to.have.length(1);
    expect(tenures[0]).to.deep.include({
      subnet: 'macvlan',
      podUid: 'one',
      node: 'node-a',
      from: minute(1),
      until: minute(4),
      given: { seq: 1, cause: 'ALLOCATION_CAUSE_STATIC', actor: 'watcher', fromUid: '' },
      lost: { seq: 4, actor: 'watcher', cause: 'RELEASE_CAUSE_POD_DELETED', evidence: 'it is gone', toUid: '' },
    });
    expect(tenures[0]?.uses).to.deep.equal([
      {
        containerId: 'c1',
        interface: 'net1',
        node: 'node-a',
        bootId: 'boot-1',
        from: minute(2),
        until: minute(3),
        ended: 'UNBIND_CAUSE_CONTAINER_DELETED',
      },
    ]);
  });

  it('begins with the instant of the allocation, and ends with that of the release', () => {
    const tenures = tenuresOf(story({ subnetConfigured: {} }, given('one'), released(2)));
    const holder = (instant: string) => at(instant, tenures).holder?.podUid;
    expect([minute(1), minute(2), '2026-11-17T14:02:59.999Z', minute(3)].map(holder)).to.deep.equal([
      undefined,
      'one',
      'one',
      undefined,
    ]);
  });

  it('is nobody between two Pods, and who they were is known', () => {
    const tenures = tenuresOf(story(given('one'), released(1), { subnetConfigured: {} }, given('two')));
    const { holder, before, after } = at(minute(3), tenures);
    expect([holder?.podUid, before?.podUid, after?.podUid]).to.deep.equal([undefined, 'one', 'two']);
    expect(at(minute(59), tenures).holder?.until).to.equal('');
    expect(at('2020-01-01T00:00:00.000Z', tenures).before).to.equal(undefined);
  });

  it('tells of a container that still answers though its Pod has it no more', () => {
    const tenures = tenuresOf(story(given('one'), bound(1, 'c1'), released(1), unbound('c1')));
    expect(at(minute(3), tenures).answering.map(({ containerId, until }) => [containerId, until])).to.deep.equal([
      ['c1', minute(4)],
    ]);
    expect(at(minute(4), tenures).answering).to.deep.equal([]);
  });

  it('passes on to a successor with the containers', () => {
    const transferred = { addressTransferred: { attachment, uid: 'two', fromUid: 'one', alloc: 1 } };
    const { tenures } = tenuresOf(story(given('one'), bound(1, 'c1'), transferred, unbound('c1'), released(3)));
    expect(tenures.map(({ podUid, lost }) => [podUid, lost?.toUid, lost?.cause])).to.deep.equal([
      ['one', 'two', 'RELEASE_CAUSE_UNSPECIFIED'],
      ['two', '', 'RELEASE_CAUSE_POD_DELETED'],
    ]);
    expect(tenures.map(({ uses }) => uses.map(({ until }) => until))).to.deep.equal([[minute(4)], [minute(4)]]);
  });

  it('says once which container still answers that served a Pod and its successor', () => {
    const transferred = { addressTransferred: { attachment, uid: 'two', fromUid: 'one', alloc: 1 } };
    const tenures = tenuresOf(story(given('one'), bound(1, 'c1'), transferred, released(3), unbound('c1')));
    expect(at(minute(4), tenures).answering.map(({ containerId }) => containerId)).to.deep.equal(['c1']);
  });

  it('ends what no container was told to end, where somebody else is given the address', () => {
    const tenures = tenuresOf(
      story(given('one'), bound(1, 'c1'), released(1), given('two'), bound(4, 'c2'), unbound('c2'), released(4)),
    );
    expect(at(minute(3), tenures).answering.map(({ containerId }) => containerId)).to.deep.equal(['c1']);
    expect(at(minute(7), tenures).answering).to.deep.equal([]);
    expect(tenures.tenures[0]?.uses[0]).to.include({ until: minute(4), ended: 'UNBIND_CAUSE_UNSPECIFIED' });
  });

  it('ends the containers of a boot with the first of the next', () => {
    const { tenures } = tenuresOf(story(given('one'), bound(1, 'c1'), bound(1, 'c2', 'node-a', 'boot-2')));
    expect(tenures[0]?.uses.map(({ containerId, until, ended }) => [containerId, until, ended])).to.deep.equal([
      ['c1', minute(3), 'UNBIND_CAUSE_NODE_REBOOTED'],
      ['c2', '', 'UNBIND_CAUSE_UNSPECIFIED'],
    ]);
  });

  it('keeps each time that a container was set up', () => {
    const { tenures } = tenuresOf(story(given('one'), bound(1, 'c1'), unbound('c1'), bound(1, 'c1')));
    expect(tenures[0]?.uses.map(({ from, until }) => [from, until])).to.deep.equal([
      [minute(2), minute(3)],
      [minute(4), ''],
    ]);
  });

  it('says where a machine was that has moved since', () => {
    const tenures = tenuresOf(story(given('vm'), bound(1, 'c1'), bound(1, 'c2', 'node-b'), unbound('c1')));
    const nodes = [minute(1), minute(2), minute(3), minute(5)].map((instant) => at(instant, tenures).holder?.node);
    expect(nodes).to.deep.equal(['node-a', 'node-a', 'node-b', 'node-b']);
  });

  it('knows when it was reserved or quarantined', () => {
    const tenures = tenuresOf(
      story(
        { addressReserved: { reservedFor: 'vip/web' } },
        given('one'),
        { addressQuarantined: { reason: 'a printer' } },
        { quarantineLifted: {} },
        { reservationCancelled: { reservedFor: 'vip/web' } },
      ),
    );
    const marks = (instant: string) =>
      at(instant, tenures).marks.map(({ reserved, quarantined }) => reserved?.reservedFor ?? quarantined?.reason);
    expect(marks(minute(2))).to.deep.equal(['vip/web']);
    expect(marks(minute(3))).to.deep.equal(['vip/web', 'a printer']);
    expect(marks(minute(4))).to.deep.equal(['vip/web']);
    expect(marks(minute(5))).to.deep.equal([]);
  });

  it('is told as far as the events go, when the oldest are not known', () => {
    expect(tenuresOf(story(bound(99, 'c1'), unbound('c1'), released(99), given('two'))).tenures).to.have.length(1);
  });
});

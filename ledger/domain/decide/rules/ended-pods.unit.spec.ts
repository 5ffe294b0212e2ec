import { expect } from 'chai';
import type { Event } from '../../events/event.ts';
import type { ReleaseCause } from '../../values/allocation.ts';
import { allocate, allocated, released, subnetConfigured, transferred } from '../../testing/event-fixtures.ts';
import { given } from '../../testing/given-when-then.ts';

const subnet = subnetConfigured();
const manifestHash = '0123456789abcdef0123456789abcdef';
const first = allocated('web-0', '172.17.0.11', { uid: 'uid-1' });
const recreate = (uid: string) => allocate('web-0', {}, { uid });

/** Returns the `ended` mark that a release with this cause records. */
function endOf(uid: string, cause: ReleaseCause): unknown {
  const command = { type: 'Release', namespace: 'default', pod: 'web-0', uid, cause, evidence: '' } as const;
  const [event] = given([subnet, allocated('web-0', '172.17.0.11', { uid })]).when(command).events;
  return event?.type === 'AddressReleased' ? event.data.ended : event;
}

describe('A Pod has ended', () => {
  for (const cause of ['pod-deleted', 'pod-completed', 'scaled-down', 'owner-deleted', 'garbage-collected'] as const)
    it(`a Pod has ended after a release with cause ${cause}`, () => expect(endOf('uid-1', cause)).to.equal(true));

  for (const cause of ['operator', 'detached'] as const)
    it(`a Pod has not ended after a release with cause ${cause}, because it may live`, () => {
      expect(endOf('uid-1', cause)).to.equal(undefined);
      const { ended: _, ...data } = (released(first, 2) as Extract<Event, { type: 'AddressReleased' }>).data;
      const history: Event[] = [
        subnet,
        first,
        { type: 'AddressReleased', subnet: 'macvlan', data: { ...data, cause } },
      ];
      expect(given(history).when(recreate('uid-1')).events).to.have.length(1);
    });

  it('a static Pod never ends: its uid returns with its manifest', () => {
    expect(endOf(manifestHash, 'pod-deleted')).to.equal(undefined);
    const older = allocated('web-0', '172.17.0.11', { uid: manifestHash });
    const changed = given([subnet, older]).when(recreate('f'.repeat(32))).events;
    expect(given([subnet, older, ...changed]).when(recreate(manifestHash)).events).to.have.length(1);
  });
});

describe('An ended Pod', () => {
  const imports = (uid: string) => ({ ...allocate('web-0', { candidates: [['172.17.0.11']] }, { uid }), import: true });

  it('an ended Pod can be imported while its name has no newer Pod, and then keeps its addresses', () => {
    const ended = [subnet, first, released(first, 2)];
    given(ended).when(recreate('uid-1')).thenRefused('POD_SUPERSEDED', 'has ended');
    const { events } = given(ended).when(imports('uid-1'));
    expect(events.map(({ type }) => type)).to.deep.equal(['AddressAllocated']);
    given([...ended, ...events])
      .when(recreate('uid-1'))
      .thenNothingHappens();
  });

  it('An ended Pod cannot be imported over a newer Pod of its name', () => {
    given([subnet, first, transferred(first, 2, 'uid-2')])
      .when(imports('uid-1'))
      .thenRefused('POD_SUPERSEDED', 'was superseded by uid uid-2');
  });

  it('the end of a Pod does not affect a Pod of the same uid with another name', () => {
    given([subnet, first, released(first, 2)])
      .when(allocate('web-1', {}, { uid: 'uid-1' }))
      .then([allocated('web-1', '172.17.0.12', { uid: 'uid-1' })]);
  });
});

describe('An outdated request, older than an allocation of another uid of its name', () => {
  const second = { ...first, data: { ...first.data, uid: 'uid-2' } } as Event;
  const late = (seenSeq: number, provider = 'macvlan.default') =>
    allocate('web-0', { provider }, { uid: 'uid-1', seenSeq });

  it('an outdated request takes over no address and gets no other address', () => {
    for (const provider of ['macvlan.default', 'other.default'])
      given([subnet, second]).when(late(1, provider)).thenRefused('REQUEST_OUTDATED', 'uid-2');
  });

  it('a request is granted when the client has seen the newest allocation of the name, or sends no position', () => {
    for (const seenSeq of [2, undefined])
      expect(
        given([subnet, second]).when(allocate('web-0', {}, { uid: 'uid-3', ...(seenSeq && { seenSeq }) })).events,
      ).to.have.length(1);
  });

  it('an outdated request of a Pod that holds its addresses changes nothing', () => {
    given([subnet, first]).when(late(1)).thenNothingHappens();
  });
});

import { expect } from 'chai';
import type { Release } from '../commands/command.ts';
import { decide } from './decide.ts';
import { allocated, bound, released, subnetConfigured, unbound } from '../testing/event-fixtures.ts';
import { foldEvents, given, startTime, type Untimed } from '../testing/given-when-then.ts';

const one = allocated('one', '172.17.0.11');
const release = (uid: string, more: Partial<Release> = {}): Untimed => ({
  type: 'Release',
  namespace: 'default',
  pod: 'one',
  uid,
  cause: 'pod-deleted',
  evidence: '',
  ...more,
});

describe('Release', () => {
  it('KO-2001 releases all allocations of the Pod uid, with the cause', () => {
    const second = allocated('one', '172.17.0.12', { ordinal: 1 });
    given([subnetConfigured(), one, second])
      .when(release('uid-one', { cause: 'pod-completed' }))
      .then([released(one, 2, { cause: 'pod-completed' }), released(second, 3, { cause: 'pod-completed' })]);
  });

  it('Release frees addresses in the order of allocation, after any later changes', () => {
    const second = allocated('one', '172.17.0.12', { ordinal: 1 });
    given([subnetConfigured(), one, second, bound(one, 2)])
      .when(release('uid-one'))
      .then([released(one, 2), released(second, 3)]);
  });

  it('Release of an earlier Pod never frees the addresses of the newer Pod of its name', () => {
    given([subnetConfigured(), one]).when(release('uid-before')).thenNothingHappens();
  });

  it('Release ends allocations with names that only an earlier version accepted', () => {
    const provider = '__proto__/a\u202eb';
    const strange = allocated('one', '172.17.0.11', { provider });
    given([subnetConfigured('macvlan', { provider }), strange])
      .when(release('uid-one'))
      .then([released(strange, 2)]);
  });

  it('Release does nothing for a Pod without allocations', () => {
    given([subnetConfigured(), one, released(one, 2)])
      .when(release('uid-one'))
      .thenNothingHappens();
  });

  it('Release of one allocation keeps other allocations', () => {
    const second = allocated('one', '172.17.0.12', { ordinal: 1 });
    given([subnetConfigured(), one, second])
      .when(release('uid-one', { alloc: 3 }))
      .then([released(second, 3)]);
  });

  it('Release of an attachment that its Pod no longer requests is refused while a container is bound', () => {
    const history = [subnetConfigured(), one, bound(one, 2)];
    const detach = release('uid-one', { alloc: 2, cause: 'detached' });
    given(history).when(detach).thenRefused('ADDRESS_IN_USE', '172.17.0.11 of subnet macvlan is bound');
    given([...history, unbound(one)])
      .when(detach)
      .then([released(one, 2, { cause: 'detached' })]);
    given(history)
      .when(release('uid-one', { alloc: 2 }))
      .then([released(one, 2)]);
  });

  it('Release does nothing for an allocation that was replaced', () => {
    given([subnetConfigured(), one])
      .when(release('uid-one', { alloc: 1 }))
      .thenNothingHappens();
  });

  it('Release skips fenced addresses, and is refused if all are fenced', () => {
    const second = allocated('one', '172.17.0.12', { ordinal: 1 });
    const state = foldEvents([subnetConfigured(), one, second]);
    state.fenced.add('macvlan/172.17.0.11');
    const decided = decide(state, { ...release('uid-one'), now: startTime });
    expect(decided).to.deep.equal({ kind: 'accepted', events: [released(second, 3)] });
    const left = foldEvents([subnetConfigured(), one]);
    left.fenced.add('macvlan/172.17.0.11');
    const refused = decide(left, { ...release('uid-one'), now: startTime });
    expect(refused).to.have.nested.property('refusal.code', 'ADDRESS_FENCED');
  });

  it('Release does not wait for containers, and the address stays unavailable while a container may answer', () => {
    given([subnetConfigured(), one, bound(one, 2)])
      .when(release('uid-one'))
      .then([released(one, 2)]);
  });
});

import { expect } from 'chai';
import type { Release } from '../command.ts';
import { decide } from '../decide.ts';
import { allocated, bound, fold, given, released, start, subnetConfigured, type Untimed } from '../specification.ts';

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
  it('KO-2001 takes back all that the Pod uid holds, and says why', () => {
    const second = allocated('one', '172.17.0.12', { ordinal: 1 });
    given([subnetConfigured(), one, second])
      .when(release('uid-one', { cause: 'pod-completed' }))
      .then([released(one, 2, { cause: 'pod-completed' }), released(second, 3, { cause: 'pod-completed' })]);
  });

  it('takes back in the order of giving, whatever touched the addresses since', () => {
    const second = allocated('one', '172.17.0.12', { ordinal: 1 });
    given([subnetConfigured(), one, second, bound(one, 2)])
      .when(release('uid-one'))
      .then([released(one, 2), released(second, 3)]);
  });

  it('of a Pod that was superseded by name never frees the newer owner', () => {
    given([subnetConfigured(), one]).when(release('uid-before')).thenNothingHappens();
  });

  it('of a Pod that holds nothing is done already', () => {
    given([subnetConfigured(), one, released(one, 2)])
      .when(release('uid-one'))
      .thenNothingHappens();
  });

  it('of one allocation leaves the others', () => {
    const second = allocated('one', '172.17.0.12', { ordinal: 1 });
    given([subnetConfigured(), one, second])
      .when(release('uid-one', { alloc: 3 }))
      .then([released(second, 3)]);
  });

  it('of an allocation that was given anew since is done already', () => {
    given([subnetConfigured(), one])
      .when(release('uid-one', { alloc: 1 }))
      .thenNothingHappens();
  });

  it('leaves out what is fenced, and frees the rest; nothing else left, it says so', () => {
    const second = allocated('one', '172.17.0.12', { ordinal: 1 });
    const state = fold([subnetConfigured(), one, second]);
    state.fenced.add('macvlan/172.17.0.11');
    const decided = decide(state, { ...release('uid-one'), now: start });
    expect(decided).to.deep.equal({ kind: 'accepted', events: [released(second, 3)] });
    const left = fold([subnetConfigured(), one]);
    left.fenced.add('macvlan/172.17.0.11');
    const refused = decide(left, { ...release('uid-one'), now: start });
    expect(refused).to.have.nested.property('refusal.code', 'ADDRESS_FENCED');
  });

  it('does not wait for containers: the address is kept back while one may answer', () => {
    given([subnetConfigured(), one, bound(one, 2)])
      .when(release('uid-one'))
      .then([released(one, 2)]);
  });
});

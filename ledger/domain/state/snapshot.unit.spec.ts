import { expect } from 'chai';
import { bound, allocated, subnetConfigured } from '../testing/event-fixtures.ts';
import { foldEvents, snapshotOf, startTime } from '../testing/given-when-then.ts';
import { restoreState, type Snapshot } from './snapshot.ts';
import { claimOf } from './state.ts';

const address = '172.17.0.11';
const one = allocated('one', address);
const stateOf = () => foldEvents([subnetConfigured(), one, bound(one, 2)], () => startTime);

/** The networks of the claim after a restore, if it was stored with `networks`. */
function restoredNetworks(networks: readonly string[], more: Partial<Snapshot> = {}): readonly string[] | undefined {
  const snapshot = snapshotOf(stateOf());
  const claims = snapshot.claims.map(({ claim, ...name }) => ({ ...name, claim: { ...claim, networks } }));
  return claimOf(restoreState({ ...snapshot, ...more, claims }), 'macvlan', address)?.networks;
}

describe('restoreState', () => {
  it('restoreState keeps the networks that a claim names', () => {
    for (const networks of [['other.default'], ['macvlan.default', 'other.default']])
      expect(restoredNetworks(networks)).to.deep.equal(networks);
  });

  it('restoreState gives a claim that an early version stored without networks that of its Subnet and of its Pod', () => {
    expect(restoredNetworks([])).to.deep.equal(['macvlan.default']);
    const [subnet] = snapshotOf(stateOf()).subnets;
    if (!subnet) throw new Error('the state has no Subnet');
    const moved = [{ ...subnet, spec: { ...subnet.spec, provider: 'moved.default' } }];
    expect(restoredNetworks([], { subnets: moved })).to.deep.equal(['moved.default', 'macvlan.default']);
  });

  it('restoreState gives a claim of a retired Subnet without networks those of its Pod and container', () => {
    expect(restoredNetworks([], { subnets: [] })).to.deep.equal(['macvlan.default']);
  });
});

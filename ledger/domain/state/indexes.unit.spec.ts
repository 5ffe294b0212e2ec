import { expect } from 'chai';
import type { Event } from '../events/event.ts';
import { evolve } from '../events/registry.ts';
import { describeState } from '../testing/describe-state.ts';
import {
  allocate,
  allocated,
  bound,
  quarantined,
  released,
  reserved,
  subnetConfigured,
  unbound,
} from '../testing/event-fixtures.ts';
import { foldEvents, given, snapshotOf, startTime } from '../testing/given-when-then.ts';
import type { SubnetSpec } from '../values/configuration.ts';
import { type Claim, standingOf } from './claim.ts';
import { restoreState } from './snapshot.ts';
import { claimOf, type State } from './state.ts';
import { UndoLog } from './undo-log.ts';

const small: Partial<SubnetSpec> = { cidrBlock: '10.0.0.0/29', gateway: '10.0.0.1', excludeIps: ['10.0.0.1'] };
/** The network's own subnet, and a logical switch with the same addresses. */
const lan = subnetConfigured('lan', { ...small, provider: 'net1.default' });
const overlay = subnetConfigured('overlay', { ...small, provider: 'ovn' });
const onLan = (pod: string, address: string) => allocated(pod, address, { subnet: 'lan', provider: 'net1.default' });
const hour = 3_600_000;

/** Drops claims of a Subnet, and expects the state that a restore from the keys has. */
function dropClaims(state: State, seq: number, subnet: string, addresses: readonly string[]): void {
  const drop: Event = { type: 'ClaimsDropped', subnet, data: { addresses, previous: [] } };
  evolve(state, { ...drop, seq, at: startTime + 2 * hour }, new UndoLog());
  expectAsRestored(state);
}

function expectAsRestored(state: State): void {
  expect(describeState({ ...state, dropped: new Map() })).to.deep.equal(
    describeState(restoreState({ ...snapshotOf(state), dropped: [] })),
  );
}

describe('The drop of the claim of another Subnet of the network', () => {
  it('a dropped claim does not rebuild the Subnets of the network', () => {
    const successor = subnetConfigured('successor', { ...small, provider: 'net1.default' });
    const [first, second] = [onLan('first', '10.0.0.2'), onLan('second', '10.0.0.3')];
    const retired: Event = { type: 'SubnetRetired', subnet: 'lan', data: {} };
    const again = allocated('third', '10.0.0.2', { subnet: 'successor', provider: 'net1.default' });
    const state = foldEvents([lan, first, second, released(first, 2), released(second, 3), retired, successor, again]);
    const before = state.subnets.get('successor');
    dropClaims(state, 9, 'lan', ['10.0.0.2', '10.0.0.3']);
    expect(state.subnets.get('successor')).to.equal(before);
  });

  const [second, third] = [onLan('second', '10.0.0.2'), onLan('third', '10.0.0.3')];
  const reservedFor = (owner: string, address: string): Event => reserved(owner, [address], { subnet: 'lan' });
  for (const [standing, own] of [
    ['taken', [second, third]],
    ['quarantined', [quarantined('10.0.0.2', 'lan'), quarantined('10.0.0.3', 'lan')]],
    ['reserved', [reservedFor('vip/a', '10.0.0.2'), reservedFor('vip/b', '10.0.0.3')]],
    ['held', [second, bound(second, 6), third, bound(third, 8), released(second, 6), released(third, 8)]],
    ['idle', [second, third, released(second, 6), released(third, 7)]],
  ] as const)
    it(`an address that is ${standing} has the place of its older claim after the drop of a newer one`, () => {
      const first = allocated('first', '10.0.0.2', { subnet: 'overlay', provider: 'net1.default' });
      const history = [lan, overlay, first, bound(first, 3), released(first, 3), ...own, unbound(first)];
      const state = foldEvents(history);
      dropClaims(state, history.length + 1, 'overlay', ['10.0.0.2']);
      expect(standingOf(claimOf(state, 'lan', '10.0.0.2') as Claim)).to.equal(standing);
    });
});

describe('An address that another Subnet uses on the network no longer', () => {
  it('an address is idle after a claim on which a container may answer left the network with its next allocation', () => {
    const first = allocated('first', '10.0.0.2', { subnet: 'overlay', provider: 'net1.default' });
    const second = onLan('second', '10.0.0.2');
    const left = allocated('third', '10.0.0.2', { subnet: 'overlay', provider: 'ovn' });
    const held = [lan, overlay, first, bound(first, 3), released(first, 3), second, released(second, 6)];
    const releasedIn = (events: readonly Event[]) =>
      foldEvents(events).subnets.get('lan')?.spaces[0]?.pools[0]?.released;
    expect([...(releasedIn(held)?.held ?? [])]).to.have.length(1);
    expect([...(releasedIn([...held, left])?.idle ?? [])]).to.have.length(1);
    expectAsRestored(foldEvents([...held, left]));
  });
});

describe('A Subnet that moved to another network', () => {
  it('A Subnet that moved to another network leaves the network that its address was used on with the next allocation', () => {
    const first = onLan('first', '10.0.0.2');
    const moved = subnetConfigured('lan', { ...small, provider: 'net2.default' });
    const second = allocated('second', '10.0.0.2', { subnet: 'lan', provider: 'net2.default' });
    const next = subnetConfigured('next', { ...small, provider: 'net1.default' });
    const history = [lan, first, released(first, 2), moved, second, next, overlay];
    const requestIn = (subnet: string, provider: string) =>
      allocate('third', { provider, subnets: [subnet], candidates: [['10.0.0.2']] });
    expect(given(history).when(requestIn('next', 'net1.default')).events).to.have.length(1);
    given(history).when(requestIn('overlay', 'net2.default')).thenRefused('ADDRESS_IN_USE', 'default/second');
  });
});

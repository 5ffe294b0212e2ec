import { expect } from 'chai';
import type { Event } from '../events/event.ts';
import { Refused } from '../commands/refusal.ts';
import {
  allocated,
  bound,
  poolConfigured,
  quarantined,
  released,
  reserved,
  smallSubnet,
  subnetConfigured,
} from '../testing/event-fixtures.ts';
import { foldEvents, startTime } from '../testing/given-when-then.ts';
import type { State } from '../state/state.ts';
import {
  addressRecord,
  allocationsOfPod,
  freeOfPool,
  isHost,
  listAllocations,
  maxClaimsPerPage,
  usageOf,
  usageOfPool,
} from './queries.ts';

const small = { subnet: 'small' };
const holder = allocated('a', '10.0.0.2', small);
const retired: Event = { type: 'SubnetRetired', subnet: 'small', data: {} };
const smallPool = poolConfigured('blue', ['10.0.0.3..10.0.0.5'], 'small');
const second = 1_000;
const [cooldownMs, bindingTimeoutMs] = [60_000, 3_600_000];

const recordAt = (events: readonly Event[], address: string, afterMs = 0) =>
  addressRecord(foldEvents(events), 'small', address, startTime + afterMs);

describe('The record of an address', () => {
  for (const [state, events, address] of [
    ['fresh', [smallSubnet()], '10.0.0.2'],
    ['excluded', [smallSubnet()], '10.0.0.5'],
    ['allocated', [smallSubnet(), holder], '10.0.0.2'],
    ['bound', [smallSubnet(), holder, bound(holder, 2)], '10.0.0.2'],
    ['quarantined', [smallSubnet(), quarantined('10.0.0.2', 'small')], '10.0.0.2'],
    ['reserved', [smallSubnet(), reserved('vip/web', ['10.0.0.2'], small)], '10.0.0.2'],
  ] as const)
    it(`The record of an address that is ${state} has this state, and no time at which it becomes free`, () =>
      expect(recordAt(events, address)).to.include({ subnet: 'small', address, state, availableAt: undefined }));

  it('The record of a released address has the end of its cooldown until then, and afterwards is idle', () => {
    const events = [smallSubnet(), holder, released(holder, 2)];
    const availableAt = startTime + 2 * second + cooldownMs;
    expect(recordAt(events, '10.0.0.2', 2 * second + cooldownMs - 1)).to.include({ state: 'cooldown', availableAt });
    expect(recordAt(events, '10.0.0.2', 2 * second + cooldownMs)).to.include({ state: 'idle', availableAt: undefined });
  });

  it('The record of a released address on which a container may answer has the end of its binding timeout', () => {
    const events = (subnet: Event): Event[] => [subnet, holder, bound(holder, 2), released(holder, 2)];
    const availableAt = startTime + 3 * second + bindingTimeoutMs;
    expect(recordAt(events(smallSubnet()), '10.0.0.2')).to.include({ state: 'held', availableAt });
    const endless = events(smallSubnet({ bindingTimeoutMs: Number.MAX_SAFE_INTEGER }));
    expect(recordAt(endless, '10.0.0.2')).to.include({ state: 'held', availableAt: undefined });
  });

  it('The record of an address of a retired Subnet has the default times, and the pool that waits for the Subnet', () => {
    const other = allocated('b', '10.0.0.3', small);
    const events = [smallSubnet(), smallPool, holder, other, bound(holder, 3), released(holder, 3), released(other, 4)];
    expect(recordAt([...events, retired], '10.0.0.2')).to.include({ state: 'held', availableAt: undefined, pool: '' });
    expect(recordAt([...events, retired], '10.0.0.3')).to.include({ state: 'excluded', pool: 'blue' });
  });

  it('The record of an address names its pool, also of an excluded address', () => {
    const events = [smallSubnet(), smallPool];
    expect(['10.0.0.2', '10.0.0.3', '10.0.0.5'].map((address) => recordAt(events, address).pool)).to.deep.equal([
      '',
      'blue',
      'blue',
    ]);
  });

  it('The record of an address is found by any spelling, and has the canonical one', () => {
    const six = subnetConfigured('small', { cidrBlock: 'fd00::/120', gateway: 'fd00::1', excludeIps: ['fd00::1'] });
    expect(recordAt([six], 'FD00:0::0A')).to.include({ address: 'fd00::a', state: 'fresh' });
  });

  it('The record of an address is refused for an unknown Subnet, for no host address, and for other texts', () => {
    const codeOf = (events: readonly Event[], address: string): unknown => {
      try {
        return recordAt(events, address).state;
      } catch (thrown) {
        return thrown instanceof Refused ? thrown.refusal.code : thrown;
      }
    };
    expect(codeOf([], '10.0.0.2')).to.equal('SUBNET_UNKNOWN');
    expect(codeOf([smallSubnet(), retired], '10.0.0.2')).to.equal('SUBNET_UNKNOWN');
    for (const address of ['10.0.0.0', '10.0.0.7', '10.0.0.8', 'fd00::1'])
      expect(codeOf([smallSubnet()], address), address).to.equal('ADDRESS_UNKNOWN');
    for (const address of ['10.0.0.1', '10.0.0.6']) expect(codeOf([smallSubnet()], address)).to.equal('excluded');
    for (const text of ['', '10.0.0.2/32', 'web']) expect(codeOf([smallSubnet()], text)).to.equal('INVALID_REQUEST');
  });

  it('isHost is false for each address of a Subnet that is not in force', () => {
    const hosts = (events: readonly Event[]): boolean[] =>
      ['10.0.0.0', '10.0.0.1', '10.0.0.6', '10.0.0.7', 'fd00::1'].map((each) =>
        isHost(foldEvents(events), 'small', each),
      );
    expect(hosts([smallSubnet()])).to.deep.equal([false, true, true, false, false]);
    expect(hosts([smallSubnet(), retired])).to.deep.equal([false, false, false, false, false]);
  });

  it('The record of an address outside its Subnet is found while the ledger has a claim of it', () => {
    const narrowed = smallSubnet({ cidrBlock: '10.0.0.8/29', gateway: '10.0.0.9', excludeIps: [] });
    const events = [smallSubnet(), holder, released(holder, 2), narrowed];
    expect(recordAt(events, '10.0.0.2')).to.include({ state: 'excluded', pool: '' });
  });
});

describe('The usage of a Subnet', () => {
  const dual = subnetConfigured('small', {
    cidrBlock: '10.0.0.0/29,fd00::/125',
    gateway: '10.0.0.1,fd00::1',
    excludeIps: ['10.0.0.1', 'fd00::1'],
    protocol: 'Dual',
    provider: 'small.default',
  });
  const inPool = allocated('b', '10.0.0.3', small);
  const events = [
    dual,
    smallPool,
    holder,
    inPool,
    reserved('vip/web', ['10.0.0.4'], small),
    quarantined('10.0.0.5', 'small'),
    quarantined('10.0.0.6', 'small'),
  ];
  const ipv4 = { family: 4 as const, held: 0n };
  const configuredIn = (state: State) => state.subnets.get('small') ?? expect.fail('no subnet');

  it('The usage of a Subnet adds up its pools and the rest, in joined ranges', () => {
    expect(usageOf(configuredIn(foldEvents(events)))).to.deep.equal([
      {
        ...ipv4,
        total: 5n,
        inUse: 3n,
        available: 2n,
        coolingDown: 2n,
        reserved: 1n,
        quarantined: 2n,
        inUseRange: '10.0.0.2-10.0.0.4',
        availableRange: '10.0.0.5-10.0.0.6',
        reservedRange: '10.0.0.4',
        quarantinedRange: '10.0.0.5-10.0.0.6',
      },
      {
        family: 6,
        held: 0n,
        total: 5n,
        inUse: 0n,
        available: 5n,
        coolingDown: 0n,
        reserved: 0n,
        quarantined: 0n,
        inUseRange: '',
        availableRange: 'fd00::2-fd00::6',
        reservedRange: '',
        quarantinedRange: '',
      },
    ]);
  });

  it('The usage of a pool has the addresses of the pool only, and none while its Subnet is retired', () => {
    const state = foldEvents(events);
    const pool = state.pools.get('blue') ?? expect.fail('no pool');
    const none = { inUseRange: '', reservedRange: '', quarantinedRange: '' };
    const [four, six] = usageOfPool(state, pool);
    expect(four).to.deep.include({ ...ipv4, total: 3n, inUse: 2n, inUseRange: '10.0.0.3-10.0.0.4', available: 1n });
    expect(six).to.deep.include({ family: 6, total: 0n, availableRange: '', ...none });
    expect(usageOfPool(foldEvents([...events.slice(0, 2), retired]), pool)).to.deep.equal([]);
  });

  it('The free addresses of a pool are counted for each family, without those of the rest', () => {
    const state = foldEvents([dual, smallPool, holder]);
    const pool = state.pools.get('blue') ?? expect.fail('no pool');
    expect(freeOfPool(state, pool, startTime)).to.deep.equal([3n, 0n]);
    expect(freeOfPool(foldEvents([dual, smallPool, retired]), pool, startTime)).to.deep.equal([]);
  });
});

describe('allocationsOfPod', () => {
  it('allocationsOfPod returns the allocations of one uid of the Pod, oldest first, with their bindings', () => {
    const [first, next] = [allocated('a', '172.17.0.11', { ordinal: 1 }), allocated('a', '172.17.0.12')];
    const earlier = allocated('a', '172.17.0.13', { uid: 'uid-0', ordinal: 2 });
    const state = foldEvents([subnetConfigured(), first, next, earlier, bound(next, 3)]);
    const describePod = (uid: string): string[] =>
      allocationsOfPod(state, 'default', 'a', uid).map(({ seq, bindings }) => `${seq} ${bindings.length}`);
    expect(describePod('uid-a')).to.deep.equal(['2 0', '3 1']);
    expect(describePod('uid-0')).to.deep.equal(['4 0']);
  });
});

describe('listAllocations', () => {
  it('listAllocations reads at most 250 allocations for a page, and fewer if they have many routes', () => {
    const routes = Array.from({ length: 80 }, (_, index) => ({ dst: `10.${index}.0.0/16`, gw: '172.17.0.1' }));
    const grants = (count: number, more: object): Event[] =>
      Array.from({ length: count }, (_, index) => {
        const event = allocated(`pod-${index}`, `172.17.${1 + (index >> 8)}.${index & 255}`);
        return { ...event, data: { ...event.data, ...more } };
      });
    const pageOf = (events: readonly Event[]) =>
      listAllocations(foldEvents([subnetConfigured(), ...events]), {}, { afterSeq: 0, size: 1_000 });
    const { allocations, nextAfterSeq, read } = pageOf(grants(maxClaimsPerPage + 1, {}));
    expect([allocations.length, nextAfterSeq, read]).to.deep.equal([250, 251, 250]);
    expect(pageOf(grants(maxClaimsPerPage, {}))).to.include({ nextAfterSeq: undefined, read: 250 });
    // An allocation with 80 routes counts eleven times
    expect(pageOf(grants(30, { routes })).allocations).to.have.length(23);
  });

  it('listAllocations has the bindings of each allocation, and matches all given fields', () => {
    const [one, other] = [allocated('a', '172.17.0.11', { node: 'n1' }), allocated('b', '172.17.0.12', { node: 'n2' })];
    const state = foldEvents([subnetConfigured(), one, other, bound(one, 2, { node: 'n1' })]);
    const podsOf = (filter: Parameters<typeof listAllocations>[1]): string[] =>
      listAllocations(state, filter, { afterSeq: 0, size: 10 }).allocations.map(
        ({ attachment, bindings }) => `${attachment.pod} ${bindings.length}`,
      );
    expect(podsOf({})).to.deep.equal(['a 1', 'b 0']);
    const all = { subnet: 'macvlan', namespace: 'default', pod: 'a', node: 'n1' };
    expect(podsOf(all)).to.deep.equal(['a 1']);
    for (const field of ['subnet', 'namespace', 'pod', 'node'] as const)
      expect(podsOf({ ...all, [field]: 'other' }), field).to.deep.equal([]);
    expect(podsOf({ node: 'n2' })).to.deep.equal(['b 0']);
  });
});

import { expect } from 'chai';
import type { Event } from '../events/event.ts';
import { usageOf, usageOfPool } from '../queries/queries.ts';
import {
  allocate,
  allocated,
  poolConfigured,
  quarantined,
  released,
  reserved,
  smallSubnet,
  subnetConfigured,
} from '../testing/event-fixtures.ts';
import { foldEvents, given, startTime, type Untimed } from '../testing/given-when-then.ts';

const apply = (name: string, ips: readonly string[], subnet = 'macvlan'): Untimed => ({
  type: 'ApplyPool',
  name,
  spec: { subnet, ips, namespaces: [] },
});
const retired = (pool: string, subnet = 'macvlan'): Event => ({ type: 'PoolRetired', subnet, data: { pool } });
const inSmall = { provider: 'small.default', subnets: ['small'] };
const inBlue = { ...inSmall, pool: 'blue' };
const smallPool = (...ips: string[]): Event => poolConfigured('blue', ips, 'small');

/** The address that the Pod gets. */
const addressOf = (events: readonly Event[], request: Untimed): string | undefined => {
  const [event] = given(events).when(request).events.slice(-1);
  return event?.type === 'AddressAllocated' ? event.data.addresses.map(({ address }) => address).join() : undefined;
};

describe('ApplyPool', () => {
  it('ApplyPool records the normalised spec', () => {
    given([subnetConfigured()])
      .when(apply('blue', ['172.17.0.21', '172.17.0.20', '172.17.0.32/31']))
      .then([poolConfigured('blue', ['172.17.0.20..172.17.0.21', '172.17.0.32..172.17.0.33'])]);
  });

  it('ApplyPool records nothing when the spec is unchanged', () => {
    const events = [subnetConfigured(), poolConfigured('blue', ['172.17.0.20..172.17.0.21'])];
    given(events)
      .when(apply('blue', ['172.17.0.21', '172.17.0.20']))
      .thenNothingHappens();
  });

  it('ApplyPool is refused for addresses of another pool of the Subnet', () => {
    given([subnetConfigured(), poolConfigured('p', ['172.17.0.20', '172.17.0.90'])])
      .when(apply('q', ['172.17.0.20', '172.17.0.92']))
      .thenRefused('POOL_CONFLICT', 'ippool q has conflict IPs with ippool p: 172.17.0.20');
  });

  it('ApplyPool accepts several pools of one Subnet, if no address is in two of them', () => {
    const events = [subnetConfigured(), poolConfigured('p', ['172.17.0.20'])];
    expect(given(events).when(apply('q', ['172.17.0.21'])).events).to.have.length(1);
  });

  it('ApplyPool accepts the same addresses in another Subnet, and those that the pool has already', () => {
    const other = subnetConfigured('other', { provider: 'other.default' });
    const events = [subnetConfigured(), other, poolConfigured('p', ['172.17.0.20'])];
    expect(given(events).when(apply('q', ['172.17.0.20'], 'other')).events).to.have.length(1);
    expect(given(events).when(apply('p', ['172.17.0.20..172.17.0.30'])).events).to.have.length(1);
  });

  it('ApplyPool is refused for an unknown, changed or missing Subnet, and for an invalid name', () => {
    given([])
      .when(apply('p', ['10.0.0.1'], 'nope'))
      .thenRefused('SUBNET_UNKNOWN', 'subnet nope does not exist in IPAM');
    given([subnetConfigured(), smallSubnet(), poolConfigured('p', ['172.17.0.20'])])
      .when(apply('p', ['10.0.0.2'], 'small'))
      .thenRefused('POOL_CONFLICT', "ippool p belongs to subnet macvlan and can't move to small");
    given([])
      .when(apply('p', ['10.0.0.1'], ''))
      .thenRefused('POOL_INVALID', 'ippool p has no subnet');
    given([]).when(apply('a/b', [])).thenRefused('POOL_INVALID', '"a/b" is not a valid ippool name');
  });

  it('ApplyPool is refused for addresses outside the Subnet, and names them', () => {
    for (const ips of [['10.0.0.2..10.0.1.1'], ['10.0.0.2', '10.0.1.1'], ['10.0.0.0/16'], ['fd00::1', '10.0.0.2']])
      given([smallSubnet()])
        .when(apply('p', ips, 'small'))
        .thenRefused('POOL_INVALID', /^ippool p is not a part of subnet small \(10\.0\.0\.0\/29\): .* outside/);
    expect(given([smallSubnet()]).when(apply('p', ['10.0.0.0/29'], 'small')).events).to.have.length(1);
  });

  it('a pool outside its Subnet stays in force when an earlier version recorded it or the Subnet shrank', () => {
    given([smallSubnet(), smallPool('10.0.0.2..10.0.1.1')])
      .when(apply('blue', ['10.0.0.2..10.0.1.1'], 'small'))
      .thenNothingHappens();
    expect(addressOf([smallSubnet(), smallPool('10.0.0.3..10.0.1.1')], allocate('a', inBlue))).to.equal('10.0.0.3');
  });

  it('ApplyPool is refused for an invalid namespace name', () => {
    given([smallSubnet()])
      .when({ type: 'ApplyPool', name: 'p', spec: { subnet: 'small', ips: ['10.0.0.2'], namespaces: ['a/b'] } })
      .thenRefused('POOL_INVALID', /^ippool p: "a\/b" is not a valid namespace/);
  });

  it('ApplyPool is refused for invalid addresses, and names each', () => {
    given([subnetConfigured()])
      .when(apply('p', ['10.0.0.21', '10.0.0.261', 'x/24']))
      .thenRefused('POOL_INVALID', /invalid IP address "10\.0\.0\.261"; ippool p: invalid CIDR address: x\/24/);
  });
});

describe('RetirePool', () => {
  const retire: Untimed = { type: 'RetirePool', name: 'blue' };

  it('RetirePool returns the addresses to the rest of the Subnet', () => {
    given([smallSubnet(), smallPool('10.0.0.2')])
      .when(retire)
      .then([retired('blue', 'small')]);
    expect(
      addressOf([smallSubnet(), smallPool('10.0.0.2'), retired('blue', 'small')], allocate('a', inSmall)),
    ).to.equal('10.0.0.2');
  });

  it('RetirePool does nothing for an unknown pool', () => {
    given([smallSubnet()]).when(retire).thenNothingHappens();
  });
});

describe('A pool', () => {
  it('A pool allocates its addresses only to requests that name it', () => {
    const events = [smallSubnet(), smallPool('10.0.0.2..10.0.0.3')];
    expect(addressOf(events, allocate('a', inSmall))).to.equal('10.0.0.4');
    given([...events, allocated('a', '10.0.0.4', { subnet: 'small' })])
      .when(allocate('b', inSmall))
      .thenRefused(
        'SUBNET_FULL',
        /^NoAvailableAddress: subnet small .*1 of 1 addresses in use, 2 more belong to ippools/,
      );
  });

  it('A pool allocates its lowest address to a request that names it, with cause pool', () => {
    const [event] = given([smallSubnet(), smallPool('10.0.0.3..10.0.0.4')]).when(allocate('a', inBlue)).events;
    expect(event?.data).to.deep.include({ cause: 'pool' });
    expect(addressOf([smallSubnet(), smallPool('10.0.0.3..10.0.0.4')], allocate('a', inBlue))).to.equal('10.0.0.3');
  });

  it('a full pool refuses requests that name it, although the Subnet has other free addresses', () => {
    given([smallSubnet(), smallPool('10.0.0.3'), allocated('a', '10.0.0.3', { subnet: 'small' })])
      .when(allocate('b', inBlue))
      .thenRefused(
        'SUBNET_FULL',
        'NoAvailableAddress: ippool blue of subnet small has no free address: IPv4: 1 of 1 addresses in use. Delete Pods that are not needed, or widen the ippool',
      );
  });

  it('A pool allocates an address that is requested by name without the pool', () => {
    const request = allocate('a', { ...inSmall, candidates: [['10.0.0.3']] });
    expect(addressOf([smallSubnet(), smallPool('10.0.0.3')], request)).to.equal('10.0.0.3');
  });

  it('A pool refuses a requested address outside the pool', () => {
    given([smallSubnet(), smallPool('10.0.0.3')])
      .when(allocate('a', { ...inBlue, candidates: [['10.0.0.2']] }))
      .thenRefused('ADDRESS_OUT_OF_RANGE', 'AddressOutOfRange: 10.0.0.2 is not in ippool blue of subnet small');
  });

  it('Allocate is refused for a pool that is unknown or belongs to another Subnet', () => {
    given([smallSubnet()])
      .when(allocate('a', inBlue))
      .thenRefused('POOL_UNKNOWN', /^no ippool blue is configured in subnet small$/);
    given([smallSubnet(), subnetConfigured(), poolConfigured('blue', ['172.17.0.20'])])
      .when(allocate('a', inBlue))
      .thenRefused('POOL_UNKNOWN', 'no ippool blue is configured in subnet small: it belongs to subnet macvlan');
  });

  it('KO-7275 never allocates an excluded address, also if it was excluded later', () => {
    const events = [smallSubnet(), smallPool('10.0.0.4..10.0.0.5')];
    expect(addressOf(events, allocate('a', inBlue))).to.equal('10.0.0.4');
    given([...events, smallSubnet({ excludeIps: ['10.0.0.1', '10.0.0.4..10.0.0.6'] })])
      .when(allocate('a', inBlue))
      .thenRefused('SUBNET_FULL', 'it has no usable address in this subnet');
  });

  it('A pool includes addresses that Pods hold, and the Pods keep them', () => {
    const events = [smallSubnet(), allocated('a', '10.0.0.2', { subnet: 'small' }), smallPool('10.0.0.2..10.0.0.3')];
    const state = foldEvents(events);
    const [usage] = usageOfPool(state, state.pools.get('blue') as NonNullable<ReturnType<typeof state.pools.get>>);
    expect(usage).to.deep.include({
      total: 2n,
      inUse: 1n,
      available: 1n,
      inUseRange: '10.0.0.2',
      availableRange: '10.0.0.3',
    });
    given(events).when(allocate('a', inSmall)).thenNothingHappens();
    expect(addressOf(events, allocate('b', inBlue))).to.equal('10.0.0.3');
  });

  it('A pool counts an excluded address that a Pod requested by name as in use, until its release', () => {
    const held = allocated('a', '10.0.0.5', { subnet: 'small', cause: 'static' });
    const usageAfter = (more: readonly Event[]) => {
      const state = foldEvents([smallSubnet(), smallPool('10.0.0.4..10.0.0.5'), ...more]);
      return usageOfPool(state, state.pools.get('blue') as NonNullable<ReturnType<typeof state.pools.get>>)[0];
    };
    expect(usageAfter([held])).to.deep.include({ total: 2n, inUse: 1n, available: 1n, inUseRange: '10.0.0.5' });
    expect(usageAfter([held, released(held, 3)])).to.deep.include({ total: 1n, inUse: 0n, inUseRange: '' });
  });

  it('A pool counts an address that was excluded while a Pod holds it as in use, until its release', () => {
    const held = allocated('a', '10.0.0.2', { subnet: 'small' });
    const events = [
      smallSubnet(),
      smallPool('10.0.0.2..10.0.0.3'),
      held,
      smallSubnet({ excludeIps: ['10.0.0.1..10.0.0.2', '10.0.0.5..10.0.0.6'] }),
    ];
    const usageAfter = (more: readonly Event[]) => {
      const state = foldEvents([...events, ...more]);
      return usageOfPool(state, state.pools.get('blue') as NonNullable<ReturnType<typeof state.pools.get>>)[0];
    };
    const range = { inUseRange: '10.0.0.2', availableRange: '10.0.0.3' };
    expect(usageAfter([])).to.deep.include({ total: 2n, inUse: 1n, available: 1n, ...range });
    const other = allocated('b', '10.0.0.3', { subnet: 'small' });
    expect(usageAfter([other])).to.deep.include({
      total: 2n,
      inUse: 2n,
      available: 0n,
      inUseRange: '10.0.0.2-10.0.0.3',
    });
    expect(usageAfter([released(held, 3)])).to.deep.include({ total: 1n, inUse: 0n, available: 1n, inUseRange: '' });
    expect(usageAfter([smallSubnet()]), 'no longer excluded').to.deep.include({
      total: 2n,
      inUse: 1n,
      available: 1n,
      ...range,
    });
  });

  it('A pool counts its own addresses, and the Subnet counts all', () => {
    const dual = subnetConfigured('dual', {
      cidrBlock: '10.1.0.0/24,fd00::/64',
      gateway: '10.1.0.1,fd00::1',
      excludeIps: ['10.1.0.1', 'fd00::1'],
      protocol: 'Dual',
    });
    const state = foldEvents([dual, poolConfigured('d', ['10.1.0.30', '10.1.0.80', 'fd00::30', 'fd00::80'], 'dual')]);
    const pool = state.pools.get('d');
    if (!pool) throw new Error();
    expect(usageOfPool(state, pool).map(({ available, availableRange }) => [available, availableRange])).to.deep.equal([
      [2n, '10.1.0.30,10.1.0.80'],
      [2n, 'fd00::30,fd00::80'],
    ]);
    const configured = state.subnets.get('dual');
    expect(configured && usageOf(configured)[0]).to.deep.include({
      total: 253n,
      availableRange: '10.1.0.2-10.1.0.254',
    });
  });

  it('A pool changes neither cooldowns nor the order of reuse', () => {
    const [one, two] = [
      allocated('one', '10.0.0.3', { subnet: 'small' }),
      allocated('two', '10.0.0.2', { subnet: 'small' }),
    ];
    const holder = allocated('x', '10.0.0.4', { subnet: 'small' });
    const events = [
      smallSubnet(),
      one,
      two,
      holder,
      released(one, 2),
      released(two, 3),
      smallPool('10.0.0.2..10.0.0.4'),
    ];
    given(events)
      .when(allocate('a', inBlue))
      .thenRefused('SUBNET_FULL', '2 released but not yet available (the next is free at');
    const [event] = given([...events, retired('blue', 'small')]).whenAfter(70_000, allocate('a', inSmall)).events;
    expect(event?.data).to.have.deep.nested.property('addresses[0].address', '10.0.0.3');
  });

  it('a re-created Pod that requests a pool keeps its address if the pool contains it, and else gets a new one', () => {
    const held = allocated('db-0', '10.0.0.3', { subnet: 'small', uid: 'before' });
    const again = given([smallSubnet(), held, smallPool('10.0.0.3..10.0.0.4')]).when(allocate('db-0', inBlue)).events;
    expect(again.map(({ type }) => type)).to.deep.equal(['AddressTransferred']);
    const moves = given([smallSubnet(), held, smallPool('10.0.0.4')]).when(allocate('db-0', inBlue)).events;
    expect(moves.map(({ type }) => type)).to.deep.equal(['AddressReleased', 'AddressAllocated']);
  });

  it('A pool reports how many of its addresses are reserved or quarantined', () => {
    given([
      smallSubnet(),
      smallPool('10.0.0.3..10.0.0.4'),
      reserved('vip/web', ['10.0.0.3'], { subnet: 'small' }),
      quarantined('10.0.0.4', 'small'),
    ])
      .when(allocate('a', inBlue))
      .thenRefused('SUBNET_FULL', '0 of 2 addresses in use, 1 reserved, 1 quarantined');
  });

  it('a pool of a retired Subnet has effect again when the Subnet is configured again', () => {
    const history = [
      smallSubnet(),
      smallPool('10.0.0.2'),
      { type: 'SubnetRetired', subnet: 'small', data: {} } as const,
    ];
    const state = foldEvents(history, () => startTime);
    expect([...state.pools.keys()]).to.deep.equal(['blue']);
    expect(addressOf([...history, smallSubnet()], allocate('a', inSmall))).to.equal('10.0.0.3');
  });
});

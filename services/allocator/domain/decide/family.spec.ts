import { expect } from 'chai';
import type { Event } from '../event.ts';
import { allocate, given, poolConfigured, smallSubnet, subnetConfigured, type Untimed } from '../specification.ts';

const dual = (spec: object = {}): Event =>
  subnetConfigured('dual', {
    cidrBlock: '10.1.0.0/29,fd00::/64',
    gateway: '10.1.0.1,fd00::1',
    excludeIps: ['10.1.0.1', 'fd00::1'],
    protocol: 'Dual',
    provider: 'dual.default',
    ...spec,
  });
const inDual = { provider: 'dual.default', subnets: ['dual'] };
const inSmall = { provider: 'small.default', subnets: ['small'] };
const addressesOf = (events: readonly Event[], asks: Untimed): string[] =>
  given(events)
    .when(asks)
    .events.flatMap((event) =>
      event.type === 'AddressAllocated' || event.type === 'AddressTransferred'
        ? event.data.addresses.map(({ address }) => address)
        : [],
    );

/** `pod` (an earlier uid of it) was given these. */
const held = (pod: string, ...addresses: string[]): Event => ({
  type: 'AddressAllocated',
  subnet: 'dual',
  data: {
    attachment: { namespace: 'default', pod, provider: 'dual.default', ordinal: 0 },
    uid: 'before',
    node: '',
    addresses: addresses.map((address) =>
      address.includes(':')
        ? { address, cidr: 'fd00::/64', gateway: 'fd00::1' }
        : { address, cidr: '10.1.0.0/29', gateway: '10.1.0.1' },
    ),
    mac: '',
    interface: '',
    cause: 'dynamic',
    routes: [],
  },
});

describe('The family asked for', () => {
  it('is the only one that is given of a dual subnet', () => {
    expect(addressesOf([dual()], allocate('a', inDual))).to.deep.equal(['10.1.0.2', 'fd00::2']);
    expect(addressesOf([dual()], allocate('a', { ...inDual, ipFamily: 'ipv4' }))).to.deep.equal(['10.1.0.2']);
    expect(addressesOf([dual()], allocate('a', { ...inDual, ipFamily: 'ipv6' }))).to.deep.equal(['fd00::2']);
  });

  it('is the only one that must be there', () => {
    const noFreeV6 = dual({
      cidrBlock: '10.1.0.0/29,fd00::/127',
      gateway: '10.1.0.1,fd00::',
      excludeIps: ['10.1.0.1', 'fd00::', 'fd00::1'],
    });
    expect(addressesOf([noFreeV6], allocate('a', { ...inDual, ipFamily: 'ipv4' }))).to.deep.equal(['10.1.0.2']);
    given([noFreeV6]).when(allocate('a', inDual)).thenRefused('SUBNET_FULL', 'NoAvailableAddress');
  });

  it('must be one of the subnet’s, for a named address too', () => {
    for (const candidates of [[], [['10.0.0.2']]])
      given([smallSubnet()])
        .when(allocate('a', { ...inSmall, ipFamily: 'ipv6', candidates }))
        .thenRefused(
          'IP_FAMILY_INVALID',
          'InvalidIPFamily: requested ip family IPv6 does not match subnet small protocol IPv4',
        );
  });

  it('is that of the addresses named, or they are refused', () => {
    const asks = (...set: string[]) => allocate('a', { ...inDual, ipFamily: 'ipv4', candidates: [set] });
    expect(addressesOf([dual()], asks('10.1.0.4'))).to.deep.equal(['10.1.0.4']);
    for (const set of [['fd00::4'], ['10.1.0.4', 'fd00::4']])
      given([dual()])
        .when(asks(...set))
        .thenRefused('IP_FAMILY_INVALID', 'InvalidIPFamily: fd00::4 does not match ip_family ipv4');
  });

  it('holds inside a pool, which without it must have both', () => {
    const events = [dual(), poolConfigured('v6', ['fd00::50'], 'dual')];
    const asks = { ...inDual, pool: 'v6' };
    expect(addressesOf(events, allocate('a', { ...asks, ipFamily: 'ipv6' }))).to.deep.equal(['fd00::50']);
    given(events).when(allocate('a', asks)).thenRefused('SUBNET_FULL', 'NoAvailableAddress: ippool v6 of subnet dual');
  });

  it('is looked for in the next subnet where the first has it not', () => {
    const asks = { ...inDual, subnets: ['small', 'dual'], ipFamily: 'ipv6' } as const;
    expect(addressesOf([smallSubnet(), dual()], allocate('a', asks))).to.deep.equal(['fd00::2']);
  });
});

describe('What an earlier Pod of the name holds', () => {
  it('is kept where only a family is to be added, or left out', () => {
    expect(addressesOf([dual(), held('a', '10.1.0.5')], allocate('a', inDual))).to.deep.equal(['10.1.0.5', 'fd00::2']);
    const both = held('a', '10.1.0.5', 'fd00::5');
    expect(addressesOf([dual(), both], allocate('a', { ...inDual, ipFamily: 'ipv6' }))).to.deep.equal(['fd00::5']);
  });

  it('may be named again beside something new', () => {
    const asks = allocate('a', { ...inDual, candidates: [['10.1.0.5', 'fd00::6']] });
    expect(addressesOf([dual(), held('a', '10.1.0.5', 'fd00::5')], asks)).to.deep.equal(['10.1.0.5', 'fd00::6']);
  });

  it('is not taken away by a request that can’t be served', () => {
    const noFreeV6 = dual({
      cidrBlock: '10.1.0.0/29,fd00::/127',
      gateway: '10.1.0.1,fd00::',
      excludeIps: ['10.1.0.1', 'fd00::', 'fd00::1'],
    });
    given([noFreeV6, held('a', '10.1.0.5')])
      .when(allocate('a', inDual))
      .thenRefused('SUBNET_FULL', 'NoAvailableAddress');
  });

  it('is passed on as it is where it is what is asked for', () => {
    const { events } = given([dual(), held('a', '10.1.0.5')]).when(allocate('a', { ...inDual, ipFamily: 'ipv4' }));
    expect(events.map(({ type }) => type)).to.deep.equal(['AddressTransferred']);
  });
});

describe('An import', () => {
  const imports = (pod: string, candidates: string[][], attachment: object = {}): Untimed => ({
    ...allocate(pod, { ...inDual, candidates, ...attachment }),
    import: true,
  });

  it('takes over just the addresses that are named, excluded and pooled ones too', () => {
    const events = [
      dual({ excludeIps: ['10.1.0.1', '10.1.0.3', 'fd00::1'] }),
      poolConfigured('p', ['10.1.0.4'], 'dual'),
    ];
    for (const set of [['10.1.0.3'], ['10.1.0.4', 'fd00::9'], ['fd00::9']]) {
      expect(addressesOf(events, imports('a', [set]))).to.deep.equal(set);
      expect(given(events).when(imports('a', [set])).events[0]?.data).to.deep.include({ cause: 'import' });
    }
  });

  it('must name them, and once', () => {
    for (const candidates of [[], [['10.1.0.3'], ['10.1.0.4']]])
      given([dual()]).when(imports('a', candidates)).thenRefused('INVALID_REQUEST', 'an import names the addresses');
  });

  it('never takes what another Pod has', () => {
    given([dual(), held('b', '10.1.0.5')])
      .when(imports('a', [['10.1.0.5']]))
      .thenRefused('ADDRESS_IN_USE', 'AddressConflict: 10.1.0.5 of subnet dual is in use by Pod default/b');
  });
});

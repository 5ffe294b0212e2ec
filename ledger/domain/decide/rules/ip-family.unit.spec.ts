import { expect } from 'chai';
import type { Event } from '../../events/event.ts';
import { allocate, poolConfigured, smallSubnet, subnetConfigured } from '../../testing/event-fixtures.ts';
import { given, type Untimed } from '../../testing/given-when-then.ts';

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
const addressesOf = (events: readonly Event[], request: Untimed): string[] =>
  given(events)
    .when(request)
    .events.flatMap((event) =>
      event.type === 'AddressAllocated' || event.type === 'AddressTransferred'
        ? event.data.addresses.map(({ address }) => address)
        : [],
    );

/** An allocation of these addresses to an earlier uid of `pod`. */
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

describe('The requested family', () => {
  it('the requested family is the only family that is allocated in a dual-stack Subnet', () => {
    expect(addressesOf([dual()], allocate('a', inDual))).to.deep.equal(['10.1.0.2', 'fd00::2']);
    expect(addressesOf([dual()], allocate('a', { ...inDual, ipFamily: 'ipv4' }))).to.deep.equal(['10.1.0.2']);
    expect(addressesOf([dual()], allocate('a', { ...inDual, ipFamily: 'ipv6' }))).to.deep.equal(['fd00::2']);
  });

  it('only the requested family needs a free address', () => {
    const noFreeV6 = dual({
      cidrBlock: '10.1.0.0/29,fd00::/127',
      gateway: '10.1.0.1,fd00::',
      excludeIps: ['10.1.0.1', 'fd00::', 'fd00::1'],
    });
    expect(addressesOf([noFreeV6], allocate('a', { ...inDual, ipFamily: 'ipv4' }))).to.deep.equal(['10.1.0.2']);
    given([noFreeV6]).when(allocate('a', inDual)).thenRefused('SUBNET_FULL', 'NoAvailableAddress');
  });

  it('Allocate is refused for a family that the Subnet does not have, even with a requested address', () => {
    for (const candidates of [[], [['10.0.0.2']]])
      given([smallSubnet()])
        .when(allocate('a', { ...inSmall, ipFamily: 'ipv6', candidates }))
        .thenRefused(
          'IP_FAMILY_INVALID',
          'InvalidIPFamily: requested ip family IPv6 does not match subnet small protocol IPv4',
        );
  });

  it('Allocate is refused if the requested addresses are not of the requested family', () => {
    const request = (...set: string[]) => allocate('a', { ...inDual, ipFamily: 'ipv4', candidates: [set] });
    expect(addressesOf([dual()], request('10.1.0.4'))).to.deep.equal(['10.1.0.4']);
    for (const set of [['fd00::4'], ['10.1.0.4', 'fd00::4']])
      given([dual()])
        .when(request(...set))
        .thenRefused('IP_FAMILY_INVALID', 'InvalidIPFamily: fd00::4 does not match ip_family ipv4');
  });

  it('the requested family limits a pool, which otherwise needs free addresses of both families', () => {
    const events = [dual(), poolConfigured('v6', ['fd00::50'], 'dual')];
    const request = { ...inDual, pool: 'v6' };
    expect(addressesOf(events, allocate('a', { ...request, ipFamily: 'ipv6' }))).to.deep.equal(['fd00::50']);
    given(events)
      .when(allocate('a', request))
      .thenRefused('SUBNET_FULL', 'NoAvailableAddress: ippool v6 of subnet dual');
  });

  it('the requested family is allocated in the next Subnet if the first Subnet does not have it', () => {
    const request = { ...inDual, subnets: ['small', 'dual'], ipFamily: 'ipv6' } as const;
    expect(addressesOf([smallSubnet(), dual()], allocate('a', request))).to.deep.equal(['fd00::2']);
  });
});

describe('An allocation of an earlier Pod of the name', () => {
  it('an earlier allocation keeps its address when the new request adds or removes a family', () => {
    expect(addressesOf([dual(), held('a', '10.1.0.5')], allocate('a', inDual))).to.deep.equal(['10.1.0.5', 'fd00::2']);
    const both = held('a', '10.1.0.5', 'fd00::5');
    expect(addressesOf([dual(), both], allocate('a', { ...inDual, ipFamily: 'ipv6' }))).to.deep.equal(['fd00::5']);
  });

  it('the address of an earlier Pod can be requested again together with a new address', () => {
    const request = allocate('a', { ...inDual, candidates: [['10.1.0.5', 'fd00::6']] });
    expect(addressesOf([dual(), held('a', '10.1.0.5', 'fd00::5')], request)).to.deep.equal(['10.1.0.5', 'fd00::6']);
  });

  it('an earlier allocation stays when the new request cannot be served', () => {
    const noFreeV6 = dual({
      cidrBlock: '10.1.0.0/29,fd00::/127',
      gateway: '10.1.0.1,fd00::',
      excludeIps: ['10.1.0.1', 'fd00::', 'fd00::1'],
    });
    given([noFreeV6, held('a', '10.1.0.5')])
      .when(allocate('a', inDual))
      .thenRefused('SUBNET_FULL', 'NoAvailableAddress');
  });

  it('an earlier allocation is transferred unchanged when it fits the request', () => {
    const { events } = given([dual(), held('a', '10.1.0.5')]).when(allocate('a', { ...inDual, ipFamily: 'ipv4' }));
    expect(events.map(({ type }) => type)).to.deep.equal(['AddressTransferred']);
  });
});

describe('An import', () => {
  const imports = (pod: string, candidates: string[][], attachment: object = {}): Untimed => ({
    ...allocate(pod, { ...inDual, candidates, ...attachment }),
    import: true,
  });

  it('An import records exactly the named addresses, also excluded ones and those of pools', () => {
    const events = [
      dual({ excludeIps: ['10.1.0.1', '10.1.0.3', 'fd00::1'] }),
      poolConfigured('p', ['10.1.0.4'], 'dual'),
    ];
    for (const set of [['10.1.0.3'], ['10.1.0.4', 'fd00::9'], ['fd00::9']]) {
      expect(addressesOf(events, imports('a', [set]))).to.deep.equal(set);
      expect(given(events).when(imports('a', [set])).events[0]?.data).to.deep.include({ cause: 'import' });
    }
  });

  it('An import is refused without addresses, or with several sets', () => {
    for (const candidates of [[], [['10.1.0.3'], ['10.1.0.4']]])
      given([dual()])
        .when(imports('a', candidates))
        .thenRefused('INVALID_REQUEST', 'an import needs exactly one set of candidates');
  });

  it('An import is refused for an address of another Pod', () => {
    given([dual(), held('b', '10.1.0.5')])
      .when(imports('a', [['10.1.0.5']]))
      .thenRefused('ADDRESS_IN_USE', 'AddressConflict: 10.1.0.5 of subnet dual is in use by Pod default/b');
  });
});

import { expect } from 'chai';
import type { Event } from '../../events/event.ts';
import { countHeldByNamespace } from '../../state/namespace-counts.ts';
import { restoreState } from '../../state/snapshot.ts';
import {
  allocate,
  allocateAll,
  allocated,
  released,
  reserved,
  smallSubnet,
  subnetConfigured,
} from '../../testing/event-fixtures.ts';
import { foldEvents, given, snapshotOf } from '../../testing/given-when-then.ts';

const small = { provider: 'small.default', subnets: ['small'] };
const limited = smallSubnet({ maxAddressesPerNamespace: 2 });
const one = allocated('one', '10.0.0.2', { subnet: 'small' });
const two = allocated('two', '10.0.0.3', { subnet: 'small' });
const elsewhere = { namespace: 'other' };

describe('maxAddressesPerNamespace', () => {
  it('maxAddressesPerNamespace refuses a namespace that holds as many addresses as the Subnet allows, with count, limit and remedy', () => {
    given([limited, one, two])
      .when(allocate('three', small))
      .thenRefused(
        'NAMESPACE_QUOTA_EXCEEDED',
        'namespace default holds 2 addresses of subnet small, the limit is 2 (maxAddressesPerNamespace), and 1 more is requested. Delete Pods of namespace default that are not needed, or raise the limit in the Subnet',
      );
  });

  it('maxAddressesPerNamespace also applies to a requested address and to a list', () => {
    const request = { ...small, candidates: [['10.0.0.4'], ['10.0.0.5']] };
    given([limited, one, two])
      .when(allocate('three', request))
      .thenRefused('NAMESPACE_QUOTA_EXCEEDED', 'the limit is 2');
  });

  it('maxAddressesPerNamespace does not apply to other namespaces, nor to the same namespace after a release', () => {
    expect(given([limited, one, two]).when(allocate('three', small, elsewhere)).events).to.have.length(1);
    expect(given([limited, one, two, released(two, 3)]).when(allocate('three', small)).events).to.have.length(1);
  });

  it('maxAddressesPerNamespace does not apply unless it is set', () => {
    expect(given([smallSubnet(), one, two]).when(allocate('three', small)).events).to.have.length(1);
  });

  it('maxAddressesPerNamespace counts each family of an address pair, and all attachments of the Pod', () => {
    const dual = subnetConfigured('dual', {
      cidrBlock: '10.0.0.0/24,fd00::/64',
      gateway: '10.0.0.1,fd00::1',
      excludeIps: ['10.0.0.1', 'fd00::1'],
      provider: 'dual.default',
      protocol: 'Dual',
      maxAddressesPerNamespace: 3,
    });
    const request = { provider: 'dual.default', subnets: ['dual'] };
    expect(given([dual]).when(allocate('a', request)).events).to.have.length(1);
    given([dual])
      .when(allocateAll('a', [request, { ...request, ordinal: 1 }]))
      .thenRefused('NAMESPACE_QUOTA_EXCEEDED', 'holds 2 addresses of subnet dual, the limit is 3');
  });

  it('maxAddressesPerNamespace does not count transferred or replaced addresses twice', () => {
    const again = given([limited, one, two]).when(allocate('two', small, { uid: 'new' })).events;
    expect(again.map(({ type }) => type)).to.deep.equal(['AddressTransferred']);
    const other = given([limited, one, two]).when(
      allocate('two', { ...small, candidates: [['10.0.0.4']] }, { uid: 'new' }),
    ).events;
    expect(other.map(({ type }) => type)).to.deep.equal(['AddressReleased', 'AddressAllocated']);
  });

  it('maxAddressesPerNamespace lets the request use the next Subnet of the provider', () => {
    const second = smallSubnet();
    const next: Event = { ...second, subnet: 'next' };
    const [event] = given([limited, next, one, two]).when(
      allocate('three', { ...small, subnets: ['small', 'next'] }),
    ).events;
    expect(event?.subnet).to.equal('next');
  });

  it('maxAddressesPerNamespace does not apply to an import, which records addresses in use', () => {
    const request = { ...allocate('three', { ...small, candidates: [['10.0.0.4']] }), import: true };
    expect(given([limited, one, two]).when(request).events).to.have.length(1);
  });

  it('maxAddressesPerNamespace releases nothing when the limit is lowered', () => {
    const lowered = smallSubnet({ maxAddressesPerNamespace: 1 });
    given([limited, one, two, lowered]).when(allocate('two', small)).thenNothingHappens();
    given([limited, one, two, lowered])
      .when(allocate('three', small))
      .thenRefused('NAMESPACE_QUOTA_EXCEEDED', 'holds 2 addresses of subnet small, the limit is 1');
  });

  it('maxAddressesPerNamespace must be a number of at least 1', () => {
    for (const maxAddressesPerNamespace of [0, 1.5])
      given([])
        .when({
          type: 'ApplySubnet',
          name: 'lan',
          spec: {
            cidrBlock: '10.0.0.0/24',
            gateway: '',
            excludeIps: [],
            provider: 'lan.default',
            protocol: '',
            maxAddressesPerNamespace,
          },
        })
        .thenRefused('SUBNET_INVALID', 'maxAddressesPerNamespace is a number of addresses from 1 up');
  });

  it('maxAddressesPerNamespace counts the same addresses in a restored state', () => {
    for (const state of [foldEvents([limited, one, two]), restoreState(snapshotOf(foldEvents([limited, one, two])))]) {
      expect(countHeldByNamespace(state, 'small', 'default')).to.equal(2);
      expect(countHeldByNamespace(state, 'small', 'other')).to.equal(0);
    }
    expect(foldEvents([limited, one, released(one, 2)]).namespaceCounts.size).to.equal(0);
  });
});

describe('An IPPool that lists namespaces', () => {
  const pool = (...namespaces: string[]): Event => ({
    type: 'PoolConfigured',
    subnet: 'small',
    data: { pool: 'blue', spec: { subnet: 'small', ips: ['10.0.0.4..10.0.0.5'], namespaces } },
  });
  const foreign = [smallSubnet(), pool('team-a', 'team-b')];
  const refusal = /Pods of namespace default can't use .*ippool blue: the pool is for namespaces team-a, team-b/;

  it('An IPPool that lists namespaces serves Pods of those namespaces only', () => {
    given(foreign)
      .when(allocate('a', { ...small, pool: 'blue' }))
      .thenRefused('NAMESPACE_NOT_ALLOWED', refusal);
    const request = allocate('a', { ...small, pool: 'blue' }, { namespace: 'team-a' });
    expect(given(foreign).when(request).events).to.have.length(1);
  });

  it('A refusal by an IPPool that lists many namespaces names the first five and the number of the others', () => {
    given([smallSubnet(), pool('a', 'b', 'c', 'd', 'e', 'f', 'g')])
      .when(allocate('a', { ...small, pool: 'blue' }))
      .thenRefused('NAMESPACE_NOT_ALLOWED', 'the pool is for namespaces a, b, c, d, e and 2 more. Request');
  });

  it('An IPPool that lists namespaces refuses Pods of other namespaces that request an address without the pool, also if it is excluded', () => {
    for (const address of ['10.0.0.4', '10.0.0.5'])
      given(foreign)
        .when(allocate('a', { ...small, candidates: [[address]] }))
        .thenRefused('NAMESPACE_NOT_ALLOWED', refusal);
  });

  it('An IPPool that lists namespaces serves every namespace when it lists none', () => {
    const events = [smallSubnet(), pool()];
    expect(given(events).when(allocate('a', { ...small, pool: 'blue' })).events).to.have.length(1);
    expect(given(events).when(allocate('a', { ...small, candidates: [['10.0.0.4']] })).events).to.have.length(1);
  });

  it('An IPPool that lists namespaces lets Pods keep their addresses when it lists other namespaces, and transfers none to new Pods', () => {
    const held = allocated('a', '10.0.0.4', { subnet: 'small' });
    const events = [smallSubnet(), pool(), held, pool('team-a')];
    given(events)
      .when(allocate('a', { ...small, pool: 'blue' }))
      .thenNothingHappens();
    given(events)
      .when(allocate('a', { ...small, pool: 'blue' }, { uid: 'new' }))
      .thenRefused('NAMESPACE_NOT_ALLOWED', 'the pool is for namespace team-a');
    given(events)
      .when(allocate('a', { ...small, candidates: [['10.0.0.4']] }, { uid: 'new' }))
      .thenRefused('NAMESPACE_NOT_ALLOWED', 'the pool is for namespace team-a');
  });

  it('An IPPool that lists namespaces allocates an address that is reserved for the Pod to that Pod', () => {
    const events = [...foreign, reserved('pod/default/a/small.default', ['10.0.0.4'], { subnet: 'small' })];
    expect(given(events).when(allocate('a', { ...small, candidates: [['10.0.0.4']] })).events).to.have.length(1);
  });
});

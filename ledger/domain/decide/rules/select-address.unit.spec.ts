import type { Event } from '../../events/event.ts';
import { allocate, allocated, subnetConfigured } from '../../testing/event-fixtures.ts';
import { given } from '../../testing/given-when-then.ts';

describe('Allocate of a requested address', () => {
  it('Allocate is refused for a requested text that is not an address, and proposes to leave out the mask', () => {
    for (const text of ['172.17.0.50/16', '172.17.0.256', 'any', ''])
      given([subnetConfigured()])
        .when(allocate('a', { candidates: [[text]] }))
        .thenRefused(
          'INVALID_REQUEST',
          `failed to parse IP ${text}: invalid IP address "${text}"; write it without a mask`,
        );
  });

  it('Allocate is refused for two requested addresses of one family, and allocates none of them', () => {
    given([subnetConfigured()])
      .when(allocate('a', { candidates: [['172.17.0.50', '172.17.0.51']] }))
      .thenRefused('INVALID_REQUEST', '172.17.0.50,172.17.0.51: at most one address of each family');
  });
});

describe('Allocate of any address for the network of another Subnet', () => {
  const spec = { cidrBlock: '10.0.0.0/16', gateway: '10.0.0.1', excludeIps: ['10.0.0.1'] };
  const lan = subnetConfigured('lan', { ...spec, provider: 'net1.default' });
  const overlay = subnetConfigured('overlay', { ...spec, provider: 'ovn' });
  const request = allocate('next', { provider: 'net1.default', subnets: ['overlay'] });
  const inUse = (count: number): Event[] =>
    Array.from({ length: count }, (_, index) => {
      const address = `10.0.${(index + 2) >> 8}.${(index + 2) & 255}`;
      const grant = allocated(`pod-${index}`, address, { subnet: 'lan', provider: 'net1.default' });
      const addresses = [{ address, cidr: '10.0.0.0/16', gateway: '10.0.0.1' }];
      return { ...grant, data: { ...grant.data, addresses } };
    });

  it('Allocate compares at most 1,024 free addresses with those in use on the network, and is then refused', () => {
    given([lan, overlay, ...inUse(1_023)])
      .when(request)
      .then([
        {
          ...allocated('next', '10.0.4.1', { subnet: 'overlay', provider: 'net1.default' }),
          data: {
            ...allocated('next', '10.0.4.1', { subnet: 'overlay', provider: 'net1.default' }).data,
            addresses: [{ address: '10.0.4.1', cidr: '10.0.0.0/16', gateway: '10.0.0.1' }],
          },
        },
      ]);
    given([lan, overlay, ...inUse(1_024)])
      .when(request)
      .thenRefused(
        'SUBNET_FULL',
        'NoAvailableAddress: the next 1024 free addresses of subnet overlay are in use on network net1.default. Request an address that is free there, or create a Subnet for network net1.default',
      );
  });
});

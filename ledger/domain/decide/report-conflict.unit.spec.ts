import { expect } from 'chai';
import type { Command } from '../commands/command.ts';
import type { Event } from '../events/event.ts';
import {
  allocate,
  allocated,
  bound,
  poolConfigured,
  quarantined,
  reserved,
  smallSubnet,
  subnetConfigured,
} from '../testing/event-fixtures.ts';
import { foldEvents, given, type Untimed } from '../testing/given-when-then.ts';
import { allocationOf } from '../state/state.ts';
import { isProbed } from './report-conflict.ts';

const small = { subnet: 'small' };
const probed = smallSubnet({ probeAddresses: true });
const stranger = '52:54:00:12:34:56';
const attachment = { namespace: 'default', pod: 'a', provider: 'small.default', ordinal: 0 };
const report = (changes: Partial<Extract<Command, { type: 'ReportConflict' }>> = {}): Untimed => ({
  type: 'ReportConflict',
  namespace: 'default',
  pod: 'a',
  uid: 'uid-a',
  provider: 'small.default',
  containerId: 'container-1',
  interface: 'net1',
  node: 'node-1',
  onlyNode: 'node-1',
  address: '10.0.0.2',
  seenMac: stranger,
  ...changes,
});

const holds = allocated('a', '10.0.0.2', small);
const aboutToUse = (subnet: Event = probed): Event[] => [subnet, holds, bound(holds, 2)];
const takenFromPod: readonly Event[] = [
  {
    type: 'AddressUnbound',
    ...small,
    data: {
      attachment,
      addresses: ['10.0.0.2'],
      containerId: 'container-1',
      interface: 'net1',
      cause: 'container-deleted',
    },
  },
  {
    type: 'AddressReleased',
    ...small,
    data: {
      alloc: 2,
      attachment,
      uid: 'uid-a',
      addresses: ['10.0.0.2'],
      cause: 'address-conflict',
      evidence: `${stranger} answered on 10.0.0.2 before container container-1 on node node-1 used it`,
    },
  },
];
const putUnderQuarantine: Event = {
  type: 'AddressQuarantined',
  ...small,
  data: {
    address: '10.0.0.2',
    seenMac: stranger,
    seenAt: 'node-1',
    reason: 'it answered a probe for Pod default/a',
  },
};
const allocatedInstead: Event = {
  ...allocated('a', '10.0.0.3', { ...small, interface: 'net1', node: 'node-1' }),
};
const inSmall = { provider: 'small.default', subnets: ['small'] };

describe('ReportConflict', () => {
  it('ReportConflict takes the address from the Pod and quarantines it, with the MAC and the node', () => {
    given(aboutToUse())
      .when(report({ seenMac: stranger.toUpperCase() }))
      .then([...takenFromPod, putUnderQuarantine, allocatedInstead]);
  });

  it('ReportConflict gives no other address to a Pod that requested this one, and its next request is refused', () => {
    for (const cause of ['static', 'pool', 'reservation', 'import'] as const) {
      const requested = allocated('a', '10.0.0.2', { ...small, cause });
      const events = [probed, requested, bound(requested, 2)];
      given(events)
        .when(report())
        .then([...takenFromPod, putUnderQuarantine]);
      given([...events, ...takenFromPod, putUnderQuarantine])
        .when(allocate('a', { ...inSmall, candidates: [['10.0.0.2']] }))
        .thenRefused('ADDRESS_QUARANTINED', `${stranger} answers on it (seen at node-1)`);
    }
  });

  it('ReportConflict lets the Pod take its MAC to the other address, also when its next Pod requests the MAC', () => {
    const mac = '02:00:00:00:00:07';
    const withMac = allocated('a', '10.0.0.2', { ...small, mac, interface: 'net1', node: 'node-1' });
    const before = [probed, withMac, bound(withMac, 2)];
    const { events } = given(before).when(report());
    expect(events.at(-1)).to.deep.include({ type: 'AddressAllocated' });
    expect(events.at(-1)?.data).to.deep.include({ mac, interface: 'net1', node: 'node-1', uid: 'uid-a' });
    const [next] = given([...before, ...events]).when(allocate('a', { ...inSmall, mac }, { uid: 'uid-next' })).events;
    expect(next).to.deep.include({ type: 'AddressTransferred' });
    expect(next?.data).to.deep.include({ mac });
  });

  it('ReportConflict is refused while no other address is free: the Pod keeps its address', () => {
    const others = ['10.0.0.3', '10.0.0.4'].map((address) => quarantined(address, 'small'));
    given([...aboutToUse(), ...others])
      .when(report())
      .thenRefused('SUBNET_FULL', `AddressConflict: ${stranger} answers on 10.0.0.2, and NoAvailableAddress: `);
  });

  it('ReportConflict releases both addresses of a dual-stack allocation, and quarantines the one that was answered', () => {
    const subnet = subnetConfigured('small', {
      cidrBlock: '10.0.0.0/29,fd00::/120',
      gateway: '10.0.0.1,fd00::1',
      excludeIps: ['10.0.0.1', 'fd00::1'],
      provider: 'small.default',
      protocol: 'Dual',
      probeAddresses: true,
    });
    const v6 = { address: 'fd00::2', cidr: 'fd00::/120', gateway: 'fd00::1' };
    const dual = { ...holds, data: { ...holds.data, addresses: [...holds.data.addresses, v6] } };
    const { events } = given([subnet, dual, bound(dual, 2)]).when(report({ address: 'fd00::2' }));
    const addresses = events.map(({ data }) =>
      'addresses' in data ? data.addresses : 'address' in data && data.address,
    );
    expect(addresses.slice(0, 3)).to.deep.equal([['10.0.0.2', 'fd00::2'], ['10.0.0.2', 'fd00::2'], 'fd00::2']);
    const instead = events.at(-1);
    expect(instead?.type === 'AddressAllocated' && instead.data.addresses.map(({ address }) => address)).to.deep.equal([
      '10.0.0.3',
      'fd00::3',
    ]);
  });

  it('ReportConflict of an address that is quarantined already only takes it from the Pod', () => {
    given([...aboutToUse(), quarantined('10.0.0.2', 'small')])
      .when(report())
      .then([...takenFromPod, allocatedInstead]);
  });

  it('ReportConflict is refused for each container, Pod, address and node that is not bound', () => {
    const others = [
      { containerId: 'container-2' },
      { interface: 'net2' },
      { uid: 'uid-b' },
      { pod: 'b' },
      { address: '10.0.0.3' },
      { node: 'node-2', onlyNode: 'node-2' },
    ];
    for (const other of others) given(aboutToUse()).when(report(other)).thenRefused('NOT_ALLOCATED', 'is not bound to');
    given([probed, holds]).when(report()).thenRefused('NOT_ALLOCATED', 'is not bound to 10.0.0.2 on node node-1');
  });

  it('ReportConflict is refused while another container is bound, because that one may have answered', () => {
    const second = bound(holds, 2, { containerId: 'container-0' });
    given([...aboutToUse(), second])
      .when(report())
      .thenRefused('ADDRESS_ANSWERING', 'another container is bound to it');
    const owner = { kind: 'VirtualMachineInstance', name: 'a', uid: 'uid-a' };
    const machine = { ...holds, data: { ...holds.data, owner } };
    const source = bound(machine, 2, { containerId: 'container-0', node: 'node-2' });
    given([probed, machine, source, bound(machine, 2)])
      .when(report())
      .thenRefused('ADDRESS_ANSWERING', 'another container');
  });

  it('ReportConflict is refused for a Subnet without probeAddresses, and for the MAC of the Pod itself', () => {
    given(aboutToUse(smallSubnet()))
      .when(report())
      .thenRefused('INVALID_REQUEST', 'subnet small has no probeAddresses');
    const own = allocated('a', '10.0.0.2', { ...small, mac: stranger });
    given([probed, own, bound(own, 2)])
      .when(report())
      .thenRefused('INVALID_REQUEST', 'not the MAC of another host');
    for (const seenMac of ['', 'printer', 'ff:ff:ff:ff:ff:ff'])
      given(aboutToUse()).when(report({ seenMac })).thenRefused('INVALID_REQUEST', /MAC/);
  });

  it('ReportConflict is refused once probes may quarantine no more: a neighbor that answers all probes does not fill a Subnet', () => {
    const large = subnetConfigured('small', {
      cidrBlock: '10.0.0.0/24',
      gateway: '10.0.0.1',
      excludeIps: ['10.0.0.1'],
      provider: 'small.default',
      probeAddresses: true,
    });
    const quarantines = (count: number): Event[] =>
      Array.from({ length: count }, (_, index) => quarantined(`10.0.0.${100 + index}`, 'small'));
    const pool = poolConfigured('blue', ['10.0.0.100..10.0.0.103'], 'small');
    expect(given([...aboutToUse(large), ...quarantines(14), pool]).when(report()).events).to.have.length(4);
    given([...aboutToUse(large), ...quarantines(15), pool])
      .when(report())
      .thenRefused(
        'QUARANTINE_LIMIT',
        `${stranger} answers on 10.0.0.2 of subnet small, where 15 addresses are quarantined: probes quarantine no more than 15`,
      );
  });

  it('ReportConflict is refused in any Subnet, however large, once 64 of its addresses are quarantined', () => {
    const huge = subnetConfigured('small', {
      cidrBlock: '10.0.0.0/16',
      gateway: '10.0.0.1',
      excludeIps: ['10.0.0.1'],
      provider: 'small.default',
      probeAddresses: true,
    });
    const quarantines = (count: number): Event[] =>
      Array.from({ length: count }, (_, index) => quarantined(`10.0.1.${index}`, 'small'));
    expect(given([...aboutToUse(huge), ...quarantines(63)]).when(report()).events).to.have.length(4);
    given([...aboutToUse(huge), ...quarantines(64)])
      .when(report())
      .thenRefused('QUARANTINE_LIMIT', 'where 64 addresses are quarantined: probes quarantine no more than 64');
  });

  it('ReportConflict leaves a reservation, so that the owner gets the address after the quarantine', () => {
    const owner = 'pod/default/a/small.default';
    const { events } = given([...aboutToUse(), reserved(owner, ['10.0.0.2'], small)]).when(report());
    expect(events.map(({ type }) => type)).to.include.members(['AddressReleased', 'AddressQuarantined']);
    const state = foldEvents([...aboutToUse(), reserved(owner, ['10.0.0.2'], small), ...events]);
    const claim = state.claims.get('small')?.get('10.0.0.2');
    expect(claim?.reservation).to.include({ reservedFor: owner });
    expect(claim).to.not.have.property('allocation');
  });
});

describe('A container probes its addresses', () => {
  const isProbedAfter = (events: readonly Event[]): boolean => {
    const state = foldEvents(events);
    const allocation = allocationOf(state, attachment);
    return allocation !== undefined && isProbed(state, allocation);
  };

  it('A container probes its addresses if the Subnet requests it and no other container is bound', () => {
    expect(isProbedAfter(aboutToUse())).to.equal(true);
    expect(isProbedAfter(aboutToUse(smallSubnet()))).to.equal(false);
    expect(isProbedAfter([...aboutToUse(), bound(holds, 2, { containerId: 'container-0' })])).to.equal(false);
  });
});

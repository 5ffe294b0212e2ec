import { expect } from 'chai';
import type { AddressUnbound, Event } from '../../../proto/generated/ipledger.ts';
import { ledgerEventsOf, heldAllocationOf, reservedAddressOf } from './ledger-events.ts';

const attachment = { namespace: 'default', pod: 'web-0', provider: 'macvlan.default', ordinal: 1 };
const addresses = [{ address: '10.0.0.2', cidr: '10.0.0.0/24', gateway: '10.0.0.1' }];
const owner = { kind: 'StatefulSet', name: 'web', uid: 'o' };
const given = {
  attachment,
  owner,
  addresses,
  node: 'node-1',
  mac: '02:00:00:00:00:01',
  interface: 'net1',
  cause: 'ALLOCATION_CAUSE_STATIC',
  routes: [],
} as const;
const allocation = {
  ...attachment,
  seq: 42,
  uid: 'new',
  subnet: 'macvlan',
  addresses,
  mac: '02:00:00:00:00:01',
  interface: 'net1',
  node: 'node-1',
  owner,
  isStatic: true,
};

function event(data: Partial<Event>): Event {
  const common = {
    id: '',
    command: '',
    part: 1,
    parts: 1,
    type: 'X',
    at: '',
    actor: '',
    before: [],
    prev: '',
    hash: '',
    stored: '',
  };
  return { ...common, seq: 42, subnet: 'macvlan', ...data };
}

describe('Converting a ledger event', () => {
  it('ledgerEventsOf converts an allocation, a release and a transfer', () => {
    const data = { ...given, addresses: [...addresses], routes: [] };
    expect(ledgerEventsOf(event({ addressAllocated: { ...data, uid: 'new', supersedes: '' } }))).to.deep.equal([
      { kind: 'allocated', allocation },
    ]);
    const ended = {
      kind: 'released',
      seq: 7,
      subnet: 'macvlan',
      namespace: 'default',
      pod: 'web-0',
      uid: 'old',
      addresses: [],
    };
    expect(
      ledgerEventsOf(event({ addressTransferred: { ...data, alloc: 7, fromUid: 'old', uid: 'new', ended: true } })),
    ).to.deep.equal([ended, { kind: 'allocated', allocation }]);
    const release = {
      alloc: 7,
      attachment,
      uid: 'old',
      addresses: [],
      cause: 'RELEASE_CAUSE_OPERATOR',
      evidence: '',
      ended: false,
    } as const;
    expect(ledgerEventsOf(event({ addressReleased: { ...release, addresses: ['10.0.0.2'] } }))).to.deep.equal([
      { ...ended, addresses: ['10.0.0.2'] },
    ]);
    const conflict = { ...release, cause: 'RELEASE_CAUSE_ADDRESS_CONFLICT' } as const;
    expect(ledgerEventsOf(event({ addressReleased: { ...conflict, addresses: ['10.0.0.2'] } }))).to.deep.equal([
      { ...ended, addresses: ['10.0.0.2'], conflict: { provider: 'macvlan.default', ordinal: 1 } },
    ]);
  });

  it('ledgerEventsOf converts a binding, and a subnet’s configuration and retirement', () => {
    const bound = {
      alloc: 7,
      attachment,
      uid: 'u',
      addresses: [],
      containerId: 'c',
      interface: 'net1',
      node: 'node-1',
      bootId: '',
    };
    expect(ledgerEventsOf(event({ addressBound: bound }))).to.deep.equal([
      { kind: 'bound', seq: 7, namespace: 'default', pod: 'web-0', interface: 'net1', node: 'node-1' },
    ]);
    const spec = {
      cidrBlock: '10.0.0.0/24',
      gateway: '10.0.0.1',
      excludeIps: [],
      provider: 'macvlan.default',
      protocol: 'IPv4',
    };
    const configured = (source?: { uid: string; generation: number }) =>
      ledgerEventsOf(event({ subnetConfigured: { spec, ...(source && { source }) } }));
    expect(configured({ uid: 'u', generation: 2 })).to.deep.equal([
      { kind: 'subnet-configured', subnet: { name: 'macvlan', spec, source: { uid: 'u', generation: 2 } } },
    ]);
    expect(configured({ uid: '', generation: 0 })).to.deep.equal([
      { kind: 'subnet-configured', subnet: { name: 'macvlan', spec, source: undefined } },
    ]);
    expect(ledgerEventsOf(event({ subnetRetired: {} }))).to.deep.equal([{ kind: 'subnet-retired', subnet: 'macvlan' }]);
  });

  it('ledgerEventsOf converts the end of a binding', () => {
    const addressUnbound: AddressUnbound = {
      attachment,
      addresses: ['10.0.0.2'],
      containerId: 'c',
      interface: 'net1',
      cause: 'UNBIND_CAUSE_CONTAINER_DELETED',
      evidence: '',
    };
    const { namespace, pod } = attachment;
    expect(ledgerEventsOf(event({ addressUnbound }))).to.deep.equal([
      { kind: 'unbound', subnet: 'macvlan', namespace, pod, addresses: ['10.0.0.2'] },
    ]);
  });

  it('ledgerEventsOf converts events of pools, reservations and quarantine, one for each address', () => {
    const spec = { subnet: 'macvlan', ips: ['10.0.0.9'], namespaces: [] };
    const source = { uid: 'u', generation: 1 };
    expect(ledgerEventsOf(event({ poolConfigured: { pool: 'blue', spec, source } }))).to.deep.equal([
      { kind: 'pool-configured', pool: { name: 'blue', spec, source } },
    ]);
    expect(ledgerEventsOf(event({ poolRetired: { pool: 'blue' } }))).to.deep.equal([
      { kind: 'pool-retired', pool: 'blue', subnet: 'macvlan' },
    ]);
    const reservedFor = 'vip/web';
    const two = ['10.0.0.2', 'fd00::2'];
    expect(
      ledgerEventsOf(event({ addressReserved: { addresses: two, reservedFor, reason: '', mac: '' } })),
    ).to.deep.equal(
      two.map((address) => ({
        kind: 'reserved',
        reserved: { seq: 42, subnet: 'macvlan', address, reservedFor, reason: '', mac: '' },
      })),
    );
    expect(ledgerEventsOf(event({ reservationCancelled: { addresses: two, reservedFor, reason: '' } }))).to.deep.equal(
      two.map((address) => ({ kind: 'unreserved', subnet: 'macvlan', address, reservedFor })),
    );
    const [address, subnet] = ['10.0.0.2', 'macvlan'];
    expect(
      ledgerEventsOf(event({ addressQuarantined: { address, seenMac: '', seenAt: '', reason: '' } })),
    ).to.deep.equal([{ kind: 'quarantined', subnet, address }]);
    expect(ledgerEventsOf(event({ quarantineLifted: { address, reason: '' } }))).to.deep.equal([
      { kind: 'unquarantined', subnet, address },
    ]);
  });

  it('a listed reservation is converted to the same result as its event', () => {
    const reservation = { seq: 42, reservedFor: 'vip/web', reason: 'r', mac: '', at: '' };
    const record = { subnet: 'macvlan', address: '10.0.0.2', state: 'reserved', bindings: [], lastSeq: 42 };
    const rest = { releasedAt: '', releasedFromUid: '', availableAt: '', pool: '' };
    const { at: _, ...fields } = reservation;
    expect(reservedAddressOf({ ...record, ...rest, reservation })).to.deep.equal({
      subnet: 'macvlan',
      address: '10.0.0.2',
      ...fields,
    });
  });

  it('ledgerEventsOf returns nothing for events without effect on the watcher, and fails for an unknown type', () => {
    expect(ledgerEventsOf(event({ ledgerCreated: { ledger: 'l' } }))).to.deep.equal([]);
    expect(
      ledgerEventsOf(event({ allocationRefused: { attachment, uid: 'u', reason: 'SUBNET_FULL', message: '' } })),
    ).to.deep.equal([]);
    const sealed = { from: 1, to: 9, since: '', until: '', hash: 'h', manifest: 'm', archive: 'folder /a' };
    expect(ledgerEventsOf(event({ segmentSealed: sealed }))).to.deep.equal([]);
    const restored = { epoch: 2, seq: 41, hash: 'h', lostSeq: 50, reason: 'a backup' };
    expect(ledgerEventsOf(event({ ledgerRestored: restored }))).to.deep.equal([]);
    const rotated = { publicKey: 'p', keyId: 'k', previousKeyId: '', signature: '' };
    expect(ledgerEventsOf(event({ keyRotated: rotated }))).to.deep.equal([]);
    const dropped = { addresses: ['10.0.0.2'], previous: [7] };
    expect(ledgerEventsOf(event({ claimsDropped: dropped }))).to.deep.equal([]);
    expect(() => ledgerEventsOf(event({ type: 'AddressTeleported' }))).to.throw(
      'event 42 is of type AddressTeleported, which this pod-watcher does not know',
    );
  });

  it('a listed allocation is converted to the same result as its events, with the Node of its last binding', () => {
    const { attachment: _attachment, ...rest } = given;
    const listed = {
      ...rest,
      attachment,
      seq: 42,
      podUid: 'new',
      subnet: 'macvlan',
      addresses: [...addresses],
      routes: [],
      at: '',
      bindings: [],
      network: 'macvlan.default',
    };
    expect(heldAllocationOf(listed)).to.deep.equal(allocation);
    // The second launcher was bound on the Node of the allocation, and its binding has ended.
    const binding = { containerId: 'c', interface: 'net7', node: 'node-7', bootId: '', at: '2026-01-31T08:00:00.000Z' };
    const migrated = { ...listed, at: '2026-01-31T07:00:00.000Z', bindings: [binding] };
    expect(heldAllocationOf(migrated), 'after the last binding has ended').to.deep.equal(allocation);
  });
});

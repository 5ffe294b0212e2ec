import { expect } from 'chai';
import type { AddressUnbound, Event } from '../../../proto/ipledger.ts';
import { factsOf, holdingOf, reservedOf } from './facts.ts';

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
const holding = {
  ...attachment,
  seq: 42,
  uid: 'new',
  subnet: 'macvlan',
  addresses,
  mac: '02:00:00:00:00:01',
  interface: 'net1',
  node: 'node-1',
  owner,
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

describe('what an event says', () => {
  it('gives, ends, and passes on', () => {
    const data = { ...given, addresses: [...addresses], routes: [] };
    expect(factsOf(event({ addressAllocated: { ...data, uid: 'new', supersedes: '' } }))).to.deep.equal([
      { kind: 'given', holding },
    ]);
    const ended = {
      kind: 'ended',
      seq: 7,
      subnet: 'macvlan',
      namespace: 'default',
      pod: 'web-0',
      uid: 'old',
      addresses: [],
    };
    expect(factsOf(event({ addressTransferred: { ...data, alloc: 7, fromUid: 'old', uid: 'new' } }))).to.deep.equal([
      ended,
      { kind: 'given', holding },
    ]);
    const release = {
      alloc: 7,
      attachment,
      uid: 'old',
      addresses: [],
      cause: 'RELEASE_CAUSE_OPERATOR',
      evidence: '',
    } as const;
    expect(factsOf(event({ addressReleased: { ...release, addresses: ['10.0.0.2'] } }))).to.deep.equal([
      { ...ended, addresses: ['10.0.0.2'] },
    ]);
  });

  it('binds, configures and retires', () => {
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
    expect(factsOf(event({ addressBound: bound }))).to.deep.equal([
      { kind: 'bound', seq: 7, interface: 'net1', node: 'node-1' },
    ]);
    const spec = {
      cidrBlock: '10.0.0.0/24',
      gateway: '10.0.0.1',
      excludeIps: [],
      provider: 'macvlan.default',
      protocol: 'IPv4',
    };
    const configured = (source?: { uid: string; generation: number }) =>
      factsOf(event({ subnetConfigured: { spec, ...(source && { source }) } }));
    expect(configured({ uid: 'u', generation: 2 })).to.deep.equal([
      { kind: 'configured', subnet: { name: 'macvlan', spec, source: { uid: 'u', generation: 2 } } },
    ]);
    expect(configured({ uid: '', generation: 0 })).to.deep.equal([
      { kind: 'configured', subnet: { name: 'macvlan', spec, source: undefined } },
    ]);
    expect(factsOf(event({ subnetRetired: {} }))).to.deep.equal([{ kind: 'retired', subnet: 'macvlan' }]);
  });

  it('tells that a container has ended, which may free an address', () => {
    const addressUnbound: AddressUnbound = {
      attachment,
      addresses: ['10.0.0.2'],
      containerId: 'c',
      interface: 'net1',
      cause: 'UNBIND_CAUSE_CONTAINER_DELETED',
    };
    const { namespace, pod } = attachment;
    expect(factsOf(event({ addressUnbound }))).to.deep.equal([
      { kind: 'unbound', subnet: 'macvlan', namespace, pod, addresses: ['10.0.0.2'] },
    ]);
  });

  it('tells of pools, reservations and quarantine, each address for itself', () => {
    const spec = { subnet: 'macvlan', ips: ['10.0.0.9'], namespaces: [] };
    const source = { uid: 'u', generation: 1 };
    expect(factsOf(event({ poolConfigured: { pool: 'blue', spec, source } }))).to.deep.equal([
      { kind: 'pool-configured', pool: { name: 'blue', spec, source } },
    ]);
    expect(factsOf(event({ poolRetired: { pool: 'blue' } }))).to.deep.equal([
      { kind: 'pool-retired', pool: 'blue', subnet: 'macvlan' },
    ]);
    const reservedFor = 'vip/web';
    const two = ['10.0.0.2', 'fd00::2'];
    expect(factsOf(event({ addressReserved: { addresses: two, reservedFor, reason: '', mac: '' } }))).to.deep.equal(
      two.map((address) => ({
        kind: 'reserved',
        reserved: { seq: 42, subnet: 'macvlan', address, reservedFor, reason: '', mac: '' },
      })),
    );
    expect(factsOf(event({ reservationCancelled: { addresses: two, reservedFor, reason: '' } }))).to.deep.equal(
      two.map((address) => ({ kind: 'unreserved', subnet: 'macvlan', address, reservedFor })),
    );
    const [address, subnet] = ['10.0.0.2', 'macvlan'];
    expect(factsOf(event({ addressQuarantined: { address, seenMac: '', seenAt: '', reason: '' } }))).to.deep.equal([
      { kind: 'quarantined', subnet, address },
    ]);
    expect(factsOf(event({ quarantineLifted: { address, reason: '' } }))).to.deep.equal([
      { kind: 'lifted', subnet, address },
    ]);
  });

  it('reads a reservation of a list like the event that made it', () => {
    const reservation = { seq: 42, reservedFor: 'vip/web', reason: 'r', mac: '', at: '' };
    const record = { subnet: 'macvlan', address: '10.0.0.2', state: 'reserved', bindings: [], lastSeq: 42 };
    const rest = { releasedAt: '', releasedFromUid: '', availableAt: '', pool: '' };
    const { at: _, ...said } = reservation;
    expect(reservedOf({ ...record, ...rest, reservation })).to.deep.equal({
      subnet: 'macvlan',
      address: '10.0.0.2',
      ...said,
    });
  });

  it('may be nothing to us, and is never skipped unknown', () => {
    expect(factsOf(event({ ledgerCreated: { ledger: 'l' } }))).to.deep.equal([]);
    expect(
      factsOf(event({ allocationRefused: { attachment, uid: 'u', reason: 'SUBNET_FULL', message: '' } })),
    ).to.deep.equal([]);
    const sealed = { from: 1, to: 9, since: '', until: '', hash: 'h', manifest: 'm', archive: 'folder /a' };
    expect(factsOf(event({ segmentSealed: sealed }))).to.deep.equal([]);
    const restored = { epoch: 2, seq: 41, hash: 'h', lostSeq: 50, reason: 'a backup' };
    expect(factsOf(event({ ledgerRestored: restored }))).to.deep.equal([]);
    const rotated = { publicKey: 'p', keyId: 'k', previousKeyId: '', signature: '' };
    expect(factsOf(event({ keyRotated: rotated }))).to.deep.equal([]);
    const dropped = { addresses: ['10.0.0.2'], previous: [7] };
    expect(factsOf(event({ claimsDropped: dropped }))).to.deep.equal([]);
    expect(() => factsOf(event({ type: 'AddressTeleported' }))).to.throw(
      'event 42 is of type AddressTeleported, which this pod-watcher does not know',
    );
  });

  it('reads an allocation of a list like the event that gave it, with what was learnt since', () => {
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
    expect(holdingOf(listed)).to.deep.equal(holding);
    const at = '2026-01-31T08:00:00.000Z';
    const binding = { containerId: 'c', interface: 'net7', node: 'node-7', bootId: '', at };
    expect(holdingOf({ ...listed, at, bindings: [binding] })).to.deep.equal({
      ...holding,
      interface: 'net7',
      node: 'node-7',
    });
    const taken = { ...listed, at: '2026-01-31T09:00:00.000Z', bindings: [binding] };
    expect(holdingOf(taken), 'bound before this Pod had it').to.deep.equal(holding);
  });
});

/** The form of the data of each event type, in the newest schema version. */
import type { EventData, EventType } from '../../domain/events/event.ts';
import type { Attachment, Grant } from '../../domain/values/allocation.ts';
import type { PoolSpec, SourceObject, SubnetSpec } from '../../domain/values/configuration.ts';
import { faultFinder, type FindFault, type Shape } from './shape.ts';

export const attachmentShape: Shape<Attachment> = {
  namespace: 'text',
  pod: 'text',
  provider: 'text',
  ordinal: 'number',
};

export const grantShape: Shape<Grant> = {
  attachment: attachmentShape,
  uid: 'text',
  owner: { optional: { kind: 'text', name: 'text', uid: 'text' } },
  node: 'text',
  addresses: [{ address: 'text', cidr: 'text', gateway: 'text' }],
  mac: 'text',
  interface: 'text',
  cause: 'text',
  routes: [{ dst: 'text', gw: 'text' }],
  defaultRoute: { optional: 'flag' },
};

export const subnetShape: Shape<SubnetSpec> = {
  cidrBlock: 'text',
  gateway: 'text',
  excludeIps: ['text'],
  provider: 'text',
  protocol: 'text',
  cooldownMs: 'number',
  bindingTimeoutMs: 'number',
  maxAddressesPerNamespace: { optional: 'number' },
  probeAddresses: { optional: 'flag' },
};

export const poolShape: Shape<PoolSpec> = { subnet: 'text', ips: ['text'], namespaces: ['text'] };
export const sourceShape: Shape<SourceObject> = { uid: 'text', generation: 'number' };

const ended = { optional: 'flag' } as const;
const source = { optional: sourceShape } as const;

const shapes: { readonly [Type in EventType]: Shape<EventData<Type>> } = {
  LedgerCreated: { ledger: 'text' },
  SubnetConfigured: { spec: subnetShape, source },
  SubnetRetired: {},
  AddressAllocated: { ...grantShape, supersedes: { optional: 'text' } },
  AddressTransferred: { ...grantShape, alloc: 'number', fromUid: 'text', ended },
  AllocationRefused: { attachment: attachmentShape, uid: 'text', reason: 'text', message: 'text' },
  AddressBound: {
    alloc: 'number',
    attachment: attachmentShape,
    uid: 'text',
    addresses: ['text'],
    containerId: 'text',
    interface: 'text',
    node: 'text',
    bootId: 'text',
  },
  AddressUnbound: {
    attachment: attachmentShape,
    addresses: ['text'],
    containerId: 'text',
    interface: 'text',
    cause: 'text',
    evidence: { optional: 'text' },
  },
  AddressReleased: {
    alloc: 'number',
    attachment: attachmentShape,
    uid: 'text',
    addresses: ['text'],
    cause: 'text',
    evidence: 'text',
    ended,
  },
  PoolConfigured: { pool: 'text', spec: poolShape, source },
  PoolRetired: { pool: 'text' },
  AddressReserved: { addresses: ['text'], reservedFor: 'text', reason: 'text', mac: 'text' },
  ReservationCancelled: { addresses: ['text'], reservedFor: 'text', reason: 'text' },
  AddressQuarantined: { address: 'text', seenMac: 'text', seenAt: 'text', reason: 'text' },
  QuarantineLifted: { address: 'text', reason: 'text' },
  ClaimsDropped: { addresses: ['text'], previous: ['number'] },
  SegmentSealed: {
    from: 'number',
    to: 'number',
    since: 'text',
    until: 'text',
    hash: 'text',
    manifest: 'text',
    archive: 'text',
    files: { optional: { bytes: 'number', hasEndState: 'flag' } },
  },
  HistoryDropped: { to: 'number', until: 'text', hash: 'text', reason: 'text' },
  LedgerRestored: { epoch: 'number', seq: 'number', hash: 'text', lostSeq: 'number', reason: 'text' },
  KeyRotated: { publicKey: 'text', keyId: 'text', previousKeyId: 'text', signature: 'text' },
};

const finders = Object.fromEntries(
  Object.entries(shapes).map(([type, shape]) => [type, faultFinder(shape)]),
) as Readonly<Record<EventType, FindFault>>;

/** What is wrong with the data of an event; undefined for nothing. */
export const faultInData = (type: EventType, data: unknown): string | undefined => finders[type](data);

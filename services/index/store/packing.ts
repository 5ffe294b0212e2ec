/** Events as small bytes: what most have in common, in a dictionary that stands in the file beside them. */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { decode, encode } from '../../../proto/codec.ts';
import type { Event } from '../../../proto/ipledger.ts';

/** Beyond it, bytes hardly shrink and time grows. */
const level = 3;

/** An event as the API says it, its stored line included, byte by byte. */
export const pack = (event: Event, dictionary: Buffer): Buffer =>
  deflateRawSync(encode('Event', event), { dictionary, level });

export const unpack = (packed: Uint8Array, dictionary: Buffer): Event =>
  decode('Event', inflateRawSync(packed, { dictionary })) as Event;

const attachment = { namespace: 'default', pod: 'web-7d4b9c6f5-x2x4z', provider: 'macvlan.default', ordinal: 0 };
const uid = '00000000-0000-4000-8000-000000000000';
const assigned = { address: '10.0.0.10', cidr: '10.0.0.0/16', gateway: '10.0.0.1' };
const addresses = [assigned.address];
const owner = { kind: 'ReplicaSet', name: 'web-7d4b9c6f5', uid };
const container = { containerId: '0'.repeat(64), interface: 'net1' };
const allocated = {
  attachment,
  uid,
  owner,
  node: 'node-1',
  addresses: [assigned],
  mac: '',
  interface: 'net1',
  routes: [],
};

/** The rarest first: what stands nearest to the end costs least. */
const samples: [type: string, field: string, data: object, stored?: object][] = [
  ['AllocationRefused', 'allocationRefused', { attachment, uid, reason: 'SUBNET_FULL', message: 'NoAvailableAddress' }],
  [
    'AddressTransferred',
    'addressTransferred',
    { alloc: 1, fromUid: uid, ...allocated, cause: 'ALLOCATION_CAUSE_STATIC' },
  ],
  [
    'AddressReleased',
    'addressReleased',
    { alloc: 1, attachment, uid, addresses, cause: 'RELEASE_CAUSE_POD_DELETED', evidence: '' },
    { cause: 'pod-deleted' },
  ],
  [
    'AddressUnbound',
    'addressUnbound',
    { attachment, addresses, ...container, cause: 'UNBIND_CAUSE_CONTAINER_DELETED' },
    { cause: 'container-deleted' },
  ],
  ['AddressBound', 'addressBound', { alloc: 1, attachment, uid, addresses, ...container, node: 'node-1', bootId: uid }],
  ['AddressAllocated', 'addressAllocated', { ...allocated, cause: 'ALLOCATION_CAUSE_DYNAMIC' }, { cause: 'dynamic' }],
];

/** What the events of a new file are packed with: one of each usual type, as it looks in most clusters. */
export function usualDictionary(): Buffer {
  const envelope = { id: '01', command: '01', part: 1, parts: 1, subnet: 'macvlan', at: '2026-01-01T00:00:00.000Z' };
  const events = samples.map(([type, field, data, asStored]) => {
    const { id, command: cmd, subnet, at } = envelope;
    const line = { v: 3, seq: 1, id, cmd, part: [1, 1], type, subnet, at, actor: 'ipledger://watcher' };
    const stored = JSON.stringify({
      ...line,
      data: { ...data, ...asStored },
      before: { [assigned.address]: 1 },
      prev: '',
    });
    return encode('Event', { ...envelope, type, actor: 'ipledger://watcher', stored, [field]: data });
  });
  return Buffer.concat(events);
}

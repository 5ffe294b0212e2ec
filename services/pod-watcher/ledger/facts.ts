/** What the ledger says, reduced to what this program acts on. */
import { IpledgerError } from '../../../lib/errors.ts';
import type {
  AddressRecord,
  Allocation,
  AssignedAddress,
  Attachment,
  Event,
  Owner,
  PoolSpec,
  SourceObject,
  SubnetSpec,
} from '../../../proto/ipledger.ts';

/** An attachment's addresses while a Pod holds them. */
export interface Holding {
  /** The event that gave it; names it for good. */
  readonly seq: number;
  readonly namespace: string;
  readonly pod: string;
  /** Who the Pod is in the ledger. */
  readonly uid: string;
  readonly provider: string;
  readonly ordinal: number;
  readonly subnet: string;
  /** IPv4 first. */
  readonly addresses: readonly AssignedAddress[];
  readonly mac: string;
  /** Asked for, or learnt when it was bound; "" while unknown. */
  readonly interface: string;
  /** Where it was bound, or where the Pod was at allocation; "" while unknown. */
  readonly node: string;
  /** Who controls the Pod, as it was when it asked; undefined for a bare one. */
  readonly owner: Owner | undefined;
}

/** A subnet as it is in force. */
export interface SubnetInForce {
  readonly name: string;
  readonly spec: SubnetSpec;
  /** The Kubernetes object that it was made from; absent when an operator configured it. */
  readonly source: SourceObject | undefined;
}

/** A pool as it is in force. */
export interface PoolInForce {
  readonly name: string;
  readonly spec: PoolSpec;
  /** The Kubernetes object that it was made from; absent when an operator configured it. */
  readonly source: SourceObject | undefined;
}

/** One address that is held without a Pod. */
export interface Reserved {
  /** The event that reserved it. */
  readonly seq: number;
  readonly subnet: string;
  readonly address: string;
  /** "pod/<namespace>/<pod>/<provider>", or what it is held for, as "vip/web". */
  readonly reservedFor: string;
  readonly reason: string;
  readonly mac: string;
}

export type Fact =
  | { readonly kind: 'given'; readonly holding: Holding }
  | {
      readonly kind: 'ended';
      readonly seq: number;
      readonly subnet: string;
      readonly namespace: string;
      readonly pod: string;
      readonly uid: string;
      /** Those that are held no more; none where they were passed on to another uid. */
      readonly addresses: readonly string[];
    }
  | { readonly kind: 'bound'; readonly seq: number; readonly interface: string; readonly node: string }
  /** The end of a container of this Pod: where its addresses were released before, they may be free now. */
  | {
      readonly kind: 'unbound';
      readonly subnet: string;
      readonly namespace: string;
      readonly pod: string;
      readonly addresses: readonly string[];
    }
  | { readonly kind: 'configured'; readonly subnet: SubnetInForce }
  | { readonly kind: 'retired'; readonly subnet: string }
  | { readonly kind: 'pool-configured'; readonly pool: PoolInForce }
  /** Its addresses are the rest of the subnet's again. */
  | { readonly kind: 'pool-retired'; readonly pool: string; readonly subnet: string }
  /** One for each address. */
  | { readonly kind: 'reserved'; readonly reserved: Reserved }
  | {
      readonly kind: 'unreserved';
      readonly subnet: string;
      readonly address: string;
      readonly reservedFor: string;
    }
  | { readonly kind: 'quarantined' | 'lifted'; readonly subnet: string; readonly address: string };

/** An allocation as a list tells it. */
export function holdingOf(allocation: Allocation): Holding {
  // One that is older is of a Pod of the same name before this one, whose address it took over.
  const bound = allocation.bindings.findLast(({ at }) => Date.parse(at) >= Date.parse(allocation.at));
  return {
    seq: allocation.seq,
    ...attached(allocation.attachment),
    uid: allocation.podUid,
    subnet: allocation.subnet,
    addresses: allocation.addresses,
    mac: allocation.mac,
    interface: bound?.interface ?? allocation.interface,
    node: bound?.node ?? allocation.node,
    owner: allocation.owner,
  };
}

/** An event of a type that is not known here. Who skipped it would go on with a wrong picture, so nobody does. */
export class UnknownEvent extends Error {
  override readonly name = 'UnknownEvent';
}

/**
 * What an event says.
 * @throws UnknownEvent
 */
export function factsOf(event: Event): Fact[] {
  const { addressAllocated: allocated, addressTransferred: transferred, addressReleased: released } = event;
  if (allocated) return [{ kind: 'given', holding: given(event, allocated) }];
  if (transferred)
    return [
      ended(event, { ...transferred, addresses: [] }, transferred.fromUid),
      { kind: 'given', holding: given(event, transferred) },
    ];
  if (released) return [ended(event, released, released.uid)];
  if (event.addressBound) {
    const { alloc, interface: name, node } = event.addressBound;
    return [{ kind: 'bound', seq: alloc, interface: name, node }];
  }
  if (event.subnetConfigured?.spec) {
    const { spec, source } = event.subnetConfigured;
    return [{ kind: 'configured', subnet: { name: event.subnet, spec, source: sourceOf(source) } }];
  }
  if (event.subnetRetired) return [{ kind: 'retired', subnet: event.subnet }];
  if (event.addressUnbound) {
    const { attachment, addresses } = event.addressUnbound;
    const { namespace, pod } = attached(attachment);
    return [{ kind: 'unbound', subnet: event.subnet, namespace, pod, addresses }];
  }
  const unclaimed = withoutPod(event);
  if (unclaimed) return unclaimed;
  if (event.ledgerCreated || event.allocationRefused || isOfTheLedger(event)) return [];
  throw new UnknownEvent(
    `event ${event.seq} is of type ${event.type}, which this pod-watcher does not know: bring it to the allocator's version`,
  );
}

/** Whether it is about the ledger itself, and changes nothing that any Pod has. */
const isOfTheLedger = ({ claimsDropped, segmentSealed, ledgerRestored, keyRotated }: Event): boolean =>
  Boolean(claimsDropped ?? segmentSealed ?? ledgerRestored ?? keyRotated);

/** What an event says of pools, reservations and quarantine; undefined when it is about something else. */
function withoutPod(event: Event): Fact[] | undefined {
  const { subnet, seq, poolConfigured, poolRetired, addressReserved, reservationCancelled } = event;
  if (poolConfigured?.spec) {
    const { pool: name, spec, source } = poolConfigured;
    return [{ kind: 'pool-configured', pool: { name, spec, source: sourceOf(source) } }];
  }
  if (poolRetired) return [{ kind: 'pool-retired', pool: poolRetired.pool, subnet }];
  if (addressReserved) {
    const { addresses, reservedFor, reason, mac } = addressReserved;
    return addresses.map((address) => ({
      kind: 'reserved',
      reserved: { seq, subnet, address, reservedFor, reason, mac },
    }));
  }
  if (reservationCancelled) {
    const { addresses, reservedFor } = reservationCancelled;
    return addresses.map((address) => ({ kind: 'unreserved', subnet, address, reservedFor }));
  }
  if (event.addressQuarantined) return [{ kind: 'quarantined', subnet, address: event.addressQuarantined.address }];
  if (event.quarantineLifted) return [{ kind: 'lifted', subnet, address: event.quarantineLifted.address }];
  return undefined;
}

/** A reservation as a list tells it. */
export function reservedOf({ subnet, address, reservation }: AddressRecord): Reserved {
  if (!reservation) throw new IpledgerError('BUG', `${address} of subnet ${subnet} is listed without reservation`);
  const { seq, reservedFor, reason, mac } = reservation;
  return { seq, subnet, address, reservedFor, reason, mac };
}

/** A source without uid is none: the subnet was configured over gRPC. */
export function sourceOf(source: SourceObject | undefined): SourceObject | undefined {
  return source === undefined || source.uid === '' ? undefined : source;
}

interface Given {
  readonly attachment?: Attachment;
  readonly uid: string;
  readonly owner?: Owner;
  readonly node: string;
  readonly addresses: AssignedAddress[];
  readonly mac: string;
  readonly interface: string;
}

function given({ seq, subnet }: Event, data: Given): Holding {
  const { uid, owner, node, addresses, mac, interface: name } = data;
  return {
    seq,
    ...attached(data.attachment),
    uid,
    subnet,
    addresses,
    mac,
    interface: name,
    node,
    owner,
  };
}

function ended(
  { subnet }: Event,
  { alloc, attachment, addresses }: { alloc: number; attachment?: Attachment; addresses: readonly string[] },
  uid: string,
): Fact {
  const { namespace, pod } = attached(attachment);
  return { kind: 'ended', seq: alloc, subnet, namespace, pod, uid, addresses };
}

function attached(attachment: Attachment | undefined): Pick<Holding, 'namespace' | 'pod' | 'provider' | 'ordinal'> {
  if (!attachment) throw new IpledgerError('BUG', 'an allocation without attachment');
  const { namespace, pod, provider, ordinal } = attachment;
  return { namespace, pod, provider, ordinal };
}

/** Events and records of the ledger, reduced to the fields that pod-watcher uses. */
import { IpledgerError } from '../../../lib/errors.ts';
import { UnknownEvent } from '../../../lib/ledger-client/follow-ledger.ts';
import { recentText, sharedText, SharedValues } from '../shared-values.ts';
import { applyEventTable, type EventTable } from '../../../proto/event-table.ts';
import type {
  AddressRecord,
  Allocation,
  AllocationCause,
  AssignedAddress,
  Attachment,
  Event,
  Owner,
  PoolSpec,
  SourceObject,
  SubnetSpec,
} from '../../../proto/generated/ipledger.ts';
import { keyOf } from '../../../lib/kubernetes/client/informer.ts';
import type { NamespacedName } from '../namespaced-map.ts';

/** The configuration of a subnet in the ledger. */
export interface AppliedSubnet {
  readonly name: string;
  readonly spec: SubnetSpec;
  /** The Kubernetes object that configured the subnet; undefined when an operator did. */
  readonly source: SourceObject | undefined;
}

/** The configuration of a pool in the ledger. */
export interface AppliedPool {
  readonly name: string;
  readonly spec: PoolSpec;
  /** The Kubernetes object that configured the pool; undefined when an operator did. */
  readonly source: SourceObject | undefined;
}

/** A reserved address. */
export interface ReservedAddress {
  /** The sequence number of the event that reserved the address. */
  readonly seq: number;
  readonly subnet: string;
  readonly address: string;
  /** The owner: "pod/<namespace>/<pod>/<provider>", or another one such as "vip/web". */
  readonly reservedFor: string;
  readonly reason: string;
  readonly mac: string;
}

export type LedgerEvent =
  | { readonly kind: 'allocated'; readonly allocation: HeldAllocation }
  | {
      readonly kind: 'released';
      readonly seq: number;
      readonly subnet: string;
      readonly namespace: string;
      readonly pod: string;
      readonly uid: string;
      /** The released addresses; empty after a transfer to another uid. */
      readonly addresses: readonly string[];
      /** The attachment of a living Pod, if another host answered on its address. */
      readonly conflict?: Pick<HeldAllocation, 'provider' | 'ordinal'>;
    }
  | {
      readonly kind: 'bound';
      readonly seq: number;
      readonly namespace: string;
      readonly pod: string;
      readonly interface: string;
      readonly node: string;
    }
  /** Reports an unbound container of this Pod: released addresses may be available. */
  | {
      readonly kind: 'unbound';
      readonly subnet: string;
      readonly namespace: string;
      readonly pod: string;
      readonly addresses: readonly string[];
    }
  | { readonly kind: 'subnet-configured'; readonly subnet: AppliedSubnet }
  | { readonly kind: 'subnet-retired'; readonly subnet: string }
  | { readonly kind: 'pool-configured'; readonly pool: AppliedPool }
  /** Reports that all Pods of the subnet may get the addresses of the pool again. */
  | { readonly kind: 'pool-retired'; readonly pool: string; readonly subnet: string }
  /** Reports one reserved address. */
  | { readonly kind: 'reserved'; readonly reserved: ReservedAddress }
  | {
      readonly kind: 'unreserved';
      readonly subnet: string;
      readonly address: string;
      readonly reservedFor: string;
    }
  | { readonly kind: 'quarantined' | 'unquarantined'; readonly subnet: string; readonly address: string };

/**
 * Converts an allocation that a list returned. Its interface and Node are those of its last
 * binding, also after that binding has ended.
 */
export function heldAllocationOf(allocation: Allocation): HeldAllocation {
  return shareTexts({
    seq: allocation.seq,
    ...attachmentOf(allocation.attachment),
    uid: allocation.podUid,
    subnet: allocation.subnet,
    addresses: allocation.addresses,
    mac: allocation.mac,
    interface: allocation.interface,
    node: allocation.node,
    owner: allocation.owner,
    isStatic: isStatic(allocation.cause),
  });
}

/** Converts an event, to none or several. @throws UnknownEvent */
export function ledgerEventsOf(event: Event): LedgerEvent[] {
  const events = applyEventTable(ledgerEvents, event);
  if (events) return events;
  throw new UnknownEvent(event, 'pod-watcher');
}

const nothing = (): LedgerEvent[] => [];

/** The conversion of each event type to what the pod-watcher acts on. */
const ledgerEvents: EventTable<LedgerEvent[]> = {
  addressAllocated: (allocated, event) => [{ kind: 'allocated', allocation: allocationOf(event, allocated) }],
  addressTransferred: (transferred, event) => [
    releasedEvent(event, { ...transferred, addresses: [] }, transferred.fromUid),
    { kind: 'allocated', allocation: allocationOf(event, transferred) },
  ],
  addressReleased: (released, event) => {
    const { provider, ordinal } = attachmentOf(released.attachment);
    const isConflict = released.cause === 'RELEASE_CAUSE_ADDRESS_CONFLICT';
    const ended = releasedEvent(event, released, released.uid);
    return [isConflict ? { ...ended, conflict: { provider, ordinal } } : ended];
  },
  addressBound: ({ alloc, attachment, interface: name, node }) => {
    const { namespace, pod } = attachmentOf(attachment);
    return [{ kind: 'bound', seq: alloc, namespace, pod, interface: sharedText(name), node: sharedText(node) }];
  },
  addressUnbound: ({ attachment, addresses }, { subnet }) => {
    const { namespace, pod } = attachmentOf(attachment);
    return [{ kind: 'unbound', subnet, namespace, pod, addresses }];
  },
  subnetConfigured: ({ spec, source }, { subnet: name }) => [
    { kind: 'subnet-configured', subnet: { name, spec: present(spec), source: sourceOf(source) } },
  ],
  subnetRetired: (_, { subnet }) => [{ kind: 'subnet-retired', subnet }],
  poolConfigured: ({ pool: name, spec, source }) => [
    { kind: 'pool-configured', pool: { name, spec: present(spec), source: sourceOf(source) } },
  ],
  poolRetired: ({ pool }, { subnet }) => [{ kind: 'pool-retired', pool, subnet }],
  addressReserved: ({ addresses, reservedFor, reason, mac }, { seq, subnet }) =>
    addresses.map((address) => ({ kind: 'reserved', reserved: { seq, subnet, address, reservedFor, reason, mac } })),
  reservationCancelled: ({ addresses, reservedFor }, { subnet }) =>
    addresses.map((address) => ({ kind: 'unreserved', subnet, address, reservedFor })),
  addressQuarantined: ({ address }, { subnet }) => [{ kind: 'quarantined', subnet, address }],
  quarantineLifted: ({ address }, { subnet }) => [{ kind: 'unquarantined', subnet, address }],
  ledgerCreated: nothing,
  allocationRefused: nothing,
  claimsDropped: nothing,
  segmentSealed: nothing,
  historyDropped: nothing,
  ledgerRestored: nothing,
  keyRotated: nothing,
};

/** Converts a reservation that a list returned. */
export function reservedAddressOf({ subnet, address, reservation }: AddressRecord): ReservedAddress {
  if (!reservation) throw new IpledgerError('BUG', `${address} of subnet ${subnet} is listed without reservation`);
  const { seq, reservedFor, reason, mac } = reservation;
  return { seq, subnet, address, reservedFor, reason, mac };
}

/** Returns undefined for a source without uid: an operator configured the subnet or pool. */
export function sourceOf(source: SourceObject | undefined): SourceObject | undefined {
  return source === undefined || source.uid === '' ? undefined : source;
}

interface AllocationData {
  readonly attachment?: Attachment;
  readonly uid: string;
  readonly owner?: Owner;
  readonly node: string;
  readonly addresses: AssignedAddress[];
  readonly mac: string;
  readonly interface: string;
  readonly cause: AllocationCause;
}

const isStatic = (cause: AllocationCause): boolean =>
  cause === 'ALLOCATION_CAUSE_STATIC' || cause === 'ALLOCATION_CAUSE_RESERVATION';

function allocationOf({ seq, subnet }: Event, data: AllocationData): HeldAllocation {
  const { uid, owner, node, addresses, mac, interface: name, cause } = data;
  return shareTexts({
    seq,
    ...attachmentOf(data.attachment),
    uid,
    subnet,
    addresses,
    mac,
    interface: name,
    node,
    owner,
    isStatic: isStatic(cause),
  });
}

const owners = new SharedValues<Owner>();

/** Replaces texts of an allocation with equal texts of its Pod and of other allocations. */
function shareTexts(allocation: HeldAllocation): HeldAllocation {
  const { seq, namespace, pod, uid, provider, ordinal, subnet, addresses, mac, node, owner } = allocation;
  return {
    seq,
    namespace: sharedText(namespace),
    pod: recentText(pod),
    uid: recentText(uid),
    provider: sharedText(provider),
    ordinal,
    subnet: sharedText(subnet),
    addresses: addresses.map(({ address, cidr, gateway }) => {
      return { address: recentText(address), cidr: sharedText(cidr), gateway: sharedText(gateway) };
    }),
    mac: recentText(mac),
    interface: sharedText(allocation.interface),
    node: sharedText(node),
    owner: owner && owners.share(JSON.stringify(owner), owner),
    isStatic: allocation.isStatic,
  };
}

function releasedEvent(
  { subnet }: Event,
  { alloc, attachment, addresses }: { alloc: number; attachment?: Attachment; addresses: readonly string[] },
  uid: string,
): Extract<LedgerEvent, { kind: 'released' }> {
  const { namespace, pod } = attachmentOf(attachment);
  return { kind: 'released', seq: alloc, subnet, namespace, pod, uid, addresses };
}

function attachmentOf(
  attachment: Attachment | undefined,
): Pick<HeldAllocation, 'namespace' | 'pod' | 'provider' | 'ordinal'> {
  if (!attachment) throw new IpledgerError('BUG', 'an allocation without attachment');
  const { namespace, pod, provider, ordinal } = attachment;
  return { namespace, pod, provider, ordinal };
}

function present<Spec>(spec: Spec | undefined): Spec {
  if (spec === undefined) throw new IpledgerError('BUG', 'a configuration without spec');
  return spec;
}

/** An allocation that a Pod holds. */
export interface HeldAllocation {
  /** The sequence number of the event that made the allocation, which identifies it. */
  readonly seq: number;
  readonly namespace: string;
  readonly pod: string;
  /** The uid of the Pod in the ledger. */
  readonly uid: string;
  readonly provider: string;
  readonly ordinal: number;
  readonly subnet: string;
  /** The addresses, IPv4 first. */
  readonly addresses: readonly AssignedAddress[];
  readonly mac: string;
  /** The interface as requested, or as bound; "" while unknown. */
  readonly interface: string;
  /** The Node of the binding, or else of the Pod at the allocation; "" while unknown. */
  readonly node: string;
  /** The controller of the Pod at the allocation; undefined if it had none. */
  readonly owner: Owner | undefined;
  /** Whether the Pod requested these addresses, or they were reserved for it. */
  readonly isStatic: boolean;
}

type PodOfAllocation = Pick<HeldAllocation, 'namespace' | 'pod'>;

/** Returns the name of an allocation's Pod. */
export const podNameOf = ({ namespace, pod }: PodOfAllocation): NamespacedName => ({ namespace, name: pod });

/** Returns the key (`keyOf`) of an allocation's Pod. */
export const podKeyOf = (allocation: PodOfAllocation): string => keyOf(podNameOf(allocation));

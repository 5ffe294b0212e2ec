// Generated from ipledger.proto by generate.ts (make generate). Do not edit.
import { serverStream, unary } from '../codec.ts';

/**
 * Allocations, bindings, reservations and quarantines. Allocate, Release, Attach, Bind and Unbind are idempotent: a repeated request
 * writes nothing, and Allocate, Attach and Bind return the same reply.
 */
export const IpamService = {
  /**
   * Allocates all addresses of a Pod in one transaction, or none.
   * INVALID_ARGUMENT    a malformed request, or an address outside its Subnet
   * NOT_FOUND           an unknown Subnet
   * ALREADY_EXISTS      a requested address or MAC is in use; the message names the holder
   * RESOURCE_EXHAUSTED  the Subnet has no free address, or the namespace has reached its limit in the Subnet
   * FAILED_PRECONDITION the pool is for other namespaces
   * DEADLINE_EXCEEDED   `valid_ms` had passed when the request was decided
   * DATA_LOSS           another program changed the key of the address: it is fenced
   */
  allocate: unary<AllocateRequest, AllocateReply>('/ipledger.v1.Ipam/Allocate', 'AllocateRequest', 'AllocateReply'),
  /**
   * Releases the allocations of a Pod. The request names the Pod's uid, so a late release never frees the address of a newer Pod.
   * A Pod uid without allocations is success.
   * ALREADY_EXISTS      the cause is RELEASE_CAUSE_DETACHED, and a container of the Pod is bound
   */
  release: unary<ReleaseRequest, ReleaseReply>('/ipledger.v1.Ipam/Release', 'ReleaseRequest', 'ReleaseReply'),
  /**
   * Waits at most `timeout_ms` until the allocation of a Pod's attachment exists. The event ends the wait, without polling.
   * FAILED_PRECONDITION  no Subnet serves the provider
   * NOT_FOUND            there was no allocation in time; the message contains the last refusal, if there is one
   */
  wait: unary<WaitRequest, WaitReply>('/ipledger.v1.Ipam/Wait', 'WaitRequest', 'WaitReply'),
  /**
   * Wait, then Bind, in one call: waits at most `timeout_ms` until the allocation exists, and binds it.
   * Fails as Wait and as Bind. After a failure without a reply the container may be bound: Unbind it, or repeat the call.
   */
  attach: unary<AttachRequest, AttachReply>('/ipledger.v1.Ipam/Attach', 'AttachRequest', 'AttachReply'),
  /**
   * Records a CNI ADD: container, interface, node and boot. A bound address is not allocated to another Pod until it is unbound,
   * also after its Pod is deleted. A 17th binding of an address ends the oldest one of the same node.
   * NOT_FOUND           there is no such allocation
   * ALREADY_EXISTS      16 containers on other nodes are bound to the address
   * RESOURCE_EXHAUSTED  the agent is over its rate limit: the call was not executed
   */
  bind: unary<BindRequest, BindReply>('/ipledger.v1.Ipam/Bind', 'BindRequest', 'BindReply'),
  /** Ends the binding of one container, also after the release. An unknown binding is success. */
  unbind: unary<UnbindRequest, UnbindReply>('/ipledger.v1.Ipam/Unbind', 'UnbindRequest', 'UnbindReply'),
  /**
   * Reports that another host answered a probe of an address before the container used it. Quarantines the address, ends the binding
   * and releases the allocation in one transaction. Only the agent of the container's node may call it.
   * NOT_FOUND            the container is not bound to the address on this node
   * FAILED_PRECONDITION  another container is bound to the address, and may have answered
   * RESOURCE_EXHAUSTED   the Subnet already has as many quarantined addresses as probes may cause
   * UNAVAILABLE          the agent has seen an event that the ledger does not have: nothing was changed
   */
  reportConflict: unary<ReportConflictRequest, ReportConflictReply>('/ipledger.v1.Ipam/ReportConflict', 'ReportConflictRequest', 'ReportConflictReply'),
  /** The open bindings, also those of released addresses, in pages. A bound container may answer on the address. */
  listBindings: unary<ListBindingsRequest, ListBindingsReply>('/ipledger.v1.Ipam/ListBindings', 'ListBindingsRequest', 'ListBindingsReply'),
  /**
   * The current state of one address.
   * NOT_FOUND  an unknown Subnet, or an address outside it that was never used
   */
  getAddress: unary<GetAddressRequest, GetAddressReply>('/ipledger.v1.Ipam/GetAddress', 'GetAddressRequest', 'GetAddressReply'),
  /** The current allocations in the order of their events, in pages. A page with a filter may have few items, or none, and a token. */
  listAllocations: unary<ListAllocationsRequest, ListAllocationsReply>('/ipledger.v1.Ipam/ListAllocations', 'ListAllocationsRequest', 'ListAllocationsReply'),
  /**
   * Reserves addresses without a Pod, all or none. A repeated request returns the same reply and writes nothing.
   * NOT_FOUND           an unknown Subnet
   * INVALID_ARGUMENT    an address outside its Subnet
   * ALREADY_EXISTS      the address is in use or reserved for another owner; the message names it
   * RESOURCE_EXHAUSTED  the Subnet has no free address
   */
  reserve: unary<ReserveRequest, ReserveReply>('/ipledger.v1.Ipam/Reserve', 'ReserveRequest', 'ReserveReply'),
  /** Ends a reservation. A Pod that holds the address keeps it. An unknown reservation is success. */
  unreserve: unary<UnreserveRequest, UnreserveReply>('/ipledger.v1.Ipam/Unreserve', 'UnreserveRequest', 'UnreserveReply'),
  /** The current reservations by Subnet and address, in pages. */
  listReservations: unary<ListReservationsRequest, ListReservationsReply>('/ipledger.v1.Ipam/ListReservations', 'ListReservationsRequest', 'ListReservationsReply'),
  /** Takes an address out of use because a foreign host answers on it. A Pod that holds the address keeps it. */
  quarantine: unary<QuarantineRequest, QuarantineReply>('/ipledger.v1.Ipam/Quarantine', 'QuarantineRequest', 'QuarantineReply'),
  /** Ends a quarantine. An address without a quarantine is success. */
  unquarantine: unary<UnquarantineRequest, UnquarantineReply>('/ipledger.v1.Ipam/Unquarantine', 'UnquarantineRequest', 'UnquarantineReply'),
};

/** Subnets and pools. Their configuration is in the same log, in one order with its use. */
export const SubnetsService = {
  /**
   * Creates or changes a Subnet. The reply contains the normalised spec.
   * INVALID_ARGUMENT     an invalid spec; the message names each problem
   * FAILED_PRECONDITION  the change would exclude addresses in use, or overlaps another Subnet of the provider
   */
  applySubnet: unary<ApplySubnetRequest, ApplySubnetReply>('/ipledger.v1.Subnets/ApplySubnet', 'ApplySubnetRequest', 'ApplySubnetReply'),
  /**
   * Retires a Subnet. Its history and cooldowns stay.
   * FAILED_PRECONDITION  Pods hold addresses of it
   */
  deleteSubnet: unary<DeleteSubnetRequest, DeleteSubnetReply>('/ipledger.v1.Subnets/DeleteSubnet', 'DeleteSubnetRequest', 'DeleteSubnetReply'),
  /**
   * One Subnet with its counts.
   * NOT_FOUND  an unknown Subnet
   */
  getSubnet: unary<GetSubnetRequest, GetSubnetReply>('/ipledger.v1.Subnets/GetSubnet', 'GetSubnetRequest', 'GetSubnetReply'),
  /** All Subnets with their counts, by name. */
  listSubnets: unary<ListSubnetsRequest, ListSubnetsReply>('/ipledger.v1.Subnets/ListSubnets', 'ListSubnetsRequest', 'ListSubnetsReply'),
  /**
   * Creates or changes a pool, a named part of a Subnet. Its addresses are allocated only to requests that name the pool or the
   * address. A Pod that holds one keeps it.
   * NOT_FOUND            an unknown Subnet
   * INVALID_ARGUMENT     an invalid spec; the message names each problem
   * FAILED_PRECONDITION  an overlap with another pool of the Subnet, or a pool of another Subnet
   */
  applyPool: unary<ApplyPoolRequest, ApplyPoolReply>('/ipledger.v1.Subnets/ApplyPool', 'ApplyPoolRequest', 'ApplyPoolReply'),
  /** Retires a pool: its addresses belong to the rest of the Subnet again. An unknown pool is success. */
  deletePool: unary<DeletePoolRequest, DeletePoolReply>('/ipledger.v1.Subnets/DeletePool', 'DeletePoolRequest', 'DeletePoolReply'),
  /**
   * One pool with its counts.
   * NOT_FOUND  an unknown pool
   */
  getPool: unary<GetPoolRequest, GetPoolReply>('/ipledger.v1.Subnets/GetPool', 'GetPoolRequest', 'GetPoolReply'),
  /** All pools with their counts, by name. */
  listPools: unary<ListPoolsRequest, ListPoolsReply>('/ipledger.v1.Subnets/ListPools', 'ListPoolsRequest', 'ListPoolsReply'),
};

/** The log of events and its history. Every replica answers. */
export const LedgerService = {
  /**
   * Streams events from a position on, in complete commands, and then new events. An empty reply is a keepalive: the first reply, and
   * then one every few seconds. Its position is the head.
   * OUT_OF_RANGE  `from_seq` is before the first live event
   * DATA_LOSS     an event is missing
   */
  watch: serverStream<WatchRequest, WatchReply>('/ipledger.v1.Ledger/Watch', 'WatchRequest', 'WatchReply'),
  /**
   * The events of one address, Pod, owner, node or Subnet, newest first, in pages. For an address, the allocator follows the `before`
   * links. For all else it scans the log backwards, a part per page; the read model uses its index.
   * NOT_FOUND         the address was never used
   * INVALID_ARGUMENT  more than one subject, or an invalid instant
   */
  history: unary<HistoryRequest, HistoryReply>('/ipledger.v1.Ledger/History', 'HistoryRequest', 'HistoryReply'),
  /**
   * The numbers of the next two events that allocated an address after an instant. Only the read model has this index; an
   * allocator returns none. It proves nothing: read the events at an allocator, from `newest_seq` on.
   */
  nextAllocations: unary<NextAllocationsRequest, NextAllocationsReply>('/ipledger.v1.Ledger/NextAllocations', 'NextAllocationsRequest', 'NextAllocationsReply'),
  /**
   * The address map at a point in time: the Subnets and pools of that time, and every address that was not free. In pages, by Subnet
   * and address. An empty reply is a keepalive while the log is read.
   * OUT_OF_RANGE      the point is after the head, or the log does not reach back to it
   * INVALID_ARGUMENT  the point is invalid or in the future
   * UNAVAILABLE       the replica already runs its maximum of such queries
   */
  stateAt: serverStream<StateAtRequest, StateAtReply>('/ipledger.v1.Ledger/StateAt', 'StateAtRequest', 'StateAtReply'),
  /**
   * The differences between the address maps at two points in time, in pages, by Subnet and address. A change that was undone in
   * between is not in it. Keepalives and errors as StateAt.
   */
  diff: serverStream<DiffRequest, DiffReply>('/ipledger.v1.Ledger/Diff', 'DiffRequest', 'DiffReply'),
  /** The current allocations of a Pod, and the events of all Pods of that name, newest first, in pages. */
  why: unary<WhyRequest, WhyReply>('/ipledger.v1.Ledger/Why', 'WhyRequest', 'WhyReply'),
  /**
   * Verifies the log, and compares every key beside it with a fold of the log, at one revision of etcd.
   * INVALID_ARGUMENT  invalid checkpoints or keys
   * UNAVAILABLE       the replica already runs its maximum of such queries
   */
  verify: serverStream<VerifyRequest, VerifyReply>('/ipledger.v1.Ledger/Verify', 'VerifyRequest', 'VerifyReply'),
  /**
   * The stored events, byte by byte.
   * OUT_OF_RANGE  `from_seq` is before the first live event
   */
  export: serverStream<ExportRequest, ExportReply>('/ipledger.v1.Ledger/Export', 'ExportRequest', 'ExportReply'),
  /**
   * The current head as a signed checkpoint. Keep it outside of etcd.
   * FAILED_PRECONDITION  the allocator has no key
   */
  checkpoint: unary<CheckpointRequest, CheckpointReply>('/ipledger.v1.Ledger/Checkpoint', 'CheckpointRequest', 'CheckpointReply'),
  /**
   * The head, the oldest event that this replica can read, and the freeze if there is one. The ledger is frozen when a client has seen
   * events that it lacks, as after a restore of etcd from a backup. Then every command that allocates or releases fails with DATA_LOSS.
   */
  getStatus: unary<GetStatusRequest, GetStatusReply>('/ipledger.v1.Ledger/GetStatus', 'GetStatusRequest', 'GetStatusReply'),
  /**
   * Continues a rewound ledger: appends LedgerRestored, which begins an epoch. The ledger stays frozen, so that an operator can first
   * import and release what the cluster shows.
   * FAILED_PRECONDITION  the ledger is not frozen, and `freeze_first` is not set
   * OUT_OF_RANGE         another run has restored the ledger since `compared_position`: nothing was changed
   */
  restore: unary<RestoreRequest, RestoreReply>('/ipledger.v1.Ledger/Restore', 'RestoreRequest', 'RestoreReply'),
  /**
   * Ends the freeze.
   * FAILED_PRECONDITION  the ledger was not restored yet
   */
  unfreeze: unary<UnfreezeRequest, UnfreezeReply>('/ipledger.v1.Ledger/Unfreeze', 'UnfreezeRequest', 'UnfreezeReply'),
};

/** What the console shows. Only the read model answers: it has the indexes. */
export const ViewsService = {
  /**
   * The addresses of one family of a Subnet that are not free, now or at an earlier point in time.
   * NOT_FOUND     the Subnet had no such family at that time
   * OUT_OF_RANGE  the read model does not know the point
   */
  mapAddresses: unary<MapAddressesRequest, MapAddressesReply>('/ipledger.v1.Views/MapAddresses', 'MapAddressesRequest', 'MapAddressesReply'),
  /** How many addresses of each Subnet were in use, by hour. */
  listUsage: unary<ListUsageRequest, ListUsageReply>('/ipledger.v1.Views/ListUsage', 'ListUsageRequest', 'ListUsageReply'),
  /** Finds Subnets, addresses, Pods, nodes, owners, MACs and containers by their name or its beginning. */
  search: unary<SearchRequest, SearchReply>('/ipledger.v1.Views/Search', 'SearchRequest', 'SearchReply'),
};

/** A place in the ledger. Two positions of one epoch are compared by seq. */
export interface Position {
  /** The number of restores from a backup, plus 1. */
  epoch: number;
  /** The number of the last included event. The first event is 1. */
  seq: number;
  /** SHA-256 of that event's stored bytes, hexadecimal. */
  hash: string;
  /** ULID, the id of the ledger. Positions of two ledgers are not compared. Absent from an allocator of an earlier version. */
  ledger?: string;
}

/** How fresh a read must be. */
export type Consistency =
  | 'CONSISTENCY_LINEARIZABLE'
  | 'CONSISTENCY_LOCAL';

/** The fields of a Pod that the ledger uses. */
export interface Pod {
  namespace: string;
  name: string;
  /** metadata.uid. For a static Pod: the annotation kubernetes.io/config.hash of its mirror Pod. */
  uid: string;
  /** spec.nodeName; "" before scheduling. */
  node: string;
  /** The controller that owns it; absent for a bare Pod. */
  owner?: Owner;
}

/** The controlling owner of a Pod. */
export interface Owner {
  kind: string;
  name: string;
  uid: string;
}

/** One network attachment of a Pod. It does not include the interface name, which comes from the annotation or from Bind. */
export interface Attachment {
  namespace: string;
  pod: string;
  /** "<NetworkAttachmentDefinition>.<namespace>", with the suffix ".ovn" for Kube-OVN NICs. */
  provider: string;
  /** The number of the attachment among those of this provider, from 0, in the order of the networks annotation. */
  ordinal: number;
}

/** One or two addresses (one of each family) that must be taken together. */
export interface AddressSet {
  addresses: string[];
}

/** A route for the CNI result. An empty `dst` is the default route of the gateway's family. */
export interface Route {
  dst: string;
  gw: string;
}

/** The request for one attachment. */
export interface AttachmentRequest {
  provider: string;
  ordinal: number;
  /** Interface name inside the Pod; "" when Multus numbers it. */
  interface: string;
  /** The Subnets that may serve it, best first. A dynamic address comes from the first one with a free address. */
  subnets: string[];
  /** Empty: any free address. One set: these addresses. Several: the first free set. */
  candidates: AddressSet[];
  /** The pool of the Subnet that serves it; "": the addresses outside of all pools. */
  pool: string;
  /** The requested MAC. "": none; a Kube-OVN NIC (provider "ovn" or "<name>.<namespace>.ovn") then gets a new one. */
  mac: string;
  /** Routes for the CNI result. */
  routes: Route[];
  /** Whether the CNI result makes this the default route. Absent: only when the interface is eth0. */
  defaultRoute?: boolean;
  /** "ipv4" or "ipv6": only that family of a dual-stack Subnet; "": all families of the Subnet. */
  ipFamily: string;
  /**
   * Permits addresses that are reserved for this text ("vip/web"); "" for none. Addresses that are reserved for the attachment itself
   * ("pod/<namespace>/<pod>/<provider>") need no text.
   */
  reservation: string;
}

/** Why an address was allocated. */
export type AllocationCause =
  | 'ALLOCATION_CAUSE_UNSPECIFIED'
  | 'ALLOCATION_CAUSE_DYNAMIC'
  | 'ALLOCATION_CAUSE_STATIC'
  | 'ALLOCATION_CAUSE_POOL'
  | 'ALLOCATION_CAUSE_RESERVATION'
  | 'ALLOCATION_CAUSE_IMPORT';

/** Why an address was released. */
export type ReleaseCause =
  | 'RELEASE_CAUSE_UNSPECIFIED'
  | 'RELEASE_CAUSE_POD_DELETED'
  | 'RELEASE_CAUSE_POD_COMPLETED'
  | 'RELEASE_CAUSE_SCALED_DOWN'
  | 'RELEASE_CAUSE_OWNER_DELETED'
  | 'RELEASE_CAUSE_OPERATOR'
  | 'RELEASE_CAUSE_GARBAGE_COLLECTED'
  | 'RELEASE_CAUSE_DETACHED'
  | 'RELEASE_CAUSE_ADDRESS_CONFLICT';

/** Why a binding ended. */
export type UnbindCause =
  | 'UNBIND_CAUSE_UNSPECIFIED'
  | 'UNBIND_CAUSE_CONTAINER_DELETED'
  | 'UNBIND_CAUSE_GARBAGE_COLLECTED'
  | 'UNBIND_CAUSE_NODE_REBOOTED'
  | 'UNBIND_CAUSE_NODE_DELETED'
  | 'UNBIND_CAUSE_NODE_OUT_OF_SERVICE';

/** One address with the other fields of a CNI result. */
export interface AssignedAddress {
  address: string;
  /** The Subnet's CIDR of that family. */
  cidr: string;
  /** The Subnet's gateway of that family. */
  gateway: string;
}

/** An allocation in use by one container. */
export interface Binding {
  containerId: string;
  interface: string;
  node: string;
  /** proc/sys/kernel/random/boot_id of the node. Bindings of an earlier boot are invalid. */
  bootId: string;
  /** The time of the event. */
  at: string;
}

/** The addresses of an attachment while a Pod holds them. */
export interface Allocation {
  /** The event that made the allocation. */
  seq: number;
  attachment?: Attachment;
  podUid: string;
  owner?: Owner;
  /** The node of the Pod; "" if unknown. */
  node: string;
  subnet: string;
  /** IPv4 first. */
  addresses: AssignedAddress[];
  mac: string;
  interface: string;
  cause: AllocationCause;
  routes: Route[];
  defaultRoute?: boolean;
  /** The time of the event. */
  at: string;
  bindings: Binding[];
  /** The network, in which an address has one holder: the provider, or "switch/<subnet>" for a Kube-OVN NIC. */
  network: string;
}

/** The state of one address. */
export interface AddressRecord {
  subnet: string;
  address: string;
  /**
   * One of: fresh (never used, or idle for so long that nothing is kept of it), allocated, bound, held (released, but a container
   * may still answer on it), cooldown, idle (free again), reserved, quarantined, excluded.
   */
  state: string;
  /** Present while a Pod holds it. */
  allocation?: Allocation;
  /** Containers that may answer on it, also after the release. */
  bindings: Binding[];
  /** The time of the last release; "" for none. */
  releasedAt: string;
  releasedFromUid: string;
  /** The last event about it; 0 for none. */
  lastSeq: number;
  /** When an address in cooldown or a held one can be allocated again; "" otherwise. */
  availableAt: string;
  /** Present while it is reserved, also while a Pod holds it. */
  reservation?: Reservation;
  /** Present while it is quarantined. */
  quarantine?: Quarantine;
  /** The pool that it belongs to; "" for none. */
  pool: string;
}

/** An address that is kept for one owner, with or without a Pod. */
export interface Reservation {
  /** The owner: "pod/<namespace>/<pod>/<provider>", or any text that a request repeats in `reservation`. */
  reservedFor: string;
  reason: string;
  /** The MAC of the reservation; "" for none. */
  mac: string;
  /** The event and its time. */
  seq: number;
  at: string;
}

/** An address on which a foreign host answers. */
export interface Quarantine {
  seenMac: string;
  seenAt: string;
  reason: string;
  /** The event and its time. */
  seq: number;
  at: string;
}

export interface AllocateRequest {
  pod?: Pod;
  /** All or none; 1 to 24. */
  attachments: AttachmentRequest[];
  /**
   * The request is rejected when it is decided later than this after it was sent: no address is allocated for a caller that has given
   * up. It is a duration, because clocks of different machines are never compared. Each replica subtracts the time that the request
   * waited there. The deadline of the call also ends the validity. 0: no limit.
   */
  validMs: number;
  /** Imports allocations of another system: each attachment names its addresses, and the cause is IMPORT. */
  import: boolean;
  /**
   * The client made the request when it had seen this event. The Pod takes nothing from another uid of its name that got an address
   * later, and gets nothing beside it: REQUEST_OUTDATED. An event that the ledger does not have, after a restore: UNAVAILABLE. 0: a late request of an earlier Pod can take over until valid_ms has passed.
   */
  seenSeq: number;
}

export interface AllocateReply {
  position?: Position;
  /** In the order of the request. */
  allocations: Allocation[];
}

export interface ReleaseRequest {
  namespace: string;
  pod: string;
  podUid: string;
  cause: ReleaseCause;
  /** For garbage collection: the evidence that the owner does not exist. */
  evidence: string;
  /** Only this allocation; 0: all allocations of the Pod. */
  allocationSeq: number;
}

export interface ReleaseReply {
  position?: Position;
  /** The number of allocations that this request released. */
  released: number;
}

export interface WaitRequest {
  namespace: string;
  pod: string;
  /** An allocation of another uid does not end the wait. */
  podUid: string;
  provider: string;
  /** The interface of the CNI ADD. */
  interface: string;
  containerId: string;
  /** At most 60,000; 0 means 20,000. */
  timeoutMs: number;
}

export interface WaitReply {
  position?: Position;
  allocation?: Allocation;
  /** Whether the container must probe its addresses before it uses them: the Subnet requests it, and no other container is bound. */
  probeAddresses: boolean;
}

export interface AttachRequest {
  namespace: string;
  pod: string;
  /** An allocation of another uid does not end the wait. */
  podUid: string;
  provider: string;
  containerId: string;
  /** The interface of the CNI ADD. */
  interface: string;
  node: string;
  bootId: string;
  /** At most 60,000; 0 means 20,000. The time of the bind is not included. */
  timeoutMs: number;
}

export interface AttachReply {
  position?: Position;
  allocation?: Allocation;
  /** Whether the container must probe its addresses before it uses them: the Subnet requests it, and no other container is bound. */
  probeAddresses: boolean;
}

export interface BindRequest {
  namespace: string;
  pod: string;
  podUid: string;
  provider: string;
  containerId: string;
  interface: string;
  node: string;
  bootId: string;
}

export interface BindReply {
  position?: Position;
  allocation?: Allocation;
  /** Whether the container must probe its addresses before it uses them: the Subnet requests it, and no other container is bound. */
  probeAddresses: boolean;
}

export interface UnbindRequest {
  namespace: string;
  pod: string;
  provider: string;
  containerId: string;
  interface: string;
  /** Default: the container was deleted. */
  cause: UnbindCause;
  /** For garbage collection: the evidence that the container does not exist. */
  evidence: string;
}

export interface UnbindReply {
  position?: Position;
  /** The number of bindings that this request ended. */
  unbound: number;
}

export interface ReportConflictRequest {
  namespace: string;
  pod: string;
  podUid: string;
  provider: string;
  /** The container that is bound to the address. */
  containerId: string;
  interface: string;
  node: string;
  /** The address that was probed. */
  address: string;
  /** The MAC of the host that answered. */
  seenMac: string;
  /** The latest event that the agent has seen. One that the ledger does not have, after a restore: UNAVAILABLE. 0: not compared. */
  seenSeq: number;
}

export interface ReportConflictReply {
  position?: Position;
}

export interface ListBindingsRequest {
  /** "" matches every node. */
  node: string;
  /** At most 250; 0 means 250. */
  pageSize: number;
  /** The token of the page before; "" for the first page. */
  pageToken: string;
  minSeq: number;
  consistency: Consistency;
}

export interface ListBindingsReply {
  position?: Position;
  /** By node, allocation, container and interface. */
  bindings: SandboxBinding[];
  /** "" on the last page. */
  nextPageToken: string;
}

/** A binding with its attachment and addresses. */
export interface SandboxBinding {
  attachment?: Attachment;
  subnet: string;
  addresses: string[];
  binding?: Binding;
  /** The event that allocated the address to the Pod of this container. A current allocation with another seq belongs to another Pod. */
  allocationSeq: number;
}

export interface GetAddressRequest {
  subnet: string;
  address: string;
  minSeq: number;
  consistency: Consistency;
}

export interface GetAddressReply {
  position?: Position;
  record?: AddressRecord;
}

export interface ListAllocationsRequest {
  /** All of these must match; "" matches everything. */
  subnet: string;
  namespace: string;
  pod: string;
  node: string;
  /** At most 250; 0 means 250. */
  pageSize: number;
  /** The token of the page before; "" for the first page. */
  pageToken: string;
  minSeq: number;
  consistency: Consistency;
}

export interface ListAllocationsReply {
  position?: Position;
  allocations: Allocation[];
  /** "" on the last page. */
  nextPageToken: string;
}

export interface ReserveRequest {
  subnet: string;
  /** One or two addresses, one of each family. Empty: any free address of each family of the Subnet. */
  addresses: string[];
  /** The owner: "pod/<namespace>/<pod>/<provider>", or any text that describes the purpose ("vip/web"). */
  reservedFor: string;
  reason: string;
  /** The MAC of the reservation; "" for none. */
  mac: string;
  /** Without addresses: only this family, "ipv4" or "ipv6"; "": all families of the Subnet. */
  ipFamily: string;
}

export interface ReserveReply {
  position?: Position;
  /** IPv4 first. */
  records: AddressRecord[];
}

export interface UnreserveRequest {
  subnet: string;
  /** Empty: all addresses of the Subnet that are reserved for the owner. */
  addresses: string[];
  /** Only a reservation for this owner; "": for any owner. */
  reservedFor: string;
  reason: string;
}

export interface UnreserveReply {
  position?: Position;
}

export interface ListReservationsRequest {
  /** Both must match; "" matches everything. */
  subnet: string;
  reservedFor: string;
  /** At most 250; 0 means 250. */
  pageSize: number;
  /** The token of the page before; "" for the first page. */
  pageToken: string;
  minSeq: number;
  consistency: Consistency;
}

export interface ListReservationsReply {
  position?: Position;
  records: AddressRecord[];
  /** "" on the last page. */
  nextPageToken: string;
}

export interface QuarantineRequest {
  subnet: string;
  address: string;
  /** The MAC that answers on it, and where it was seen. */
  seenMac: string;
  seenAt: string;
  reason: string;
}

export interface QuarantineReply {
  position?: Position;
}

export interface UnquarantineRequest {
  subnet: string;
  address: string;
  reason: string;
}

export interface UnquarantineReply {
  position?: Position;
}

/** The spec of a Subnet, as written by its owner and in normalised form. */
export interface SubnetSpec {
  /** "v4", "v6" or "v4,v6". Normalised: host bits cleared. */
  cidrBlock: string;
  /** In the same form. Normalised: by default the first usable address. */
  gateway: string;
  /** "address" or "first..last"; both families mixed. Normalised: merged, sorted, with the gateways. */
  excludeIps: string[];
  /** The attachments that it serves: "<NetworkAttachmentDefinition>.<namespace>[.ovn]", or "ovn". */
  provider: string;
  /** IPv4, IPv6 or Dual, derived from cidr_block. */
  protocol: string;
  /** The time after its release in which an address is not allocated again. Absent: 60,000. */
  cooldownMs?: number;
  /**
   * The time after which a released address with an open binding can be allocated again. Absent: never,
   * which is stored as 31,536,000,000,000.
   */
  bindingTimeoutMs?: number;
  /** The number of its addresses that the Pods of one namespace may hold; both families count. Absent: no limit. */
  maxAddressesPerNamespace?: number;
  /** Whether agents probe an address (ARP, neighbour discovery) before a container uses it. Absent: no. */
  probeAddresses?: boolean;
}

/** The object that contains the spec. */
export interface SourceObject {
  uid: string;
  generation: number;
}

/** Counts and ranges of one family of a Subnet. */
export interface Usage {
  /** 4 or 6. */
  family: number;
  /** Addresses that can be allocated: usable hosts without excludes. */
  total: string;
  /** Addresses that a Pod holds, or that are reserved. */
  inUse: string;
  /** total minus in_use. An address in cooldown or with an open binding counts as available. */
  available: string;
  /** "a-b" or "a", sorted, joined with commas. */
  inUseRange: string;
  availableRange: string;
  /** The available addresses that are not fresh: released (in cooldown, held or idle) or quarantined. */
  cooldown: string;
  /** The addresses in use that are reserved, without a Pod and not quarantined, and their ranges. */
  reserved: string;
  reservedRange: string;
  /**
   * The addresses that can be allocated now: the available ones that are not quarantined, in cooldown, or held for a container.
   * "" in a state of the past, and from an allocator that does not count them.
   */
  free: string;
  /** The available addresses that are quarantined, and their ranges. "" from an allocator that does not count them. */
  quarantined: string;
  quarantinedRange: string;
}

export interface Subnet {
  name: string;
  spec?: SubnetSpec;
  source?: SourceObject;
  usage: Usage[];
  /**
   * Addresses whose key another program changed, as far as this replica has detected it. The allocator makes no decision about them. A
   * writer detects it when it changes the key itself.
   */
  fenced: string[];
}

export interface ApplySubnetRequest {
  name: string;
  spec?: SubnetSpec;
  source?: SourceObject;
}

export interface ApplySubnetReply {
  position?: Position;
  subnet?: Subnet;
}

export interface DeleteSubnetRequest {
  name: string;
}

export interface DeleteSubnetReply {
  position?: Position;
}

export interface GetSubnetRequest {
  name: string;
  minSeq: number;
  consistency: Consistency;
}

export interface GetSubnetReply {
  position?: Position;
  subnet?: Subnet;
}

export interface ListSubnetsRequest {
  minSeq: number;
  consistency: Consistency;
}

export interface ListSubnetsReply {
  position?: Position;
  subnets: Subnet[];
}

/** The spec of a pool, a named part of a Subnet. */
export interface PoolSpec {
  subnet: string;
  /** "address", "first..last" or a CIDR. Normalised: merged and sorted, as "address" and "first..last". */
  ips: string[];
  /** The namespaces whose Pods may use it, and use it by default. Empty: every Pod that names it. */
  namespaces: string[];
}

export interface Pool {
  name: string;
  spec?: PoolSpec;
  source?: SourceObject;
  usage: Usage[];
}

export interface ApplyPoolRequest {
  name: string;
  spec?: PoolSpec;
  source?: SourceObject;
}

export interface ApplyPoolReply {
  position?: Position;
  pool?: Pool;
}

export interface DeletePoolRequest {
  name: string;
}

export interface DeletePoolReply {
  position?: Position;
}

export interface GetPoolRequest {
  name: string;
  minSeq: number;
  consistency: Consistency;
}

export interface GetPoolReply {
  position?: Position;
  pool?: Pool;
}

export interface ListPoolsRequest {
  minSeq: number;
  consistency: Consistency;
}

export interface ListPoolsReply {
  position?: Position;
  pools: Pool[];
}

/** One event. `stored` is the original; the other fields are parsed from it and upcast to the newest schema version. */
export interface Event {
  seq: number;
  /** ULID of the event. */
  id: string;
  /** ULID of its command. The events of a command are applied together. */
  command: string;
  /** It is event `part` of the `parts` events of its command. */
  part: number;
  parts: number;
  /** The stored name of its type: "AddressAllocated". */
  type: string;
  subnet: string;
  at: string;
  /** The authenticated identity of the caller. */
  actor: string;
  /** One entry for each address of the event. */
  before: EventBefore[];
  /** SHA-256 of the event before it. */
  prev: string;
  /** SHA-256 of `stored`. */
  hash: string;
  /** The exact line of JSON as stored in etcd. */
  stored: string;
  ledgerCreated?: LedgerCreated;
  subnetConfigured?: SubnetConfigured;
  subnetRetired?: SubnetRetired;
  addressAllocated?: AddressAllocated;
  allocationRefused?: AllocationRefused;
  addressBound?: AddressBound;
  addressUnbound?: AddressUnbound;
  addressTransferred?: AddressTransferred;
  addressReleased?: AddressReleased;
  poolConfigured?: PoolConfigured;
  poolRetired?: PoolRetired;
  addressReserved?: AddressReserved;
  reservationCancelled?: ReservationCancelled;
  addressQuarantined?: AddressQuarantined;
  quarantineLifted?: QuarantineLifted;
  segmentSealed?: SegmentSealed;
  ledgerRestored?: LedgerRestored;
  keyRotated?: KeyRotated;
  claimsDropped?: ClaimsDropped;
  historyDropped?: HistoryDropped;
}

/** The event before an event in the history of one address. */
export interface EventBefore {
  address: string;
  /** 0: the address was never used before, or its claim was dropped (ClaimsDropped). */
  seq: number;
}

/** The first event of every ledger. */
export interface LedgerCreated {
  /** ULID, the id of the ledger. */
  ledger: string;
}

export interface SubnetConfigured {
  spec?: SubnetSpec;
  source?: SourceObject;
}

export interface SubnetRetired {
}

export interface AddressAllocated {
  attachment?: Attachment;
  uid: string;
  owner?: Owner;
  node: string;
  addresses: AssignedAddress[];
  mac: string;
  interface: string;
  cause: AllocationCause;
  routes: Route[];
  defaultRoute?: boolean;
  /** The uid of the earlier Pod of the same name whose addresses the same command released; "" for none. */
  supersedes: string;
}

/** The event is of the requested Subnet; of none, if the request named several. */
export interface AllocationRefused {
  attachment?: Attachment;
  uid: string;
  /** The error code, for example "SUBNET_FULL". */
  reason: string;
  message: string;
}

export interface AddressBound {
  /** The seq of the allocation. */
  alloc: number;
  attachment?: Attachment;
  uid: string;
  addresses: string[];
  containerId: string;
  interface: string;
  node: string;
  bootId: string;
}

export interface AddressUnbound {
  attachment?: Attachment;
  addresses: string[];
  containerId: string;
  interface: string;
  cause: UnbindCause;
  /** For garbage collection: the evidence that the container does not exist. Otherwise "". */
  evidence: string;
}

export interface AddressTransferred {
  /** The seq of the old allocation. The seq of this event is that of the new one. */
  alloc: number;
  attachment?: Attachment;
  fromUid: string;
  uid: string;
  owner?: Owner;
  node: string;
  addresses: AssignedAddress[];
  mac: string;
  interface: string;
  cause: AllocationCause;
  routes: Route[];
  defaultRoute?: boolean;
  /** Pod `from_uid` has ended: it gets no address again. */
  ended: boolean;
}

export interface AddressReleased {
  /** The seq of the allocation. */
  alloc: number;
  attachment?: Attachment;
  uid: string;
  addresses: string[];
  cause: ReleaseCause;
  evidence: string;
  /** The Pod has ended: its uid gets no address again. */
  ended: boolean;
}

export interface PoolConfigured {
  pool: string;
  spec?: PoolSpec;
  source?: SourceObject;
}

export interface PoolRetired {
  pool: string;
}

export interface AddressReserved {
  addresses: string[];
  reservedFor: string;
  reason: string;
  mac: string;
}

export interface ReservationCancelled {
  addresses: string[];
  reservedFor: string;
  reason: string;
}

export interface AddressQuarantined {
  address: string;
  seenMac: string;
  seenAt: string;
  reason: string;
}

export interface QuarantineLifted {
  address: string;
  reason: string;
}

/**
 * The claims of these addresses were dropped: they were idle for long. Their history stays in the log, and `before` of this event
 * links to it.
 */
export interface ClaimsDropped {
  addresses: string[];
  /** The earlier events of this type in the same Subnet, newest first, at most 64. */
  previous: number[];
}

/** A range of the log is in the archive, and will be deleted from etcd. */
export interface SegmentSealed {
  /** Its first and last event. */
  from: number;
  to: number;
  /** Their times. */
  since: string;
  until: string;
  /** SHA-256 of its last event's line. */
  hash: string;
  /** SHA-256 of its manifest. The manifest lists the files of the segment in the archive. */
  manifest: string;
  /** The archive: "folder /var/lib/ipledger", "s3 https://host/bucket/prefix". */
  archive: string;
  /** Absent before event version 7: the size is not recorded, and the segment has an end state. */
  files?: SegmentFiles;
}

/** The files of a segment in the archive. */
export interface SegmentFiles {
  /** The sum of their sizes. */
  bytes: number;
  /** Whether the state at its end is one of them: a query of the past can begin there. */
  hasEndState: boolean;
}

/** The oldest sealed events are no longer in the archive, so that it keeps its limit. The state after the last of them stays. */
export interface HistoryDropped {
  /** The last dropped event, its time, and SHA-256 of its line. */
  to: number;
  until: string;
  hash: string;
  reason: string;
}

/** etcd was restored from a backup: acknowledged events are lost, and an operator continued the ledger without them. */
export interface LedgerRestored {
  /** The new epoch. It begins with this event. */
  epoch: number;
  /** The head when the ledger was frozen. Events between it and this event were written after the freeze. */
  seq: number;
  hash: string;
  /** The last event of the earlier epoch that a client has seen; 0: none. */
  lostSeq: number;
  reason: string;
}

/** Checkpoints after this event are signed with another key. */
export interface KeyRotated {
  /** The new public key, Ed25519, base64. */
  publicKey: string;
  keyId: string;
  /** The earlier key; "" for the first. */
  previousKeyId: string;
  /** Signature of the new public key by the earlier key, base64; "" for the first. */
  signature: string;
}

export interface WatchRequest {
  /** The first event to stream; 0: new events only. */
  fromSeq: number;
  /** All filters must match; "" matches everything. Only events of this Subnet. */
  subnet: string;
  /** Only events of Pods in this namespace, and of this name. */
  namespace: string;
  pod: string;
  /** Only allocations to Pods on this node, and bindings there with their ends. */
  node: string;
  /** Only events of this address. */
  address: string;
  /** Only events of these types ("AddressAllocated"); empty: all types. An unknown type is rejected. */
  types: string[];
  /**
   * The last event that the caller has seen, before `from_seq`. If the ledger does not contain it, the call fails with DATA_LOSS and
   * freezes the ledger. After a recovery it fails with OUT_OF_RANGE: start again with a new snapshot.
   */
  after?: Position;
}

export interface WatchReply {
  /**
   * The position after the events of this reply, including filtered ones: a client that continues there misses nothing. An empty first
   * reply of a stream contains the head of the ledger; the events up to there follow.
   */
  position?: Position;
  events: Event[];
}

export interface GetStatusRequest {
}

export interface GetStatusReply {
  position?: Position;
  /** ULID, the id of the ledger. */
  ledger: string;
  /** The time of the last event. */
  at: string;
  /** The oldest readable event and its time. */
  oldestSeq: number;
  oldestAt: string;
  /** The first event in etcd. Events before it are sealed. */
  logStartSeq: number;
  /** Present while the ledger is frozen. */
  freeze?: Freeze;
  /** The time that the next event would get; RFC 3339. */
  ledgerTime: string;
  /** Present while no address can be allocated or released, on every replica. */
  cannotWrite?: WriteObstacle;
  /** How much of etcd is in use. Absent in the first second of a replica. */
  storage?: StorageUse;
  /** The event with which the history begins: older ones were dropped. It is readable unless the archive is not available. */
  historyStartSeq: number;
  /** The identity of the caller, which events of its commands name as `actor`. */
  caller: string;
}

/** How much of its quota etcd's database uses. */
export interface StorageUse {
  usedBytes: number;
  /** The setting --etcd-quota of the allocator. At its quota etcd rejects all writes. */
  quotaBytes: number;
  /**
   * Whole days until the quota is in use, at the growth of the last day. Absent while the size does not grow, and for the first hours of
   * a replica.
   */
  daysLeft?: number;
}

/** Why nothing can be written to the ledger. */
export interface WriteObstacle {
  /** "etcd-corrupt", "etcd-full", "etcd-nearly-full", "no-writer", "frozen". */
  reason: string;
  /** What is wrong, and what to do. */
  message: string;
  /** When it began, as far as this replica knows; RFC 3339. */
  since: string;
}

/** The position that a client has seen, and that the ledger lacks. */
export interface Freeze {
  known?: Position;
  /** The client, and the time of its report. */
  reportedBy: string;
  reportedAt: string;
  /** The head of the ledger at that time, and the time of that event. Events after it were written during the freeze. */
  head?: Position;
  headAt: string;
}

export interface RestoreRequest {
  reason: string;
  /** Freezes a ledger that no client has reported as rewound, on the decision of the operator. */
  freezeFirst: boolean;
  /**
   * The position of the ledger that was compared with the cluster. Of several runs that compared the same epoch, one begins the next
   * epoch. After an interrupted run, the next one compares the ledger in the new epoch and continues in it.
   */
  comparedPosition?: Position;
}

export interface RestoreReply {
  /** In the new epoch. */
  position?: Position;
}

export interface UnfreezeRequest {
}

export interface UnfreezeReply {
  position?: Position;
}

/** One subject: an address, a Pod name, an owner or a node. Without a subject: all events, or those of a Subnet. */
export interface HistoryRequest {
  address: string;
  /** Only events of this Subnet; "": all events. */
  subnet: string;
  /** At most 1,000; 0 means 100. */
  pageSize: number;
  /** The token of the page before, for the same request; "" for the first page. */
  pageToken: string;
  /** All Pods of this name, with any uid. Set both or neither. `owner` also accepts a namespace. */
  namespace: string;
  pod: string;
  /**
   * Allocations, bindings and releases of the Pods of this controller; "" matches everything. Refusals contain no owner, so they do
   * not match.
   */
  owner?: Owner;
  /** Allocations to Pods on this node, and bindings there with their ends. Refusals contain no node, so they do not match. */
  node: string;
  /** Only events at this instant or later; "": from the first event on. */
  since: string;
  /** Only events before this instant; "": up to now. */
  until: string;
  /** Of an address in `subnet`: the first page begins with this event, which is one of that address; 0: with the newest. */
  newestSeq: number;
}

export interface NextAllocationsRequest {
  address: string;
  subnet: string;
  /** RFC 3339. */
  after: string;
}

export interface NextAllocationsReply {
  /** Of events of type AddressAllocated, oldest first; at most two. */
  seqs: number[];
}

export interface HistoryReply {
  position?: Position;
  /** Newest first. A page may have fewer events than `page_size`, or none, and not be the last. */
  events: Event[];
  /** "" on the last page. */
  nextPageToken: string;
  /** The search reached this event: all matching events from it on are on this page or an earlier one. */
  searchedDownToSeq: number;
  /** For an address, on the first page: the Subnets of its events. */
  subnets: string[];
}

/** A past state of the ledger. Set one of the fields, or none for the present. */
export interface PointInTime {
  /** After this event and all others of its command. */
  seq: number;
  /** After all events up to this instant. */
  at: string;
}

export interface StateAtRequest {
  pointInTime?: PointInTime;
  /** "" for all. */
  subnet: string;
}

export interface StateAtReply {
  /** The last included event, the same in every reply. */
  position?: Position;
  /** The time of that event; "" before the first one. */
  at: string;
  /** The Subnets and pools of that time, by name; on the first page only. */
  subnets: Subnet[];
  pools: Pool[];
  /** Addresses that a Pod holds, that have an open binding, or that are reserved or quarantined. */
  records: AddressRecord[];
}

export interface DiffRequest {
  from?: PointInTime;
  /** Not before `from`. */
  to?: PointInTime;
  /** "" for all. */
  subnet: string;
}

export interface DiffReply {
  /** The two points as positions, the same in every reply. */
  from?: Position;
  to?: Position;
  /** The times of these events; "" before the first one. */
  fromAt: string;
  toAt: string;
  /** Configured, changed or retired, by name; on the first page only. */
  subnets: SubnetChange[];
  pools: PoolChange[];
  addresses: AddressChange[];
}

/** The spec of a Subnet at two points in time; absent where it did not exist. */
export interface SubnetChange {
  name: string;
  before?: SubnetSpec;
  after?: SubnetSpec;
}

/** The spec of a pool at two points in time; absent where it did not exist. */
export interface PoolChange {
  name: string;
  before?: PoolSpec;
  after?: PoolSpec;
}

/** The state of an address at two points in time. */
export interface AddressChange {
  before?: AddressRecord;
  after?: AddressRecord;
}

export interface WhyRequest {
  namespace: string;
  pod: string;
  /** At most 1,000; 0 means 100. */
  pageSize: number;
  /** The token of the page before; "" for the first page. */
  pageToken: string;
}

export interface WhyReply {
  position?: Position;
  /** The current allocations of the Pod, oldest first. */
  allocations: Allocation[];
  /** The events of the Pod, as in History. */
  events: Event[];
  /** "" on the last page. */
  nextPageToken: string;
  searchedDownToSeq: number;
}

export interface VerifyRequest {
  /** The signed checkpoints to compare with, concatenated; "" for none. With verifier_keys, "" is a finding: nothing was compared. */
  checkpoints: string;
  /** The trusted verifier keys, "<name>+<key id>+<base64>". Keys that they were rotated to are trusted, too. */
  verifierKeys: string[];
}

export interface VerifyReply {
  /** The log is verified up to here. */
  position?: Position;
  /** This is the last reply, with the result. */
  done: boolean;
  /** The number of keys beside the log that were compared; absent if the log itself is damaged. */
  comparedKeys?: number;
  /** At most 100. Empty: the ledger is correct. */
  findings: Finding[];
  /** The last event that was dropped, and its time: the verification began with the state after it. Absent if no event was dropped. */
  droppedSeq?: number;
  droppedUntil?: string;
}

/** One problem that verification found. */
export interface Finding {
  /** The key in etcd. */
  key: string;
  /** The problem, a sentence. */
  what: string;
  /**
   * The value that the key should have according to the log: write it to repair the key. "" for the log and its head, which only a
   * backup can restore, and for a key that should not exist.
   */
  expected: string;
}

export interface ExportRequest {
  /** First and last event; 0: the first and the last event of the log. */
  fromSeq: number;
  toSeq: number;
}

export interface ExportReply {
  /** The position after the last of these lines. */
  position?: Position;
  /** Exact stored lines, without newlines. Empty: a keepalive. */
  lines: string[];
}

export interface CheckpointRequest {
}

export interface CheckpointReply {
  position?: Position;
  /** A signed note (c2sp.org/signed-note): ledger, events, hash, epoch and time. */
  note: string;
  /** The key to verify it with, "<name>+<key id>+<base64>". */
  verifierKey: string;
}

/** What an address is on the map of its Subnet. */
export type MapState =
  | 'MAP_STATE_FREE'
  | 'MAP_STATE_ALLOCATED'
  | 'MAP_STATE_BOUND'
  | 'MAP_STATE_RESTING'
  | 'MAP_STATE_RESERVED'
  | 'MAP_STATE_QUARANTINED';

/** An event and its time. */
export interface Moment {
  seq: number;
  at: string;
}

export interface MapAddressesRequest {
  subnet: string;
  /** 4 or 6. */
  family: number;
  pointInTime?: PointInTime;
  /** `previous` and `next` are events of this address; "": of the Subnet. */
  address: string;
  /** Without the addresses and their states. */
  onlyMoments: boolean;
}

export interface MapAddressesReply {
  position?: Position;
  /** The last included event. Cooldowns are computed for its `at`; for the present, for the current time. */
  moment?: Moment;
  /** The spec of that time. */
  spec?: SubnetSpec;
  /** The addresses in their order, as numbers (IPv4) or canonical text (IPv6), and the state of each. Without free ones. */
  ipv4: number[];
  ipv6: string[];
  states: MapState[];
  /** The events before and after the moment; absent at the ends. */
  previous?: Moment;
  next?: Moment;
  /** The event that configured the Subnet first, and the last event of the ledger. */
  first?: Moment;
  last?: Moment;
}

export interface ListUsageRequest {
  /** "" for all Subnets. */
  subnet: string;
  /** From this many hours ago on; at most 2,400. */
  hours: number;
}

export interface ListUsageReply {
  position?: Position;
  usage: SubnetUsage[];
  /** The addresses that are quarantined now, of the requested Subnets; at most 100. */
  quarantined: QuarantinedAddress[];
}

export interface QuarantinedAddress {
  subnet: string;
  address: string;
  /** The last event that changed the address. */
  seq: number;
}

/** The addresses of one family of a Subnet in use: held by a Pod, or reserved. */
export interface SubnetUsage {
  subnet: string;
  /** 4 or 6. */
  family: number;
  /**
   * Hours since 1970, ascending, each with the number of addresses in use at its end. Hours without a change are left out. The first
   * one may be before the requested hours: the number with which they begin.
   */
  hours: number[];
  inUse: number[];
}

export interface SearchRequest {
  /** A whole address, MAC or container id (also its first 12 digits), or the beginning of another name. */
  text: string;
}

export interface SearchReply {
  position?: Position;
  /** At most 50. */
  hits: SearchHit[];
}

/** A thing that has the name. Empty fields do not apply to it. */
export interface SearchHit {
  /** "subnet", "address", "pod", "node", "owner", "mac", "container". */
  kind: string;
  subnet: string;
  address: string;
  namespace: string;
  /** The name of the Subnet, Pod, node or owner, the MAC, or the container id. */
  name: string;
  /** The kind of an owner. */
  ownerKind: string;
  /** The newest event about it; 0 if the index has none. */
  seq: number;
}

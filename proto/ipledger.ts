// Generated from ipledger.proto by generate.ts (make generate). Do not edit.
import { serverStream, unary } from './codec.ts';

/**
 * Who holds which address. Allocate, Release, Bind and Unbind are idempotent: the same request again writes nothing, and
 * Allocate and Bind answer as before.
 */
export const IpamService = {
  /**
   * Takes all addresses of a Pod in one transaction, or none.
   * INVALID_ARGUMENT    a malformed request, or an address outside its subnet
   * NOT_FOUND           a subnet that is not configured
   * ALREADY_EXISTS      an asked-for address (or MAC) is held; the message names the holder
   * RESOURCE_EXHAUSTED  no free address in the subnet, or the Pod's namespace holds as many as the subnet allows
   * FAILED_PRECONDITION the pool is for other namespaces than the Pod's
   * DEADLINE_EXCEEDED   `valid_ms` had passed when the request was decided
   * DATA_LOSS           the address's key was changed by something else than ipledger, and is fenced
   */
  allocate: unary<AllocateRequest, AllocateReply>('/ipledger.v1.Ipam/Allocate', 'AllocateRequest', 'AllocateReply'),
  /**
   * Gives back what a Pod holds. Conditional: it names the Pod's uid, so a late release never frees a newer owner.
   * A Pod uid that holds nothing (never did, or was superseded) is success.
   */
  release: unary<ReleaseRequest, ReleaseReply>('/ipledger.v1.Ipam/Release', 'ReleaseRequest', 'ReleaseReply'),
  /**
   * Waits until the allocation for a Pod's attachment exists, at most `timeout_ms`. Woken by the event, without polling.
   * FAILED_PRECONDITION  no Subnet has that provider
   * NOT_FOUND            nothing was allocated in time; the message says why, as far as the ledger knows
   */
  wait: unary<WaitRequest, WaitReply>('/ipledger.v1.Ipam/Wait', 'WaitRequest', 'WaitReply'),
  /**
   * Records that a CNI ADD happens: container, interface, node and boot. An address that is bound is given to nobody else
   * even when its Pod is gone, until it is unbound. A 17th binding of an address ends the oldest of the same node.
   * NOT_FOUND           there is no such allocation (any more)
   * ALREADY_EXISTS      16 containers on other nodes are bound to the address
   * RESOURCE_EXHAUSTED  the agent sends more than its rate: nothing was done
   */
  bind: unary<BindRequest, BindReply>('/ipledger.v1.Ipam/Bind', 'BindRequest', 'BindReply'),
  /** Ends one container's binding; also late, also after release. An unknown binding is success. */
  unbind: unary<UnbindRequest, UnbindReply>('/ipledger.v1.Ipam/Unbind', 'UnbindRequest', 'UnbindReply'),
  /** The bindings in force, also those of addresses that were released meanwhile, in pages: who may answer on what. */
  listBindings: unary<ListBindingsRequest, ListBindingsReply>('/ipledger.v1.Ipam/ListBindings', 'ListBindingsRequest', 'ListBindingsReply'),
  /**
   * What is known of one address now.
   * NOT_FOUND  the subnet is unknown, or the address is outside it and was never used
   */
  get: unary<GetRequest, GetReply>('/ipledger.v1.Ipam/Get', 'GetRequest', 'GetReply'),
  /** The allocations in force, in the order in which they were given, in pages. */
  list: unary<ListRequest, ListReply>('/ipledger.v1.Ipam/List', 'ListRequest', 'ListReply'),
  /**
   * Holds addresses without a Pod, all or none. Asking again for the same holder gives the same answer and writes nothing.
   * NOT_FOUND           a subnet that is not configured
   * INVALID_ARGUMENT    an address outside its subnet
   * ALREADY_EXISTS      the address is held by somebody else, or reserved for something else; the message names it
   * RESOURCE_EXHAUSTED  no free address in the subnet
   */
  reserve: unary<ReserveRequest, ReserveReply>('/ipledger.v1.Ipam/Reserve', 'ReserveRequest', 'ReserveReply'),
  /** Ends a reservation; who holds the address keeps it. One that is unknown is success. */
  unreserve: unary<UnreserveRequest, UnreserveReply>('/ipledger.v1.Ipam/Unreserve', 'UnreserveRequest', 'UnreserveReply'),
  /** What is reserved now, by subnet and address, in pages. */
  listReservations: unary<ListReservationsRequest, ListReservationsReply>('/ipledger.v1.Ipam/ListReservations', 'ListReservationsRequest', 'ListReservationsReply'),
  /** Takes an address out of use because somebody outside answers on it. Who holds it keeps it. */
  quarantine: unary<QuarantineRequest, QuarantineReply>('/ipledger.v1.Ipam/Quarantine', 'QuarantineRequest', 'QuarantineReply'),
  /** Ends a quarantine. None is success. */
  lift: unary<LiftRequest, LiftReply>('/ipledger.v1.Ipam/Lift', 'LiftRequest', 'LiftReply'),
};

/** Configuration, in the same log and the same order as its use. */
export const SubnetsService = {
  /**
   * Configures a subnet, or changes it. The reply holds the spec as normalised.
   * INVALID_ARGUMENT     the spec breaks a rule; the message names each
   * FAILED_PRECONDITION  the change would strand addresses in use, or overlaps another subnet of the provider
   */
  applySubnet: unary<ApplySubnetRequest, ApplySubnetReply>('/ipledger.v1.Subnets/ApplySubnet', 'ApplySubnetRequest', 'ApplySubnetReply'),
  /**
   * Retires a subnet. Its history and cooldowns stay.
   * FAILED_PRECONDITION  addresses of it are held
   */
  deleteSubnet: unary<DeleteSubnetRequest, DeleteSubnetReply>('/ipledger.v1.Subnets/DeleteSubnet', 'DeleteSubnetRequest', 'DeleteSubnetReply'),
  /**
   * One subnet with its counts.
   * NOT_FOUND  no such subnet
   */
  getSubnet: unary<GetSubnetRequest, GetSubnetReply>('/ipledger.v1.Subnets/GetSubnet', 'GetSubnetRequest', 'GetSubnetReply'),
  /** All subnets with their counts, by name. */
  listSubnets: unary<ListSubnetsRequest, ListSubnetsReply>('/ipledger.v1.Subnets/ListSubnets', 'ListSubnetsRequest', 'ListSubnetsReply'),
  /**
   * Configures a named part of a subnet, or changes it: its addresses are given only to those who name the pool, or the
   * address. Whoever holds one keeps it.
   * NOT_FOUND            the subnet is not configured
   * INVALID_ARGUMENT     the spec breaks a rule; the message names each
   * FAILED_PRECONDITION  it shares addresses with another pool of the subnet, or belongs to another subnet already
   */
  applyPool: unary<ApplyPoolRequest, ApplyPoolReply>('/ipledger.v1.Subnets/ApplyPool', 'ApplyPoolRequest', 'ApplyPoolReply'),
  /** Retires a pool: its addresses belong to the rest of the subnet again. An unknown one is success. */
  deletePool: unary<DeletePoolRequest, DeletePoolReply>('/ipledger.v1.Subnets/DeletePool', 'DeletePoolRequest', 'DeletePoolReply'),
  /**
   * One pool with its counts.
   * NOT_FOUND  no such pool
   */
  getPool: unary<GetPoolRequest, GetPoolReply>('/ipledger.v1.Subnets/GetPool', 'GetPoolRequest', 'GetPoolReply'),
  /** All pools with their counts, by name. */
  listPools: unary<ListPoolsRequest, ListPoolsReply>('/ipledger.v1.Subnets/ListPools', 'ListPoolsRequest', 'ListPoolsReply'),
};

/** The record itself. Any replica answers. */
export const LedgerService = {
  /**
   * Streams events from a position on, whole commands at a time, then as they happen. An empty reply is a sign of life,
   * sent at once and then every few seconds; its position is the head.
   * OUT_OF_RANGE  `from_seq` is below the first live event
   * DATA_LOSS     the log is not dense
   */
  watch: serverStream<WatchRequest, WatchReply>('/ipledger.v1.Ledger/Watch', 'WatchRequest', 'WatchReply'),
  /**
   * What happened to one address, Pod, owner, node or subnet, newest first, in pages. An address is a walk along `before`. Of all
   * else the allocator looks through the log backwards, so much a page, and the read model looks into its index.
   * NOT_FOUND         the address was never used
   * INVALID_ARGUMENT  it asks about more than one thing, or about instants that are none
   */
  history: unary<HistoryRequest, HistoryReply>('/ipledger.v1.Ledger/History', 'HistoryRequest', 'HistoryReply'),
  /**
   * The address map as it was at a moment: the subnets and pools in force then, and every address that somebody had, or that was
   * kept back. In pages, by subnet and address. An empty reply is a sign of life, sent while the log is being read.
   * OUT_OF_RANGE      the moment is beyond the head, or the log does not reach back to it
   * INVALID_ARGUMENT  the moment is none, or yet to come
   * UNAVAILABLE       as many such questions are being answered as the replica takes at a time
   */
  stateAt: serverStream<StateAtRequest, StateAtReply>('/ipledger.v1.Ledger/StateAt', 'StateAtRequest', 'StateAtReply'),
  /**
   * What changed from one moment to another: what differs between the two address maps, in pages, by subnet and address. What came
   * and went in between is not in it. Signs of life and errors as StateAt.
   */
  diff: serverStream<DiffRequest, DiffReply>('/ipledger.v1.Ledger/Diff', 'DiffRequest', 'DiffReply'),
  /** What is known of a Pod's name: what it holds now, and all that happened to any Pod of that name, newest first, in pages. */
  why: unary<WhyRequest, WhyReply>('/ipledger.v1.Ledger/Why', 'WhyRequest', 'WhyReply'),
  /**
   * Whether the ledger is as it was written: its log, and every key beside it against a fold of the log, at one revision of etcd.
   * INVALID_ARGUMENT  checkpoints or keys that are none
   * UNAVAILABLE       as many such questions are being answered as the replica takes at a time
   */
  verify: serverStream<VerifyRequest, VerifyReply>('/ipledger.v1.Ledger/Verify', 'VerifyRequest', 'VerifyReply'),
  /**
   * The stored events, byte by byte.
   * OUT_OF_RANGE  `from_seq` is below the first live event
   */
  export: serverStream<ExportRequest, ExportReply>('/ipledger.v1.Ledger/Export', 'ExportRequest', 'ExportReply'),
  /**
   * The ledger as it is now, signed, to be kept elsewhere.
   * FAILED_PRECONDITION  the allocator has no key to sign with
   */
  checkpoint: unary<CheckpointRequest, CheckpointReply>('/ipledger.v1.Ledger/Checkpoint', 'CheckpointRequest', 'CheckpointReply'),
  /**
   * Where the ledger stands, how far back the replica that answers can be asked, and whether the ledger is frozen: somebody remembers
   * more of it than it holds, as after etcd was restored from a backup. Then every command that gives an address or takes one away is
   * answered DATA_LOSS.
   */
  getStatus: unary<GetStatusRequest, GetStatusReply>('/ipledger.v1.Ledger/GetStatus', 'GetStatusRequest', 'GetStatusReply'),
  /**
   * Lets a restored ledger go on: appends LedgerRestored, which begins an epoch. It stays frozen, so that an operator can first
   * bring back by imports, and take back by releases, what the cluster shows.
   * FAILED_PRECONDITION  it is not frozen, and `unnoticed` does not say that it should be
   * OUT_OF_RANGE         it was restored since it was compared: nothing was done
   */
  restore: unary<RestoreRequest, RestoreReply>('/ipledger.v1.Ledger/Restore', 'RestoreRequest', 'RestoreReply'),
  /**
   * Ends the freeze.
   * FAILED_PRECONDITION  it was not restored yet
   */
  thaw: unary<ThawRequest, ThawReply>('/ipledger.v1.Ledger/Thaw', 'ThawRequest', 'ThawReply'),
};

/** A place in the ledger. Two positions of one epoch are compared by seq. */
export interface Position {
  /** Counts how often the ledger was rewound (restored from a backup); starts at 1. */
  epoch: number;
  /** The number of the last event that is included; the first event is 1. */
  seq: number;
  /** SHA-256 of that event's stored bytes, hexadecimal. */
  hash: string;
}

/** How fresh a read must be. */
export type Consistency =
  | 'CONSISTENCY_LINEARIZABLE'
  | 'CONSISTENCY_LOCAL';

/** A Pod, as far as addresses are concerned. */
export interface Pod {
  namespace: string;
  name: string;
  /** metadata.uid; of a static Pod the annotation kubernetes.io/config.hash of its mirror. */
  uid: string;
  /** spec.nodeName; "" while unscheduled. */
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

/** One network attachment of a Pod. The interface name is no part of it: it is known from the annotation, or learnt at Bind. */
export interface Attachment {
  namespace: string;
  pod: string;
  /** "<NetworkAttachmentDefinition>.<namespace>", with ".ovn" behind it for Kube-OVN-type NICs. */
  provider: string;
  /** Counts the Pod's attachments of this provider, from 0, in the order of the networks annotation. */
  ordinal: number;
}

/** One or two addresses (one of each family) that must be taken together. */
export interface AddressSet {
  addresses: string[];
}

/** A route that the CNI result shall hold. An empty `dst` is the default route of the gateway's family. */
export interface Route {
  dst: string;
  gw: string;
}

/** What one attachment wants. */
export interface AttachmentRequest {
  provider: string;
  ordinal: number;
  /** Name inside the Pod; "" when Multus numbers it. */
  interface: string;
  /** The subnets that may serve it, best first. A dynamic address comes from the first that has one. */
  subnets: string[];
  /** Empty: any free address. One set: these addresses. Several: the first set that is free. */
  candidates: AddressSet[];
  /** Name of a pool inside the subnet, from which alone it may be served; "" is the rest that belongs to no pool. */
  pool: string;
  /** Asked-for MAC, "" for none. A NIC of Kube-OVN's own type (provider "ovn" or "<name>.<namespace>.ovn") then gets a new one. */
  mac: string;
  /** Routes for the CNI result. */
  routes: Route[];
  /** Whether the CNI result makes this the default route. Absent: only when the interface is eth0. */
  defaultRoute?: boolean;
  /** "ipv4" or "ipv6": only that family of a dual-stack subnet; "" for all that the subnet has. */
  ipFamily: string;
  /**
   * Entitles to addresses that are reserved for just this ("vip/web"); "" for none. What is reserved for the attachment itself
   * ("pod/<namespace>/<pod>/<provider>") is its without saying so.
   */
  reservation: string;
}

/** Why an address was given. */
export type AllocationCause =
  | 'ALLOCATION_CAUSE_UNSPECIFIED'
  | 'ALLOCATION_CAUSE_DYNAMIC'
  | 'ALLOCATION_CAUSE_STATIC'
  | 'ALLOCATION_CAUSE_POOL'
  | 'ALLOCATION_CAUSE_RESERVATION'
  | 'ALLOCATION_CAUSE_IMPORT';

/** Why an address was taken back. */
export type ReleaseCause =
  | 'RELEASE_CAUSE_UNSPECIFIED'
  | 'RELEASE_CAUSE_POD_DELETED'
  | 'RELEASE_CAUSE_POD_COMPLETED'
  | 'RELEASE_CAUSE_SCALED_DOWN'
  | 'RELEASE_CAUSE_OWNER_DELETED'
  | 'RELEASE_CAUSE_OPERATOR'
  | 'RELEASE_CAUSE_GARBAGE_COLLECTED'
  | 'RELEASE_CAUSE_DETACHED';

/** Why a container no longer has an address. */
export type UnbindCause =
  | 'UNBIND_CAUSE_UNSPECIFIED'
  | 'UNBIND_CAUSE_CONTAINER_DELETED'
  | 'UNBIND_CAUSE_GARBAGE_COLLECTED'
  | 'UNBIND_CAUSE_NODE_REBOOTED'
  | 'UNBIND_CAUSE_NODE_DELETED'
  | 'UNBIND_CAUSE_NODE_OUT_OF_SERVICE';

/** One address with what a CNI answer needs beside it. */
export interface AssignedAddress {
  address: string;
  /** The subnet's CIDR of that family. */
  cidr: string;
  /** The subnet's gateway of that family. */
  gateway: string;
}

/** A CNI ADD that happened and was not undone yet. */
export interface Binding {
  containerId: string;
  interface: string;
  node: string;
  /** proc/sys/kernel/random/boot_id of the node: bindings of an earlier boot are void. */
  bootId: string;
  /** Since when. */
  at: string;
}

/** An attachment's addresses while a Pod holds them. */
export interface Allocation {
  /** The event that gave it. */
  seq: number;
  attachment?: Attachment;
  podUid: string;
  owner?: Owner;
  /** Where the Pod runs, as far as known. */
  node: string;
  subnet: string;
  /** IPv4 first. */
  addresses: AssignedAddress[];
  mac: string;
  interface: string;
  cause: AllocationCause;
  routes: Route[];
  defaultRoute?: boolean;
  /** Since when. */
  at: string;
  bindings: Binding[];
  /** The network on which the address has no other holder: the provider, or "switch/<subnet>" for a NIC of Kube-OVN's own type. */
  network: string;
}

/** What is known of one address. */
export interface AddressRecord {
  subnet: string;
  address: string;
  /**
   * One of: fresh (never used, or idle for so long that nothing is kept of it), allocated, bound, held (released, but a container
   * may still answer on it), cooling, idle (free again), reserved, quarantined, excluded.
   */
  state: string;
  /** Present while held by a Pod. */
  allocation?: Allocation;
  /** Containers that may answer on it; also after release. */
  bindings: Binding[];
  /** The last release, "" if none. */
  releasedAt: string;
  releasedFromUid: string;
  /** The last event that touched it; 0 if none. */
  lastSeq: number;
  /** When a cooling or held address can be given again, "" otherwise. */
  availableAt: string;
  /** Present while it is reserved; also beside a holder, whom it outlives. */
  reservation?: Reservation;
  /** Present while it is quarantined. */
  quarantine?: Quarantine;
  /** The pool that it belongs to; "" for none. */
  pool: string;
}

/** An address that is held without a Pod. */
export interface Reservation {
  /** Who may take it: "pod/<namespace>/<pod>/<provider>", or any text that a request's `reservation` repeats. */
  reservedFor: string;
  reason: string;
  /** The MAC that goes with it, "" for none. */
  mac: string;
  /** The event, and since when. */
  seq: number;
  at: string;
}

/** An address on which somebody outside answers. */
export interface Quarantine {
  seenMac: string;
  seenAt: string;
  reason: string;
  /** The event, and since when. */
  seq: number;
  at: string;
}

export interface AllocateRequest {
  pod?: Pod;
  /** All or none; 1 to 24. */
  attachments: AttachmentRequest[];
  /**
   * Refused when it is decided later than this after it was sent, so that no address leaks whose caller gave up. A length of time
   * and no instant: clocks of different machines are never compared. Each replica subtracts what the request waited there; what
   * passed before it was sent counts by the call's deadline, which ends the validity too. 0: no limit.
   */
  validMs: number;
  /** Takes over what another system gave: each attachment names its addresses, and the cause is IMPORT. */
  import: boolean;
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
  /** For garbage collection: what was seen that proves the owner gone. */
  evidence: string;
  /** Only this allocation; 0 for all of the Pod. */
  allocationSeq: number;
}

export interface ReleaseReply {
  position?: Position;
  /** How many allocations this request ended; 0 when there was nothing (left) to end. */
  released: number;
}

export interface WaitRequest {
  namespace: string;
  pod: string;
  /** Another uid counts as "not yet allocated". */
  podUid: string;
  provider: string;
  /** The interface that CNI is about to set up. */
  interface: string;
  containerId: string;
  /** At most 60,000; 0 means 20,000. */
  timeoutMs: number;
}

export interface WaitReply {
  position?: Position;
  allocation?: Allocation;
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
}

export interface UnbindRequest {
  namespace: string;
  pod: string;
  provider: string;
  containerId: string;
  interface: string;
  /** Unspecified: the container was deleted. */
  cause: UnbindCause;
}

export interface UnbindReply {
  position?: Position;
  /** How many bindings this request ended. */
  unbound: number;
}

export interface ListBindingsRequest {
  /** "" matches every node. */
  node: string;
  /** At most 1,000; 0 means 500. */
  pageSize: number;
  /** From the reply before; "" for the first page. */
  pageToken: string;
  minSeq: number;
  consistency: Consistency;
}

export interface ListBindingsReply {
  position?: Position;
  /** By container and interface. */
  bindings: SandboxBinding[];
  /** "" on the last page. */
  nextPageToken: string;
}

/** A container's binding, with what it is bound to. */
export interface SandboxBinding {
  attachment?: Attachment;
  subnet: string;
  addresses: string[];
  binding?: Binding;
  /** The event that gave the address to the Pod of this container. An allocation in force with another one is another Pod's. */
  allocationSeq: number;
}

export interface GetRequest {
  subnet: string;
  address: string;
  minSeq: number;
  consistency: Consistency;
}

export interface GetReply {
  position?: Position;
  record?: AddressRecord;
}

export interface ListRequest {
  /** All of these must match; "" matches everything. */
  subnet: string;
  namespace: string;
  pod: string;
  node: string;
  /** At most 1,000; 0 means 500. */
  pageSize: number;
  /** From the reply before; "" for the first page. */
  pageToken: string;
  minSeq: number;
  consistency: Consistency;
}

export interface ListReply {
  position?: Position;
  allocations: Allocation[];
  /** "" on the last page. */
  nextPageToken: string;
}

export interface ReserveRequest {
  subnet: string;
  /** These, one or two (one of each family); none: any free one of each family of the subnet. */
  addresses: string[];
  /** Who may take them: "pod/<namespace>/<pod>/<provider>", or any text that says what they are held for ("vip/web"). */
  reservedFor: string;
  reason: string;
  /** The MAC that goes with them, "" for none. */
  mac: string;
  /** Only this family where none is named: "ipv4", "ipv6", "" for all of the subnet. */
  ipFamily: string;
}

export interface ReserveReply {
  position?: Position;
  /** IPv4 first. */
  records: AddressRecord[];
}

export interface UnreserveRequest {
  subnet: string;
  /** None: all that is reserved for it in the subnet. */
  addresses: string[];
  /** Only a reservation for this; "" for whatever it is reserved for. */
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
  /** At most 1,000; 0 means 500. */
  pageSize: number;
  /** From the reply before; "" for the first page. */
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
  /** Who answers on it (a MAC), and where that was seen. */
  seenMac: string;
  seenAt: string;
  reason: string;
}

export interface QuarantineReply {
  position?: Position;
}

export interface LiftRequest {
  subnet: string;
  address: string;
  reason: string;
}

export interface LiftReply {
  position?: Position;
}

/** A subnet as its owner writes it, and (normalised) as it is in force. */
export interface SubnetSpec {
  /** "v4", "v6" or "v4,v6". Normalised: host bits cleared. */
  cidrBlock: string;
  /** In the same form. Normalised: the first usable address where none was given. */
  gateway: string;
  /** "address" or "first..last"; both families mixed. Normalised: merged, sorted, with the gateways. */
  excludeIps: string[];
  /** Which attachments it serves: "<NetworkAttachmentDefinition>.<namespace>[.ovn]", or "ovn". */
  provider: string;
  /** IPv4, IPv6 or Dual; always follows from cidr_block. */
  protocol: string;
  /** How long a released address rests before it is given again. Absent: 60,000. */
  cooldownMs?: number;
  /** How long a released address that is still bound is kept back. Absent: 3,600,000. */
  bindingTimeoutMs?: number;
  /** How many addresses of it the Pods of one namespace may hold; those of both families count. Absent: no limit. */
  maxAddressesPerNamespace?: number;
}

/** Where a spec came from. */
export interface SourceObject {
  uid: string;
  generation: number;
}

/** Counts and ranges of one family of a subnet. */
export interface Usage {
  /** 4 or 6. */
  family: number;
  /** Addresses that can be given at all: usable hosts less excludes. */
  total: string;
  /** Held by a Pod, or reserved. */
  inUse: string;
  /** total less in_use (an address that cools down or is held back counts as available). */
  available: string;
  /** "a-b" or "a", sorted, joined with commas. */
  inUseRange: string;
  availableRange: string;
  /** Of the available ones, those that are not fresh: released (cooling, held back or idle again) or quarantined. */
  resting: string;
  /** Of those in use, those that are reserved (and held by nobody, and not quarantined), and where they are. */
  reserved: string;
  reservedRange: string;
}

export interface Subnet {
  name: string;
  spec?: SubnetSpec;
  source?: SourceObject;
  usage: Usage[];
  /**
   * Addresses whose key was changed by something else than ipledger, as far as the replica that answers noticed: nothing is
   * decided about them. A writer notices when it would change the key itself.
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

/** A named part of a subnet. */
export interface PoolSpec {
  subnet: string;
  /** "address", "first..last" or a CIDR. Normalised: merged and sorted, as "address" and "first..last". */
  ips: string[];
  /** Namespaces whose Pods may have addresses of it, and draw from it by default. None: any Pod may that names it. */
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

/** One event. `stored` is the truth; the other fields are the same, parsed (and upcast to the newest schema version). */
export interface Event {
  seq: number;
  /** ULID of the event. */
  id: string;
  /** ULID of the command that it belongs to; a command's events are applied together. */
  command: string;
  /** This is number `part` of `parts`. */
  part: number;
  parts: number;
  /** Its name, as in the ledger: "AddressAllocated". */
  type: string;
  subnet: string;
  at: string;
  /** Who did it: the authenticated identity. */
  actor: string;
  /** One for each address that it touches. */
  before: EventBefore[];
  /** SHA-256 of the event before. */
  prev: string;
  /** SHA-256 of `stored`. */
  hash: string;
  /** The exact line of JSON as it stands in etcd. */
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
}

/** The event before an event, of one address that both touch: a step back in that address's history. */
export interface EventBefore {
  address: string;
  /** 0: there is none: the address was never used before, or its claim was dropped (ClaimsDropped) before. */
  seq: number;
}

/** The first event of every ledger. */
export interface LedgerCreated {
  /** ULID, names the ledger. */
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

/** Its event is of the one subnet that was asked for; of none, where any of several would have done. */
export interface AllocationRefused {
  attachment?: Attachment;
  uid: string;
  /** A code of the error vocabulary, as "SUBNET_FULL". */
  reason: string;
  message: string;
}

export interface AddressBound {
  /** The allocation's seq. */
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
}

export interface AddressTransferred {
  /** The seq of the allocation that is passed on; the new one's is this event's. */
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
}

export interface AddressReleased {
  /** The allocation's seq. */
  alloc: number;
  attachment?: Attachment;
  uid: string;
  addresses: string[];
  cause: ReleaseCause;
  evidence: string;
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
 * The ledger keeps no claim of these addresses any more: they were idle for long. Their history stays in the log, and `before` of
 * this event leads to it.
 */
export interface ClaimsDropped {
  addresses: string[];
  /** The events of this type before it in the same subnet, newest first; at most 64. */
  previous: number[];
}

/** A stretch of the log stands in the archive now, and will go from etcd. */
export interface SegmentSealed {
  /** Its first and last event. */
  from: number;
  to: number;
  /** Their times. */
  since: string;
  until: string;
  /** SHA-256 of its last event's line. */
  hash: string;
  /** SHA-256 of its manifest, which stands in the archive and says what else does. */
  manifest: string;
  /** Which archive, in words: "folder /var/lib/ipledger", "s3 https://host/bucket/prefix". */
  archive: string;
}

/** etcd was restored from a backup: events that were acknowledged are gone, and an operator let the ledger go on without them. */
export interface LedgerRestored {
  /** The new one: positions are of this epoch from this event on. */
  epoch: number;
  /** Where the ledger was found to end when it was frozen: the events behind it, up to this one, were written since. */
  seq: number;
  hash: string;
  /** The last event that somebody remembers of the epoch before; 0: nobody does. */
  lostSeq: number;
  reason: string;
}

/** Checkpoints are signed with another key from now on. */
export interface KeyRotated {
  /** The new public key, Ed25519, base64. */
  publicKey: string;
  keyId: string;
  /** The key before; "" for the first. */
  previousKeyId: string;
  /** Of the new public key, by the key before, base64; "" for the first. */
  signature: string;
}

export interface WatchRequest {
  /** The first event wanted; 0: only what happens from now on. */
  fromSeq: number;
  /** All of these must match; "" matches everything. Only events of this subnet. */
  subnet: string;
  /** Only events of Pods in this namespace, and of this name. */
  namespace: string;
  pod: string;
  /** Only what was given to Pods on this node, and bindings there with their ends. */
  node: string;
  /** Only events that touch this address. */
  address: string;
  /** Only events of these types ("AddressAllocated"); none for all. One that there is not is refused. */
  types: string[];
  /**
   * What the caller knows already: the event before `from_seq`. Who knows what is not in the ledger is told so (DATA_LOSS), and
   * freezes it; after a recovery it is told to begin anew (OUT_OF_RANGE).
   */
  after?: Position;
}

export interface WatchReply {
  /**
   * After the events of this reply, also those that the filters kept back: whoever goes on here misses nothing. But for the first
   * reply of a stream, where it has no events: that says where the ledger stands, and the events up to there are still to come.
   */
  position?: Position;
  events: Event[];
}

export interface GetStatusRequest {
}

export interface GetStatusReply {
  position?: Position;
  /** ULID, names the ledger. */
  ledger: string;
  /** When its last event happened. */
  at: string;
  /** The first event that can be asked for, and when it happened. */
  oldestSeq: number;
  oldestAt: string;
  /** The first event that stands in etcd still; those before it are sealed. */
  liveFromSeq: number;
  /** Present while the ledger is frozen. */
  freeze?: Freeze;
}

/** What is remembered of the ledger, and not in it. */
export interface Freeze {
  known?: Position;
  /** Who remembers it, and when that was found. */
  by: string;
  at: string;
  /** Where the ledger stood then, and when that event happened: what is behind it was written since, while it was frozen. */
  found?: Position;
  foundAt: string;
}

export interface RestoreRequest {
  reason: string;
  /** It is not frozen, since nobody is left who remembers more: it is frozen on this operator's word. */
  unnoticed: boolean;
  /**
   * Where the ledger stood when it was compared with the cluster. Only one of several who compared the same epoch begins the next;
   * a run that broke off behind that compares it in the new epoch, and goes on in it.
   */
  compared?: Position;
}

export interface RestoreReply {
  /** In the new epoch. */
  position?: Position;
}

export interface ThawRequest {
}

export interface ThawReply {
  position?: Position;
}

/** About one thing: an address, a Pod's name, an owner or a node. About none of them: a subnet, or the whole ledger. */
export interface HistoryRequest {
  address: string;
  /** Only events of this subnet; "": of all, and of those that are about none. */
  subnet: string;
  /** At most 1,000; 0 means 100. */
  pageSize: number;
  /** From the reply before, with the same question; "" for the first page. */
  pageToken: string;
  /** Any Pod of this name, whichever uid: both, or neither. The namespace also goes with `owner`. */
  namespace: string;
  pod: string;
  /**
   * Pods that this controller owned, "" matching everything: what they were given, their bindings, and what was taken from them.
   * Refusals name no owner, and are left out.
   */
  owner?: Owner;
  /** What was given to Pods on this node, and bindings there with their ends. Refusals name no node, and are left out. */
  node: string;
  /** Only events at this instant or later; "" from the beginning. */
  since: string;
  /** Only events before this instant; "" up to now. */
  until: string;
}

export interface HistoryReply {
  position?: Position;
  /** Newest first. A page may hold fewer than asked for, or none, and not be the last. */
  events: Event[];
  /** "" on the last page. */
  nextPageToken: string;
  /** How far back it looked: every event from this one on that matches was told, on this page or before it. */
  searchedSeq: number;
  /** Of an address, on the first page: the subnets that know it. */
  subnets: string[];
}

/** A moment in the life of the ledger: either of them, or neither for the present. */
export interface Moment {
  /** Right after this event, and all others of its command. */
  seq: number;
  /** At this instant: after all events up to it. */
  at: string;
}

export interface StateAtRequest {
  moment?: Moment;
  /** "" for all. */
  subnet: string;
}

export interface StateAtReply {
  /** The last event that counts: the same in every reply. */
  position?: Position;
  /** When that happened, "" before the first. */
  at: string;
  /** In force then, by name; on the first page only. */
  subnets: Subnet[];
  pools: Pool[];
  /** Addresses that a Pod has, that a container may still answer on, or that are reserved or quarantined. */
  records: AddressRecord[];
}

export interface DiffRequest {
  from?: Moment;
  /** Not before `from`. */
  to?: Moment;
  /** "" for all. */
  subnet: string;
}

export interface DiffReply {
  /** The moments, as positions: the same in every reply. */
  from?: Position;
  to?: Position;
  /** When these happened, "" before the first event. */
  fromAt: string;
  toAt: string;
  /** Configured, changed or retired, by name; on the first page only. */
  subnets: SubnetChange[];
  pools: PoolChange[];
  addresses: AddressChange[];
}

/** A subnet's spec at two moments; absent where it was not in force. */
export interface SubnetChange {
  name: string;
  before?: SubnetSpec;
  after?: SubnetSpec;
}

/** A pool's spec at two moments; absent where it was not in force. */
export interface PoolChange {
  name: string;
  before?: PoolSpec;
  after?: PoolSpec;
}

/** What was known of an address at two moments. */
export interface AddressChange {
  before?: AddressRecord;
  after?: AddressRecord;
}

export interface WhyRequest {
  namespace: string;
  pod: string;
  /** At most 1,000; 0 means 100. */
  pageSize: number;
  /** From the reply before; "" for the first page. */
  pageToken: string;
}

export interface WhyReply {
  position?: Position;
  /** What a Pod of that name holds now, oldest first. */
  allocations: Allocation[];
  /** As History's of the Pod, and as that in pages. */
  events: Event[];
  /** "" on the last page. */
  nextPageToken: string;
  searchedSeq: number;
}

export interface VerifyRequest {
  /** What it is held to: signed checkpoints, one behind the other; "" for none. */
  checkpoints: string;
  /** Whose checkpoints are believed: verifier keys, "<name>+<key id>+<base64>". What they are rotated to is believed, too. */
  verifierKeys: string[];
}

export interface VerifyReply {
  /** Behind the last event that is as it should be; the log is read up to there. */
  position?: Position;
  /** This is the last reply: what follows is the verdict. */
  done: boolean;
  /** How many keys beside the log were compared; absent where the log is not whole: there is nothing to compare them with. */
  keys?: number;
  /** None: nothing is wrong. At most 100. */
  findings: Finding[];
}

/** A key that is not as it should be. */
export interface Finding {
  /** In etcd. */
  key: string;
  /** What is wrong with it, a sentence. */
  what: string;
  /**
   * What it should hold by the log, as it would be stored: put back, it is right again. "" of the log and its head, which nothing but a
   * backup mends, and of a key that should not be there.
   */
  expected: string;
}

export interface ExportRequest {
  /** First and last event; 0: the first that there is, and the last. */
  fromSeq: number;
  toSeq: number;
}

export interface ExportReply {
  /** Behind the last of these lines. */
  position?: Position;
  /** Exact stored lines, without their newlines. None: a sign of life. */
  lines: string[];
}

export interface CheckpointRequest {
}

export interface CheckpointReply {
  position?: Position;
  /** A signed note (c2sp.org/signed-note): ledger, events, hash, epoch and time. */
  note: string;
  /** What it is verified with, "<name>+<key id>+<base64>". */
  verifierKey: string;
}

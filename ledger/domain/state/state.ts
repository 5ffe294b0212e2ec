/** The state: the fold of the log, with an index for each kind of lookup. `decide` needs nothing else. */
import type { CooldownTimes } from '../addresses/address-part.ts';
import type { AddressSpace } from '../addresses/address-space.ts';
import type { Allocation, Binding, Claim, ClaimName } from './claim.ts';
import type { Attachment, Segment, Seq, SourceObject } from '../events/event.ts';
import type { ConfiguredPool } from './pool.ts';
import { defaultCooldownTimes, type Subnet } from './subnet.ts';

/** A subnet in force, with its addresses. */
export interface ConfiguredSubnet {
  readonly subnet: Subnet;
  readonly source?: SourceObject;
  /** One for each family, in the subnet's order. */
  readonly spaces: readonly AddressSpace[];
}

export interface State {
  /**
   * Whether it has all that `decide` needs. A state that only verifies or replays has no spaces, and no entries in released, sandboxes,
   * reservations, reservedMacs and namespaceCounts.
   */
  readonly isDecidable: boolean;
  /** '' before the ledger's first event. */
  ledger: string;
  /** The sealed segments, oldest first: without gaps, from event 1 on. */
  segments: readonly Segment[];
  /** In force, by name. */
  readonly subnets: Map<string, ConfiguredSubnet>;
  /** In force, by name. A pool of a retired subnet has no effect until the subnet is configured again. */
  readonly pools: Map<string, ConfiguredPool>;
  /** By subnet, then by canonical address; also of retired subnets, whose cooldowns continue. */
  readonly claims: Map<string, Map<string, Claim>>;
  /** The number of claims that each subnet has on a network, by network, then by subnet. */
  readonly networks: Map<string, Map<string, number>>;
  /** The subnets in force whose own network it is, by network. */
  readonly homeSubnets: Map<string, readonly string[]>;
  /** The last events that dropped claims, newest first, by subnet; also of retired subnets. */
  readonly dropped: Map<string, readonly Seq[]>;
  /** The releases by Pods of a name, by "namespace/pod", from the claims that exist. */
  readonly released: Map<string, readonly { readonly uid: string; readonly seq: Seq }[]>;
  /** The allocations of Pods, by "namespace/pod"; one for each attachment. A list, because almost every Pod has one or two. */
  readonly pods: Map<string, readonly Allocation[]>;
  /** The claims with a binding of a container interface, by "container/interface". */
  readonly sandboxes: Map<string, readonly ClaimName[]>;
  /** The attachment that has a MAC, by "network/mac". */
  readonly macs: Map<string, Attachment>;
  /** The reserved claims, by owner. */
  readonly reservations: Map<string, readonly ClaimName[]>;
  /** The claims whose reservation has a MAC, by "network/mac". The network is the subnet's own. */
  readonly reservedMacs: Map<string, readonly ClaimName[]>;
  /** The number of addresses that Pods of a namespace hold, by "subnet/namespace": see namespace-counts.ts. */
  readonly namespaceCounts: Map<string, number>;
  /** Claims ("subnet/address") whose etcd key another program changed: `decide` changes none of them. Found by a failed append, not from the log. */
  readonly fenced: Set<string>;
}

/** The state before the first event. */
export const initialState = (): State => emptyState(true);

/** The state before the first event, for a fold on which no command is decided. */
export const initialRecord = (): State => emptyState(false);

function emptyState(isDecidable: boolean): State {
  return {
    isDecidable,
    ledger: '',
    segments: [],
    subnets: new Map(),
    pools: new Map(),
    claims: new Map(),
    networks: new Map(),
    homeSubnets: new Map(),
    dropped: new Map(),
    released: new Map(),
    pods: new Map(),
    sandboxes: new Map(),
    macs: new Map(),
    reservations: new Map(),
    reservedMacs: new Map(),
    namespaceCounts: new Map(),
    fenced: new Set(),
  };
}

/** The last sealed event; 0 for none. */
export const lastSealedSeq = ({ segments }: Pick<State, 'segments'>): Seq => segments.at(-1)?.to ?? 0;

/** The times of a subnet, which may be retired. */
export const cooldownTimesOfSubnet = (state: State, name: string): CooldownTimes =>
  state.subnets.get(name)?.subnet.spec ?? defaultCooldownTimes;

export const podKey = (namespace: string, pod: string): string => `${namespace}/${pod}`;
export const attachmentKey = ({ provider, ordinal }: { provider: string; ordinal: number }): string =>
  `${provider}/${ordinal}`;
export const sandboxKey = (containerId: string, interfaceName: string): string => `${containerId}/${interfaceName}`;

/** The claim of an address in a subnet; undefined if it was never used, or its claim was dropped. */
export const claimOf = (state: State, subnet: string, address: string): Claim | undefined =>
  state.claims.get(subnet)?.get(address);

/** The allocation of an attachment, of any Pod uid. */
export const allocationOf = (state: State, attachment: Attachment): Allocation | undefined =>
  state.pods
    .get(podKey(attachment.namespace, attachment.pod))
    ?.find((allocation) => isOfAttachment(allocation, attachment));

/** Whether an allocation of the same Pod name is of this attachment. */
export const isOfAttachment = ({ attachment }: Allocation, { provider, ordinal }: Attachment): boolean =>
  attachment.provider === provider && attachment.ordinal === ordinal;

/** The bindings of an allocation. All of its addresses have the same. */
export const bindingsOf = (state: State, { subnet, addresses }: Allocation): readonly Binding[] =>
  (addresses[0] && claimOf(state, subnet, addresses[0].address)?.bindings) ?? [];

/** The allocations of a Pod name, of any uid, oldest first: the same order in a folded and in a restored state. */
export const allocationsOfPodName = (state: State, namespace: string, pod: string): readonly Allocation[] =>
  (state.pods.get(podKey(namespace, pod)) ?? []).toSorted((a, b) => a.seq - b.seq);

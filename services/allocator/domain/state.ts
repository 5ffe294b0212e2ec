/** All that is decided against: the fold of the log, with an index for each way in which it is looked at. */
import type { AddressSpace } from './address-space.ts';
import type { Allocation, Claim } from './claim.ts';
import type { Attachment, Segment, Seq, SourceObject } from './event.ts';
import type { ClaimName } from './journal.ts';
import type { ConfiguredPool } from './pool.ts';
import type { Subnet } from './subnet.ts';

/** A subnet in force, with what it can give. */
export interface ConfiguredSubnet {
  readonly subnet: Subnet;
  readonly source?: SourceObject;
  /** One a family, in the subnet's order. */
  readonly spaces: readonly AddressSpace[];
}

export interface State {
  /** '' before the ledger's first event. */
  ledger: string;
  /** What was sealed, oldest first: each begins behind the one before, the first with event 1. */
  segments: readonly Segment[];
  /** In force, by name. */
  readonly subnets: Map<string, ConfiguredSubnet>;
  /** In force, by name; also of retired subnets, where they have no effect until the subnet is there again. */
  readonly pools: Map<string, ConfiguredPool>;
  /** By subnet, then by canonical address; also of retired subnets, whose cooldowns and history go on. */
  readonly claims: Map<string, Map<string, Claim>>;
  /** How many claims each Subnet has on a network, by network, then by Subnet. */
  readonly networks: Map<string, Map<string, number>>;
  /** The Subnets in force whose own network it is, by network. */
  readonly homes: Map<string, readonly string[]>;
  /** By subnet, the last events that dropped claims of it, newest first; also of retired subnets. */
  readonly dropped: Map<string, readonly Seq[]>;
  /** Which uids of a Pod name released something, by which event, by "namespace/pod"; of claims that are still there. */
  readonly released: Map<string, readonly { readonly uid: string; readonly seq: Seq }[]>;
  /** What Pods hold, by "namespace/pod", then by "provider/ordinal". */
  readonly pods: Map<string, Map<string, Allocation>>;
  /** Which claims a CNI DEL of "container/interface" ends. */
  readonly sandboxes: Map<string, readonly ClaimName[]>;
  /** Which attachment has a MAC, by "network/mac". */
  readonly macs: Map<string, Attachment>;
  /** Which claims are reserved, by what for. */
  readonly reservations: Map<string, readonly ClaimName[]>;
  /** The claims whose reservation a MAC goes with, by "network/mac", the Subnet's own network. */
  readonly reservedMacs: Map<string, readonly ClaimName[]>;
  /** How many addresses Pods of a namespace hold, by "subnet/namespace": see namespace-counts.ts. */
  readonly namespaceCounts: Map<string, number>;
  /** Claims ("subnet/address") whose key somebody else changed: nothing is decided about them. Not from the log, but from a failed append. */
  readonly fenced: Set<string>;
}

/** The state before the first event. */
export function initialState(): State {
  return {
    ledger: '',
    segments: [],
    subnets: new Map(),
    pools: new Map(),
    claims: new Map(),
    networks: new Map(),
    homes: new Map(),
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

/** The last event that was sealed; 0 for none. */
export const sealedTo = ({ segments }: Pick<State, 'segments'>): Seq => segments.at(-1)?.to ?? 0;

export const podKey = (namespace: string, pod: string): string => `${namespace}/${pod}`;
export const attachmentKey = ({ provider, ordinal }: { provider: string; ordinal: number }): string =>
  `${provider}/${ordinal}`;
export const sandboxKey = (containerId: string, interfaceName: string): string => `${containerId}/${interfaceName}`;

/** The claim of an address in a subnet; undefined when it was never used, or its claim was dropped. */
export const claimOf = (state: State, subnet: string, address: string): Claim | undefined =>
  state.claims.get(subnet)?.get(address);

/** What an attachment of a Pod holds now, whichever uid has it. */
export const allocationOf = (state: State, { namespace, pod, provider, ordinal }: Attachment): Allocation | undefined =>
  state.pods.get(podKey(namespace, pod))?.get(attachmentKey({ provider, ordinal }));

/** What a Pod of that name holds, oldest first: an order that follows from the log, and not from how the state was made. */
export const heldBy = (state: State, namespace: string, pod: string): readonly Allocation[] =>
  [...(state.pods.get(podKey(namespace, pod))?.values() ?? [])].toSorted((a, b) => a.seq - b.seq);

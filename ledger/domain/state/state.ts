/** The state: the fold of the log, with indexes. It is all that `decide` depends on. */
import type { CooldownTimes } from './address-pools/address-pool.ts';
import type { AddressSpace } from './address-pools/address-space.ts';
import { type Allocation, type Binding, type Claim, type ClaimName } from './claim.ts';
import {
  type AllocationMap,
  AllocationObjects,
  type AllocationPages,
  type BindingPages,
  type ClaimMap,
  ClaimObjects,
  type Lookup,
} from './claims.ts';
import { AllocationIndex, AllocationPageIndex } from './compact/allocation-index.ts';
import { ClaimBytes } from './compact/claim-bytes.ts';
import { ClaimStore } from './compact/claim-store.ts';
import { ClaimTable } from './compact/claim-table.ts';
import { EndedPods } from './ended-pods.ts';
import { networkOf } from './network.ts';
import type { Segment, Seq } from '../values/ledger.ts';
import type { SourceObject } from '../values/configuration.ts';
import type { Attachment } from '../values/allocation.ts';
import type { ConfiguredPool } from './pool.ts';
import type { Subnet } from './subnet.ts';
import { defaultCooldownTimes } from '../commands/command.ts';

/** A subnet in force, with its addresses. */
export interface ConfiguredSubnet {
  readonly subnet: Subnet;
  readonly source?: SourceObject;
  /** One space for each family, in the subnet's order. */
  readonly spaces: readonly AddressSpace[];
}

export interface State {
  /**
   * Whether the state has all that `decide` needs. A state that only verifies or replays has no
   * spaces, and no entries in sandboxes, bindings, formerMacs, releasedMacs, reservations,
   * reservedMacs and namespaceCounts. Its claims are objects instead of bytes, because it is
   * usually small and changes all the time.
   */
  readonly isDecidable: boolean;
  /** The id of the ledger; '' before its first event. */
  ledger: string;
  /** The sealed segments without gaps from event 1 on, oldest first. */
  segments: readonly Segment[];
  /** The subnets in force, by name. */
  readonly subnets: Map<string, ConfiguredSubnet>;
  /** Pools by name. A pool has no effect while its subnet is retired. */
  readonly pools: Map<string, ConfiguredPool>;
  /** Claims by subnet, then by canonical address. Addresses of retired subnets cool down, too. */
  readonly claims: Map<string, ClaimMap>;
  /** Creates the map for the first claim of a Subnet. */
  readonly newClaims: (subnet: string) => ClaimMap;
  /** The number of claims that each subnet has on a network, by network, then by subnet. */
  readonly networks: Map<string, Map<string, number>>;
  /** The subnets in force by their own network. */
  readonly homeSubnets: Map<string, readonly string[]>;
  /** The newest events that dropped claims, newest first, by subnet (also retired subnets). */
  readonly dropped: Map<string, readonly Seq[]>;
  /** The Pods whose uid gets no address again. */
  readonly ended: EndedPods;
  /** The allocations of Pods, by "namespace/pod"; one for each attachment. */
  readonly pods: AllocationMap & AllocationPages;
  /** The claims bound to a container interface, by "container/interface". */
  readonly sandboxes: Lookup<readonly ClaimName[]>;
  /** The claims with bindings, by node. */
  readonly bindings: BindingPages;
  /** The allocation that has a MAC, by "network/mac". */
  readonly macs: AllocationMap;
  /** Claims at which a former holder's MAC is in use, by "network/mac": `formerMacKeysOf`. */
  readonly formerMacs: Lookup<readonly ClaimName[]>;
  /** The claims without a holder whose last Pod had a MAC, by "network/mac". */
  readonly releasedMacs: Lookup<readonly ClaimName[]>;
  /** The reserved claims, by owner. */
  readonly reservations: Map<string, readonly ClaimName[]>;
  /** The claims whose reservation has a MAC, by "network/mac". The network is the subnet's own. */
  readonly reservedMacs: Map<string, readonly ClaimName[]>;
  /** The number of addresses that Pods of a namespace hold, by "subnet/namespace". */
  readonly namespaceCounts: Map<string, number>;
  /** Claims ("subnet/address") whose etcd key another program changed. They stay unchanged. */
  readonly fenced: Set<string>;
}

export const initialState = (): State => emptyState(true);

/** The state before the first event, for a fold that only verifies or replays. */
export const initialRecord = (): State => emptyState(false);

function emptyState(isDecidable: boolean): State {
  return {
    isDecidable,
    ledger: '',
    segments: [],
    subnets: new Map(),
    pools: new Map(),
    claims: new Map(),
    ...(isDecidable ? claimsAsBytes() : claimsAsObjects()),
    networks: new Map(),
    homeSubnets: new Map(),
    dropped: new Map(),
    ended: new EndedPods(),
    reservations: new Map(),
    reservedMacs: new Map(),
    namespaceCounts: new Map(),
    fenced: new Set(),
  };
}

type ClaimMaps = Pick<State, 'newClaims' | 'pods' | 'sandboxes' | 'bindings' | 'macs' | 'formerMacs' | 'releasedMacs'>;

function claimsAsBytes(): ClaimMaps {
  const codec = new ClaimBytes();
  const store = new ClaimStore(codec);
  return {
    newClaims: (subnet) => new ClaimTable(store, subnet),
    pods: new AllocationPageIndex(codec.allocations, podKeyOf),
    sandboxes: { get: (key) => store.withSandbox(key) },
    bindings: store,
    macs: new AllocationIndex(codec.allocations, macKeyOf),
    formerMacs: { get: (key) => store.withFormerMac(key) },
    releasedMacs: { get: (key) => store.withReleasedMac(key) },
  };
}

const claimsAsObjects = (): ClaimMaps => ({
  newClaims: () => new ClaimObjects(),
  pods: new AllocationObjects(),
  sandboxes: new Map(),
  bindings: { nodesFrom: () => [], after: () => [] },
  macs: new AllocationObjects(),
  formerMacs: new Map(),
  releasedMacs: new Map(),
});

/** The last sealed event; 0 for none. */
export const lastSealedSeq = ({ segments }: Pick<State, 'segments'>): Seq => segments.at(-1)?.to ?? 0;

/** The times of a subnet; the default times for a retired subnet. */
export const cooldownTimesOfSubnet = (state: State, name: string): CooldownTimes =>
  state.subnets.get(name)?.subnet.spec ?? defaultCooldownTimes;

let lastPod = { namespace: '', pod: '', key: '/' };

/** Caches the last key with its hash, because one event looks up its Pod several times. */
export function podKey(namespace: string, pod: string): string {
  if (lastPod.pod !== pod || lastPod.namespace !== namespace) lastPod = { namespace, pod, key: `${namespace}/${pod}` };
  return lastPod.key;
}
export const podKeyOf = ({ attachment: { namespace, pod } }: Pick<Allocation, 'attachment'>): string =>
  podKey(namespace, pod);
/** A MAC is unique on the network of the NIC. */
export const macKeyOf = ({ attachment, subnet, mac }: Allocation): string =>
  `${networkOf(attachment.provider, subnet)}/${mac}`;
export const attachmentKey = ({ provider, ordinal }: { provider: string; ordinal: number }): string =>
  `${provider}/${ordinal}`;

/** The claim of an address; undefined if the address was never used, or the claim was dropped. */
export const claimOf = (state: State, subnet: string, address: string): Claim | undefined =>
  state.claims.get(subnet)?.get(address);

/** The allocation that an attachment holds, of any Pod uid. */
export const allocationOf = (state: State, attachment: Attachment): Allocation | undefined =>
  state.pods
    .get(podKey(attachment.namespace, attachment.pod))
    ?.find((allocation) => isOfAttachment(allocation, attachment));

/** Whether an allocation is of this attachment, if both are of the same Pod name. */
export const isOfAttachment = ({ attachment }: Allocation, { provider, ordinal }: Attachment): boolean =>
  attachment.provider === provider && attachment.ordinal === ordinal;

/** The bindings of an allocation, which are the same at all of its addresses. */
export const bindingsOf = (state: State, { subnet, addresses }: Allocation): readonly Binding[] =>
  (addresses[0] && claimOf(state, subnet, addresses[0].address)?.bindings) ?? [];

/** A binding of the allocation itself, and not of an earlier Pod of its name. */
export const ownBindingOf = (state: State, allocation: Allocation): Binding | undefined =>
  bindingsOf(state, allocation).find(({ alloc }) => alloc === allocation.seq);

/** The attachment that has a MAC, by "network/mac". */
export const holderOfMac = (state: State, key: string): Attachment | undefined => state.macs.get(key)?.[0]?.attachment;

/** The allocations of a Pod name, oldest first: a restored state has them in another order. */
export const allocationsOfPodName = (state: State, namespace: string, pod: string): readonly Allocation[] =>
  (state.pods.get(podKey(namespace, pod)) ?? []).toSorted((a, b) => a.seq - b.seq);

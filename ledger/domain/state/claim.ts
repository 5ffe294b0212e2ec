/** The claim: the ledger's entry for one address, with its own etcd key. Decisions read claims. */
import type { Seq } from '../values/ledger.ts';
import type { Attachment, Grant } from '../values/allocation.ts';

/** The addresses that one attachment of a Pod holds. Immutable. */
export interface Allocation extends Grant {
  /** The event that allocated or transferred the addresses. */
  readonly seq: Seq;
  readonly subnet: string;
  /** The time of that event, milliseconds since 1970. */
  readonly at: number;
}

/** A container that uses the address: between CNI ADD and CNI DEL. */
export interface Binding {
  readonly alloc: Seq;
  readonly attachment: Attachment;
  readonly containerId: string;
  readonly interface: string;
  readonly node: string;
  readonly bootId: string;
  readonly at: number;
  /** The MAC of the allocation. Absent if it has none, and in keys of older versions. */
  readonly mac?: string;
}

/** Where a container runs, as AddressBound and Bind name it. */
export type ContainerPlace = Pick<Binding, 'containerId' | 'interface' | 'node' | 'bootId'>;

/**
 * Whether a binding continues when another container is bound to the same address. It ends if it is
 * of the same container interface, or of an earlier boot of the same node: no container survives a
 * boot.
 */
export const continuesAfterBind = (binding: Binding, bound: ContainerPlace): boolean =>
  !(binding.containerId === bound.containerId && binding.interface === bound.interface) &&
  !(binding.node === bound.node && binding.bootId !== bound.bootId);

/** The last release of an address. */
export interface LastRelease {
  readonly seq: Seq;
  readonly at: number;
  readonly uid: string;
  /** "namespace/name"; absent in keys of older versions. */
  readonly pod?: string;
  /** The MAC that was released with the address. Absent for none, and in keys of older versions. */
  readonly mac?: string;
}

/** Keeps the address for one owner, with or without a Pod. */
export interface Reservation {
  /** The owner: "pod/<namespace>/<pod>/<provider>", or any text that a request names. */
  readonly reservedFor: string;
  readonly reason: string;
  /** The MAC that is reserved with the address; '' for none. */
  readonly mac: string;
  readonly seq: Seq;
  readonly at: number;
}

/** Takes the address out of use, because a foreign host answers on it. */
export interface Quarantine {
  readonly seenMac: string;
  readonly seenAt: string;
  readonly reason: string;
  readonly seq: Seq;
  readonly at: number;
}

/** The name of a claim: its subnet, and its address as canonical text. */
export interface ClaimName {
  readonly subnet: string;
  readonly address: string;
}

export const claimKey = ({ subnet, address }: ClaimName): string => `${subnet}/${address}`;

export interface Claim {
  /** The last event that changed the claim, and its time. A released address is idle since then. */
  readonly last: Seq;
  readonly lastAt: number;
  /**
   * The networks on which the address is used, reserved or cooling down: the Subnet's own network
   * first, then that of a NIC of another network. On each of them, no other Subnet's claim at the
   * same address may have a holder.
   */
  readonly networks: readonly string[];
  /** The current allocation; absent after release. Both addresses of a dual-stack one share it. */
  readonly allocation?: Allocation;
  /** The bindings. They outlive a release, because a container may still answer on the address. */
  readonly bindings: readonly Binding[];
  readonly released?: LastRelease;
  /** The reservation, which outlives a release. */
  readonly reservation?: Reservation;
  readonly quarantine?: Quarantine;
}

/**
 * Whether an address can be allocated:
 *   taken        no: a Pod holds it
 *   quarantined  no
 *   reserved     to the owner of the reservation only
 *   held         after the binding timeout: released, but a container may still answer on it
 *   idle         after the cooldown
 */
export type Standing = 'taken' | 'quarantined' | 'reserved' | 'held' | 'idle';

/** Where a claim places its address in the order of reuse, and when the claim was last changed. */
export interface Placement {
  readonly standing: Standing;
  readonly lastAt: number;
}

export const placementOf = (claim: Claim): Placement => ({ standing: standingOf(claim), lastAt: claim.lastAt });

/**
 * The order of reuse: the address whose claim was changed first is allocated first. Addresses that
 * one event leaves idle follow in the order of their texts. The writer, a restore from the keys and
 * the drop of idle claims all use this order. The writer may append to its lists without a
 * comparison, because the event that it applies is the newest. Review notes: docs/invariants.md,
 * "The order of reuse exists once".
 */
export const compareReuse = (
  a: { readonly address: string; readonly last: Seq },
  b: { readonly address: string; readonly last: Seq },
): number => a.last - b.last || (a.address < b.address ? -1 : 1);

/** The standings, from weak to strong. */
const strength: readonly Standing[] = ['idle', 'held', 'reserved', 'quarantined', 'taken'];

/**
 * Combines the claims of several Subnets at one address of a network into the strongest standing
 * and the last event of all. Undefined without claims.
 */
export function combineClaims(claims: readonly Claim[]): Claim | undefined {
  const [first, ...others] = claims;
  if (!first || others.length === 0) return first;
  const rank = (claim: Claim): number => strength.indexOf(standingOf(claim));
  const strongest = claims.reduce((best, claim) => (rank(claim) > rank(best) ? claim : best), first);
  const latest = claims.reduce((best, claim) => (claim.last > best.last ? claim : best), first);
  return { ...strongest, last: latest.last, lastAt: latest.lastAt };
}

/** The key by which the claims of a container interface are found. */
export const sandboxKey = (containerId: string, interfaceName: string): string => `${containerId}/${interfaceName}`;

export function sandboxKeysOf({ bindings }: Claim): readonly string[] {
  const keys = bindings.map(({ containerId, interface: name }) => sandboxKey(containerId, name));
  return keys.length < 2 ? keys : [...new Set(keys)];
}

/**
 * The MACs that are held with an address beside the MAC of its holder, as "network/mac": of the
 * containers that may still use it and, during a quarantine, of its last Pod. See rules/mac.ts.
 */
export function formerMacKeysOf({ networks, allocation, bindings, released, quarantine }: Claim): readonly string[] {
  const macs = new Set<string>();
  for (const { mac = '' } of released && quarantine ? [...bindings, released] : bindings)
    if (mac !== '' && mac !== allocation?.mac) macs.add(mac);
  return [...macs].flatMap((mac) => networks.map((network) => `${network}/${mac}`));
}

/** The MAC of the last Pod that held an address which now has no holder, as "network/mac". */
export const releasedMacKeysOf = ({ networks, allocation, released }: Claim): readonly string[] =>
  allocation || !released?.mac ? [] : networks.map((network) => `${network}/${released.mac}`);

export function standingOf({ allocation, quarantine, reservation, bindings }: Claim): Standing {
  if (allocation) return 'taken';
  if (quarantine) return 'quarantined';
  if (reservation) return 'reserved';
  return bindings.length > 0 ? 'held' : 'idle';
}

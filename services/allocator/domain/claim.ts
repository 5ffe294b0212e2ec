/** All that is known of one address now: what its key in etcd holds, and enough to decide what happens to it next. */
import type { Attachment, Grant, Seq } from './event.ts';

/** What a Pod holds, from the event that gave it. Immutable: a change makes a new one. */
export interface Allocation extends Grant {
  /** The event that gave it. */
  readonly seq: Seq;
  readonly subnet: string;
  /** Since when, milliseconds since 1970. */
  readonly at: number;
  /** The latest earlier uids of the attachment's Pod name, as far as the claims tell; absent for none. */
  readonly superseded?: readonly string[];
}

/** A container that was told to use the address, and not yet told to stop. */
export interface Binding {
  readonly alloc: Seq;
  readonly attachment: Attachment;
  readonly containerId: string;
  readonly interface: string;
  readonly node: string;
  readonly bootId: string;
  readonly at: number;
}

/** The address is held without a Pod, or for the Pod that has it. */
export interface Reservation {
  /** Who may take it: "pod/<namespace>/<pod>/<provider>", or any text that a request repeats. */
  readonly reservedFor: string;
  readonly reason: string;
  /** The MAC that goes with it, '' for none. */
  readonly mac: string;
  readonly seq: Seq;
  readonly at: number;
}

/** Somebody outside answers on the address. */
export interface Quarantine {
  readonly seenMac: string;
  readonly seenAt: string;
  readonly reason: string;
  readonly seq: Seq;
  readonly at: number;
}

export interface Claim {
  /** The last event that touched the address, and when: an address that nobody has is idle since then. */
  readonly last: Seq;
  readonly lastAt: number;
  /**
   * The networks on which the address is used, reserved or at rest: the Subnet's own first, then that of a NIC of another
   * network that drew from the Subnet. On each of them no other Subnet's claim may have a holder at the same address.
   */
  readonly networks: readonly string[];
  /** Who holds it; absent after release. Both addresses of a dual-stack allocation carry the same one. */
  readonly allocation?: Allocation;
  /** They outlive the allocation: somebody may still answer on the address. */
  readonly bindings: readonly Binding[];
  /** The last release, and of which Pod ("namespace/name"; absent in keys from before it was noted). */
  readonly released?: { readonly seq: Seq; readonly at: number; readonly uid: string; readonly pod?: string };
  /** It outlives the holder. */
  readonly reservation?: Reservation;
  readonly quarantine?: Quarantine;
}

/**
 * Where an address stands, as far as giving it is concerned:
 *   taken        a Pod holds it
 *   quarantined  nobody gets it
 *   reserved     only whom it is reserved for gets it
 *   held         released, but a container may still answer on it
 *   idle         nobody has it
 */
export type Standing = 'taken' | 'quarantined' | 'reserved' | 'held' | 'idle';

const strength: readonly Standing[] = ['idle', 'held', 'reserved', 'quarantined', 'taken'];

/**
 * What several Subnets' claims of one address on one network come to: the strongest standing, and a rest that begins with the
 * last event of all. undefined for no claim.
 */
export function combined(claims: readonly Claim[]): Claim | undefined {
  const [first, ...others] = claims;
  if (!first || others.length === 0) return first;
  const rank = (claim: Claim): number => strength.indexOf(standingOf(claim));
  const strongest = claims.reduce((best, claim) => (rank(claim) > rank(best) ? claim : best), first);
  const latest = claims.reduce((best, claim) => (claim.last > best.last ? claim : best), first);
  return { ...strongest, last: latest.last, lastAt: latest.lastAt };
}

export function standingOf({ allocation, quarantine, reservation, bindings }: Claim): Standing {
  if (allocation) return 'taken';
  if (quarantine) return 'quarantined';
  if (reservation) return 'reserved';
  return bindings.length > 0 ? 'held' : 'idle';
}

/** All that is known of one address now: what its key in etcd holds, and enough to decide what happens to it next. */
import type { Attachment, Grant, Seq } from './event.ts';

/** What a Pod holds, from the event that gave it. Immutable: a change makes a new one. */
export interface Allocation extends Grant {
  /** The event that gave it. */
  readonly seq: Seq;
  readonly subnet: string;
  /** Since when, milliseconds since 1970. */
  readonly at: number;
}

/** A container that was told to use the address, and was not told to stop. */
export interface Binding {
  readonly alloc: Seq;
  readonly attachment: Attachment;
  readonly containerId: string;
  readonly interface: string;
  readonly node: string;
  readonly bootId: string;
  readonly at: number;
}

export interface Claim {
  /** The last event that touched the address, and when: an address that nobody has is idle since then. */
  readonly last: Seq;
  readonly lastAt: number;
  /** Who holds it; absent after release. Both addresses of a dual-stack allocation carry the same one. */
  readonly allocation?: Allocation;
  /** They outlive the allocation: somebody may still answer on the address. */
  readonly bindings: readonly Binding[];
  /** The last release. */
  readonly released?: { readonly seq: Seq; readonly at: number; readonly uid: string };
}

/**
 * Where an address stands, as far as giving it is concerned:
 *   taken  a Pod holds it
 *   held   released, but a container may still answer on it
 *   idle   nobody has it
 */
export type Standing = 'taken' | 'held' | 'idle';

export const standingOf = (claim: Claim): Standing =>
  claim.allocation ? 'taken' : claim.bindings.length > 0 ? 'held' : 'idle';

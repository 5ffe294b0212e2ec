/**
 * The maps of claims and allocations, as the rules read them. A state for decisions stores the
 * values as bytes (`compact/`). A state that only verifies or replays stores objects.
 */
import type { Seq } from '../values/ledger.ts';
import { type Allocation, type Claim, type ClaimName, type Placement, placementOf } from './claim.ts';

export interface Table<Value> {
  readonly size: number;
  get(key: string): Value | undefined;
  has(key: string): boolean;
  set(key: string, value: Value): unknown;
  delete(key: string): boolean;
}

/** The claims of a Subnet by canonical address, in the order in which they were added. */
export interface ClaimMap extends Table<Claim>, Iterable<[string, Claim]> {
  keys(): Iterable<string>;
  values(): Iterable<Claim>;
  /** Adds the claim of a new address without caching it: the next commands rarely read it. */
  restore(address: string, claim: Claim): void;
  /** Yields what the order of allocation depends on. Faster than decoding the claims. */
  outlines(): Iterable<ClaimOutline>;
}

/** What decides whether and in which order an address is allocated. */
export interface ClaimOutline extends Placement {
  readonly address: string;
  readonly last: Seq;
}

export const outlineOf = (address: string, claim: Claim): ClaimOutline => ({
  address,
  last: claim.last,
  ...placementOf(claim),
});

/** Allocations by a key that is computed from each. Several allocations can have the same key. */
export type AllocationMap = Table<readonly Allocation[]>;

/** Allocations that can be read page by page: all, those of a node, or those of a namespace. */
export interface AllocationPages {
  /** The allocations of a group after this event, oldest first. Takes time with their number. */
  after(seq: Seq, group?: string): Iterable<Allocation>;
  /** The approximate number of allocations in a group, for choosing the smallest group. */
  estimatedSize(group: string): number;
}

export const groupOf = {
  all: '',
  node: (node: string): string => `node ${node}`,
  namespace: (namespace: string): string => `namespace ${namespace}`,
} as const;

export const groupsOf = ({ node, attachment }: Allocation): readonly string[] => [
  groupOf.all,
  groupOf.node(node),
  groupOf.namespace(attachment.namespace),
];

/** The claims with bindings, by node. Claims of released addresses are included. */
export interface BindingPages {
  /** Yields the nodes that have a binding from `node` on, sorted by name. */
  nodesFrom(node: string): Iterable<string>;
  /** The claims bound on a node, by allocation, for allocations after `seq`. Each comes once. */
  after(seq: Seq, node: string): Iterable<BoundClaim>;
}

/** A claim that has a binding of the allocation `alloc`. */
export interface BoundClaim {
  readonly alloc: Seq;
  readonly name: ClaimName;
  readonly claim: Claim;
}

/** The allocations that a claim's bindings name, for each node, without duplicates. */
export function boundAllocations({ bindings }: Pick<Claim, 'bindings'>): ReadonlyMap<string, readonly Seq[]> {
  const byNode = new Map<string, Seq[]>();
  for (const { node, alloc } of bindings) {
    const known = byNode.get(node);
    if (!known) byNode.set(node, [alloc]);
    else if (!known.includes(alloc)) known.push(alloc);
  }
  return byNode;
}

/** A read-only map that follows the claims. */
export interface Lookup<Value> {
  get(key: string): Value | undefined;
}

export class ClaimObjects extends Map<string, Claim> implements ClaimMap {
  restore(address: string, claim: Claim): void {
    this.set(address, claim);
  }

  *outlines(): Generator<ClaimOutline> {
    for (const [address, claim] of this) yield outlineOf(address, claim);
  }
}

export class AllocationObjects extends Map<string, readonly Allocation[]> implements AllocationMap, AllocationPages {
  after(after: Seq, group: string = groupOf.all): Iterable<Allocation> {
    return [...this.values()]
      .flat()
      .filter((allocation) => allocation.seq > after && groupsOf(allocation).includes(group))
      .toSorted((a, b) => a.seq - b.seq);
  }

  estimatedSize(group: string): number {
    return [...this.after(0, group)].length;
  }
}

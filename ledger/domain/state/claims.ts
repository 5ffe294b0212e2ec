/**
 * What the rules need of the maps that hold claims and allocations. A state for decisions holds
 * them as bytes (`compact/`), a state that only verifies or replays holds objects.
 */
import type { Seq } from '../values/ledger.ts';
import { type Allocation, type Claim, type ClaimName, type Placement, placementOf } from './claim.ts';

/** A map by text. */
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
  /** Adds the claim of a new address, which the next commands are not likely to read. */
  restore(address: string, claim: Claim): void;
  /** Faster than the claims. */
  outlines(): Iterable<ClaimOutline>;
}

/** What decides whether, and in which order, an address is allocated. */
export interface ClaimOutline extends Placement {
  readonly address: string;
  readonly last: Seq;
}

export const outlineOf = (address: string, claim: Claim): ClaimOutline => ({
  address,
  last: claim.last,
  ...placementOf(claim),
});

/** Allocations by a key that follows from each of them, and that several can have. */
export type AllocationMap = Table<readonly Allocation[]>;

/** Allocations that can be read page by page: all, those of a node, or those of a namespace. */
export interface AllocationPages {
  /** The allocations of a group after this event, oldest first, in the time of their number. */
  after(seq: Seq, group?: string): Iterable<Allocation>;
  /** About the number of allocations in a group; for a choice between groups. */
  estimatedSize(group: string): number;
}

/** The names of the groups. */
export const groupOf = {
  all: '',
  node: (node: string): string => `node ${node}`,
  namespace: (namespace: string): string => `namespace ${namespace}`,
} as const;

/** The groups of an allocation. */
export const groupsOf = ({ node, attachment }: Allocation): readonly string[] => [
  groupOf.all,
  groupOf.node(node),
  groupOf.namespace(attachment.namespace),
];

/** The claims with bindings, by node. Released addresses are among them. */
export interface BindingPages {
  /** The nodes with a binding, by name, from this one on. */
  nodesFrom(node: string): Iterable<string>;
  /** The claims bound on a node whose allocation is after this, each allocation once. */
  after(seq: Seq, node: string): Iterable<BoundClaim>;
}

/** A claim with a binding of this allocation. */
export interface BoundClaim {
  readonly alloc: Seq;
  readonly name: ClaimName;
  readonly claim: Claim;
}

/** The allocations bound on each node in a claim, each once. */
export function boundAllocations({ bindings }: Pick<Claim, 'bindings'>): ReadonlyMap<string, readonly Seq[]> {
  const byNode = new Map<string, Seq[]>();
  for (const { node, alloc } of bindings) {
    const known = byNode.get(node);
    if (!known) byNode.set(node, [alloc]);
    else if (!known.includes(alloc)) known.push(alloc);
  }
  return byNode;
}

/** What can be looked up by a text. It changes with the claims. */
export interface Lookup<Value> {
  get(key: string): Value | undefined;
}

/** Claims as objects. */
export class ClaimObjects extends Map<string, Claim> implements ClaimMap {
  restore(address: string, claim: Claim): void {
    this.set(address, claim);
  }

  *outlines(): Generator<ClaimOutline> {
    for (const [address, claim] of this) yield outlineOf(address, claim);
  }
}

/** Allocations as objects. */
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

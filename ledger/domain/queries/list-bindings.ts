/** Lists the bindings in force: which containers may answer on which addresses. */
import type { Seq } from '../values/ledger.ts';
import { type Binding, sandboxKey } from '../state/claim.ts';
import type { BoundClaim } from '../state/claims.ts';
import type { State } from '../state/state.ts';

/** A container's binding, with the addresses of its allocation. */
export interface BoundSandbox {
  readonly subnet: string;
  readonly addresses: readonly string[];
  readonly binding: Binding;
}

/** The sort key of a binding: node, allocation and container interface. */
export interface BindingPlace {
  readonly node: string;
  readonly alloc: Seq;
  readonly sandbox: string;
}

export interface BindingPageRequest {
  /** The last binding of the page before; undefined for the first page. */
  readonly after: BindingPlace | undefined;
  readonly size: number;
}

/** A page, and the approximate number of claims that were read for it. */
export interface BindingPage {
  readonly bindings: BoundSandbox[];
  readonly next: BindingPlace | undefined;
  readonly read: number;
}

export const placeOf = ({ binding }: BoundSandbox): BindingPlace => ({
  node: binding.node,
  alloc: binding.alloc,
  sandbox: sandboxKey(binding.containerId, binding.interface),
});

/**
 * Reads one page of the bindings in force on a node ('' for all nodes), by node, allocation and
 * container interface. Bindings of released and fenced addresses are included. A binding that
 * exists during all reads is in exactly one page. The time depends on the size of the page.
 */
export function listBindings(state: State, node: string, { after, size }: BindingPageRequest): BindingPage {
  const bindings: BoundSandbox[] = [];
  for (const found of bindingsFrom(state, node, after)) {
    if (bindings.length === size) return { bindings, next: placeOf(bindings.at(-1) as BoundSandbox), read: size };
    bindings.push(found);
  }
  return { bindings, next: undefined, read: bindings.length };
}

function* bindingsFrom(state: State, node: string, after: BindingPlace | undefined): Generator<BoundSandbox> {
  for (const each of node === '' ? state.bindings.nodesFrom(after?.node ?? '') : [node]) {
    const start = after?.node === each ? after : undefined;
    for (const claims of byAllocation(state.bindings.after((start?.alloc ?? 0) - 1, each)))
      for (const found of sandboxesOf(claims, each)) {
        const isBefore = found.binding.alloc === start?.alloc && placeOf(found).sandbox <= start.sandbox;
        if (!isBefore) yield found;
      }
  }
}

/** Joins the two claims of a dual-stack allocation. */
function* byAllocation(claims: Iterable<BoundClaim>): Generator<readonly BoundClaim[]> {
  let same: BoundClaim[] = [];
  for (const claim of claims) {
    if (same.length > 0 && same[0]?.alloc !== claim.alloc) {
      yield same;
      same = [];
    }
    same.push(claim);
  }
  if (same.length > 0) yield same;
}

/** The container interfaces on a node that are bound to one allocation, by name. */
function sandboxesOf(claims: readonly BoundClaim[], node: string): BoundSandbox[] {
  const found = new Map<string, BoundSandbox>();
  for (const { alloc, name, claim } of claims)
    for (const binding of claim.bindings) {
      if (binding.alloc !== alloc || binding.node !== node) continue;
      const key = sandboxKey(binding.containerId, binding.interface);
      const addresses = [...(found.get(key)?.addresses ?? []), name.address].toSorted();
      found.set(key, { subnet: name.subnet, addresses, binding });
    }
  return found.size < 2
    ? [...found.values()]
    : [...found].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each);
}

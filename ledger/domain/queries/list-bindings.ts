/** Lists the bindings in force: which containers may answer on which addresses. */
import type { Binding, ClaimName } from '../state/claim.ts';
import { claimOf, sandboxKey, type State } from '../state/state.ts';

/** A container's binding, with the addresses of its allocation in one subnet. */
export interface BoundSandbox {
  readonly subnet: string;
  readonly addresses: readonly string[];
  readonly binding: Binding;
}

export interface BindingPageRequest {
  /** The `next` of the previous page; '' for the first page. */
  readonly after: string;
  /** The number of container interfaces in a page. Few are bound to more than one allocation. */
  readonly size: number;
}

/**
 * One page of the bindings in force on a node ('' for all nodes), by container and interface; also of released and of fenced
 * addresses. A binding that exists during all reads is in exactly one page.
 */
export function listBindings(
  state: State,
  node: string,
  { after, size }: BindingPageRequest,
): { readonly bindings: BoundSandbox[]; readonly next: string } {
  const isOnNode = ({ subnet, address }: ClaimName): boolean =>
    claimOf(state, subnet, address)?.bindings.some((binding) => binding.node === node) ?? false;
  function* keys(): Iterable<string> {
    for (const [key, claims] of state.sandboxes)
      if (key > after && (node === '' || claims.some((claim) => isOnNode(claim)))) yield key;
  }
  const found = firstOf(keys(), size + 1);
  const page = found.slice(0, size);
  const bindings = page.flatMap((key) => bindingsOfSandbox(state, key));
  return {
    bindings: node === '' ? bindings : bindings.filter(({ binding }) => binding.node === node),
    next: found.length > size ? (page.at(-1) ?? '') : '',
  };
}

/** The first `count` texts in order. Sorts at most twice as many at a time. */
function firstOf(texts: Iterable<string>, count: number): string[] {
  const first: string[] = [];
  let end: string | undefined;
  for (const text of texts) {
    if (end !== undefined && text >= end) continue;
    if (first.push(text) < 2 * count) continue;
    first.sort().length = count;
    end = first.at(-1);
  }
  return first.sort().slice(0, count);
}

/** By subnet and allocation: the same order in a folded and in a restored state. */
function bindingsOfSandbox(state: State, key: string): BoundSandbox[] {
  const found = new Map<string, BoundSandbox>();
  for (const { subnet, address } of state.sandboxes.get(key) ?? [])
    for (const binding of claimOf(state, subnet, address)?.bindings ?? []) {
      if (sandboxKey(binding.containerId, binding.interface) !== key) continue;
      const known = found.get(`${subnet}/${binding.alloc}`);
      const addresses = [...(known?.addresses ?? []), address].toSorted();
      found.set(`${subnet}/${binding.alloc}`, { subnet, addresses, binding });
    }
  return [...found].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, sandbox]) => sandbox);
}

/** Lists the bindings in force: which containers may answer on which addresses. */
import { type Binding, sandboxKey } from '../state/claim.ts';
import { claimOf, type State } from '../state/state.ts';

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
  function* keys(): Iterable<string> {
    for (const claims of state.claims.values())
      for (const { bindings } of claims.values())
        for (const { containerId, interface: name, node: on } of bindings) {
          const key = sandboxKey(containerId, name);
          if (key > after && (node === '' || on === node)) yield key;
        }
  }
  const found = firstOf(keys(), size + 1);
  const page = found.slice(0, size);
  const bindings = page.flatMap((key) => bindingsOfSandbox(state, key));
  return {
    bindings: node === '' ? bindings : bindings.filter(({ binding }) => binding.node === node),
    next: found.length > size ? (page.at(-1) ?? '') : '',
  };
}

/** The first `count` distinct texts in order. Sorts at most twice as many at a time. */
function firstOf(texts: Iterable<string>, count: number): string[] {
  let first = new Set<string>();
  let end: string | undefined;
  for (const text of texts) {
    if (end !== undefined && text >= end) continue;
    if (first.add(text).size < 2 * count) continue;
    first = new Set([...first].sort().slice(0, count));
    end = [...first].at(-1);
  }
  return [...first].sort().slice(0, count);
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

/** Which containers were told to use which addresses, and not told to stop: who may answer on what. */
import type { Binding } from './claim.ts';
import type { ClaimName } from './journal.ts';
import { claimOf, sandboxKey, type State } from './state.ts';

/** A container's binding, with the addresses of its allocation in one subnet. */
export interface BoundSandbox {
  readonly subnet: string;
  readonly addresses: readonly string[];
  readonly binding: Binding;
}

export interface SandboxPage {
  /** A page's `next`; '' for the first. */
  readonly after: string;
  /** Of how many containers' interfaces a page tells; seldom is one of them bound to more than one allocation. */
  readonly size: number;
}

/**
 * One page of the bindings in force on a node ('': on all), by container and interface; those of released and of fenced
 * addresses are among them. One that is there all the while is in exactly one page, whatever comes and goes.
 */
export function listBindings(
  state: State,
  node: string,
  { after, size }: SandboxPage,
): { readonly bindings: BoundSandbox[]; readonly next: string } {
  const isHere = ({ subnet, address }: ClaimName): boolean =>
    claimOf(state, subnet, address)?.bindings.some((binding) => binding.node === node) ?? false;
  function* keys(): Iterable<string> {
    for (const [key, claims] of state.sandboxes)
      if (key > after && (node === '' || claims.some((claim) => isHere(claim)))) yield key;
  }
  const found = firstOf(keys(), size + 1);
  const page = found.slice(0, size);
  const bindings = page.flatMap((key) => bindingsOfSandbox(state, key));
  return {
    bindings: node === '' ? bindings : bindings.filter(({ binding }) => binding.node === node),
    next: found.length > size ? (page.at(-1) ?? '') : '',
  };
}

/** The first `count` texts in order, of however many: never more than twice as many are sorted at a time. */
function firstOf(texts: Iterable<string>, count: number): string[] {
  const kept: string[] = [];
  let end: string | undefined;
  for (const text of texts) {
    if (end !== undefined && text >= end) continue;
    if (kept.push(text) < 2 * count) continue;
    kept.sort().length = count;
    end = kept.at(-1);
  }
  return kept.sort().slice(0, count);
}

/** By subnet and allocation, in an order that follows from what is there, and not from how the state was made. */
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

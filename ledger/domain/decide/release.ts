/** Releases the allocations of a Pod uid, never those of a newer Pod of the same name. */
import type { Release } from '../commands/command.ts';
import type { Event } from '../events/event.ts';
import { Refused } from '../commands/refusal.ts';
import type { Allocation } from '../state/claim.ts';
import { allocationsOfPodName, ownBindingOf, type State } from '../state/state.ts';
import { endOf } from './rules/ended-pods.ts';
import { isFenced, refuseFenced } from './rules/fence.ts';

/**
 * Does nothing for a uid that holds nothing. Skips allocations with fenced addresses.
 * @throws Refused ADDRESS_FENCED if all of them have fenced addresses; ADDRESS_IN_USE if the Pod
 * only detaches, and a container is bound
 */
export function release(state: State, { namespace, pod, uid, cause, evidence, alloc }: Release): Event[] {
  const held = allocationsOfPodName(state, namespace, pod).filter(
    (allocation) => allocation.uid === uid && (alloc === undefined || allocation.seq === alloc),
  );
  const releasable = held.filter(
    ({ subnet, addresses }) => !addresses.some(({ address }) => isFenced(state, subnet, address)),
  );
  if (cause === 'detached') for (const allocation of releasable) refuseBound(state, allocation);
  if (releasable.length === 0)
    for (const { subnet, addresses } of held) for (const { address } of addresses) refuseFenced(state, subnet, address);
  return releasable.map(({ seq, attachment, subnet, addresses: assigned }): Event => {
    const addresses = assigned.map(({ address }) => address);
    const data = { alloc: seq, attachment, uid, addresses, cause, evidence, ...endOf(uid, cause) };
    return { type: 'AddressReleased', subnet, data };
  });
}

/** Refuses while a container of the living Pod uses the allocation: its ADD may have been late. */
function refuseBound(state: State, allocation: Allocation): void {
  const { subnet, addresses } = allocation;
  const bound = ownBindingOf(state, allocation);
  if (!bound) return;
  const named = addresses.map(({ address }) => address).join(', ');
  throw new Refused(
    'ADDRESS_IN_USE',
    `${named} of subnet ${subnet} is bound to container ${bound.containerId} (${bound.interface}) on node ${bound.node}. The attachment can be released after its CNI DEL`,
  );
}

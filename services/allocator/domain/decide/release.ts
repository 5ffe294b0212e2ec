/** Takes back what a Pod uid holds. Conditional, so that a late release can never free a newer owner. */
import type { Release } from '../command.ts';
import type { Event } from '../event.ts';
import { heldBy, type State } from '../state.ts';
import { isFenced, refuseFenced } from './fence.ts';

/**
 * Holding nothing (never, no more, or superseded by a newer uid) is success. A fenced address is left out: the Pod's others go.
 * @throws Refused ADDRESS_FENCED when nothing but fenced ones is left.
 */
export function release(state: State, { namespace, pod, uid, cause, evidence, alloc }: Release): Event[] {
  const held = heldBy(state, namespace, pod).filter(
    (allocation) => allocation.uid === uid && (alloc === undefined || allocation.seq === alloc),
  );
  const free = held.filter(
    ({ subnet, addresses }) => !addresses.some(({ address }) => isFenced(state, subnet, address)),
  );
  if (free.length === 0)
    for (const { subnet, addresses } of held) for (const { address } of addresses) refuseFenced(state, subnet, address);
  return free.map(({ seq, attachment, subnet, addresses: assigned }): Event => {
    const addresses = assigned.map(({ address }) => address);
    return { type: 'AddressReleased', subnet, data: { alloc: seq, attachment, uid, addresses, cause, evidence } };
  });
}

/** Takes back what a Pod uid holds. Conditional, so that a late release can never free a newer owner. */
import type { Release } from '../command.ts';
import type { Event } from '../event.ts';
import { heldBy, type State } from '../state.ts';
import { refuseFenced } from './pick.ts';

/** Holding nothing (never, no more, or superseded by a newer uid) is success. @throws Refused ADDRESS_FENCED */
export function release(state: State, { namespace, pod, uid, cause, evidence, alloc }: Release): Event[] {
  return heldBy(state, namespace, pod)
    .filter((allocation) => allocation.uid === uid && (alloc === undefined || allocation.seq === alloc))
    .map(({ seq, attachment, subnet, addresses: assigned }): Event => {
      const addresses = assigned.map(({ address }) => address);
      for (const address of addresses) refuseFenced(state, subnet, address);
      return { type: 'AddressReleased', subnet, data: { alloc: seq, attachment, uid, addresses, cause, evidence } };
    });
}

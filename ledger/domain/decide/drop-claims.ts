/** Drops claims of long-idle addresses, so that the size of the state follows the use, not the history. */
import type { DropClaims } from '../commands/command.ts';
import { isDroppable, maxClaimsPerDrop } from '../events/claims-dropped.ts';
import type { Event } from '../events/event.ts';
import { claimKey } from '../state/claim.ts';
import { Refused } from '../commands/refusal.ts';
import { claimOf, type State } from '../state/state.ts';

/** Skips claims that are in use, fenced, or not idle for long enough. @throws Refused INVALID_REQUEST for more addresses than an event may have. */
export function dropClaims(state: State, { subnet, addresses, now }: DropClaims): Event[] {
  if (addresses.length > maxClaimsPerDrop)
    throw new Refused(
      'INVALID_REQUEST',
      `${addresses.length} claims can't be dropped by one event: request at most ${maxClaimsPerDrop}`,
    );
  const droppable = [...new Set(addresses)].filter((address) => {
    const claim = claimOf(state, subnet, address);
    return claim && isDroppable(state, subnet, claim, now) && !state.fenced.has(claimKey({ subnet, address }));
  });
  if (droppable.length === 0) return [];
  return [{ type: 'ClaimsDropped', subnet, data: { addresses: droppable, previous: state.dropped.get(subnet) ?? [] } }];
}

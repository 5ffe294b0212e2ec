/** Drops claims that say nothing any more, so that the state grows with what is in use and not with all that ever was. */
import { type Claim, standingOf } from '../claim.ts';
import type { DropClaims } from '../command.ts';
import type { Event } from '../event.ts';
import { claimKey } from '../journal.ts';
import { Refused } from '../refusal.ts';
import { claimOf, type State } from '../state.ts';
import { restBeforeDropMs } from '../subnet.ts';

/** So many IPv6 addresses, each with the event before it, make an event of less than 12 KB, and a batch of less than 128 operations. */
export const mostClaimsADrop = 100;

/** Whether a claim may be dropped: the address is idle, and has been for longer than any later decision asks. */
export function isRested(state: State, subnet: string, claim: Claim, now: number): boolean {
  const homes = claim.networks.flatMap((network) => state.homes.get(network) ?? []);
  const rests = [subnet, ...homes].map((name) => restBeforeDropMs(state.subnets.get(name)?.subnet.spec));
  return standingOf(claim) === 'idle' && now - claim.lastAt > Math.max(...rests);
}

/** @throws Refused INVALID_REQUEST for more addresses than an event may name. */
export function dropClaims(state: State, { subnet, addresses, now }: DropClaims): Event[] {
  if (addresses.length > mostClaimsADrop)
    throw new Refused(
      'INVALID_REQUEST',
      `${addresses.length} claims can't be dropped by one event: at most ${mostClaimsADrop} are allowed, name fewer`,
    );
  const rested = [...new Set(addresses)].filter((address) => {
    const claim = claimOf(state, subnet, address);
    return claim && isRested(state, subnet, claim, now) && !state.fenced.has(claimKey({ subnet, address }));
  });
  if (rested.length === 0) return [];
  return [{ type: 'ClaimsDropped', subnet, data: { addresses: rested, previous: state.dropped.get(subnet) ?? [] } }];
}

/** Definition of ClaimsDropped, and when a claim may be dropped. */
import { isNever } from '../commands/command.ts';
import { type Claim, standingOf } from '../state/claim.ts';
import { removeClaim } from '../state/indexes.ts';
import { claimOf, cooldownTimesOfSubnet, type State } from '../state/state.ts';
import { maxPreviousDrops } from './event.ts';
import { type EventDefinition } from './event-definition.ts';

/** This many IPv6 addresses make an event of less than 12 KB and less than 128 operations. */
export const maxClaimsPerDrop = 100;

/** The minimum idle time in a Subnet without a binding timeout. Earlier versions verify it. */
const defaultIdleMs = 3_600_000;

/** Whether a claim may be dropped: it has been idle for so long that no decision depends on it. */
export function isDroppable(state: State, subnet: string, claim: Claim, now: number): boolean {
  const homes = claim.networks.flatMap((network) => state.homeSubnets.get(network) ?? []);
  const minIdleMs = [subnet, ...homes].flatMap((name) => {
    const { cooldownMs, bindingTimeoutMs } = cooldownTimesOfSubnet(state, name);
    return [cooldownMs, isNever(bindingTimeoutMs) ? defaultIdleMs : bindingTimeoutMs];
  });
  return standingOf(claim) === 'idle' && now - claim.lastAt > Math.max(...minIdleMs);
}

export const claimsDropped: EventDefinition<'ClaimsDropped'> = {
  since: 5,
  changes: [],
  addressesOf: ({ addresses }) => addresses,
  otherKeyOf: ({ subnet }) => ({ kind: 'dropped', name: subnet }),
  evolve: (state, { seq, subnet, data }, undoLog) => {
    for (const address of data.addresses) removeClaim(state, { subnet, address }, undoLog);
    undoLog.setKey(state.dropped, subnet, [seq, ...data.previous].slice(0, maxPreviousDrops));
  },
  brokenRule: (state, { subnet, at, data: { addresses, previous } }) => {
    const known = state.dropped.get(subnet) ?? [];
    if (JSON.stringify(previous) !== JSON.stringify(known))
      return `names events ${previous.join(', ') || 'none'} as the last that dropped claims of subnet ${subnet}; they are ${known.join(', ') || 'none'}`;
    if (addresses.length === 0 || addresses.length > maxClaimsPerDrop || new Set(addresses).size < addresses.length)
      return `drops ${addresses.length} claims: 1 to ${maxClaimsPerDrop} are allowed, each once`;
    for (const address of addresses) {
      const claim = claimOf(state, subnet, address);
      if (!claim) return `drops the claim of ${address} of subnet ${subnet}, which does not exist`;
      if (!isDroppable(state, subnet, claim, at))
        return `drops the claim of ${address} of subnet ${subnet}, which is not idle for long enough`;
    }
    return undefined;
  },
};

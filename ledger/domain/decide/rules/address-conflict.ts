/** Why a requested address cannot be allocated: the claims at it, in the subnet and on the networks. */
import type { CooldownTimes } from '../../addresses/address-part.ts';
import type { Allocation, Claim } from '../../state/claim.ts';
import { otherClaims } from '../../state/claims-on-network.ts';
import { claimOf, type ConfiguredSubnet, type State } from '../../state/state.ts';
import { cooldownTimesOf } from './network-rules.ts';
import { describeUnendedBinding, formatInstant } from './refusal-messages.ts';

/** The request for the address. */
export interface ClaimSearch {
  /** The network of the NIC with an address of a subnet. */
  readonly networkIn: (subnet: string) => string;
  /** The owners whose reserved addresses the attachment may take. */
  readonly entitlements: ReadonlySet<string>;
  /** The allocation that the Pod gives up for this. */
  readonly own: Allocation | undefined;
  readonly now: number;
}

/** Why an address conflicts with a claim on the subnet's network or on the NIC's; undefined if it can be allocated. */
export function findConflict(
  state: State,
  { subnet }: ConfiguredSubnet,
  address: string,
  search: ClaimSearch,
): string | undefined {
  const { name } = subnet;
  const own = claimOf(state, name, address);
  const ownConflict =
    own &&
    conflictWith(
      own,
      `${address} of subnet ${name}`,
      cooldownTimesOf(state, subnet, { subnet: name, address }, own),
      search,
    );
  if (ownConflict !== undefined) return ownConflict;
  for (const network of new Set([subnet.network, search.networkIn(name)]))
    for (const { subnet: other, claim } of otherClaims(state, network, address, name)) {
      const conflict = conflictWith(
        claim,
        `${address} of subnet ${other}, on the same network ${network},`,
        cooldownTimesOf(state, subnet, { subnet: other, address }, claim),
        search,
      );
      if (conflict !== undefined) return conflict;
    }
  return undefined;
}

function conflictWith(
  claim: Claim,
  what: string,
  { bindingTimeoutMs }: CooldownTimes,
  { now, own, entitlements }: ClaimSearch,
): string | undefined {
  const { allocation, quarantine, reservation } = claim;
  const isOwn = allocation !== undefined && allocation.seq === own?.seq;
  if (quarantine)
    return `${what} is quarantined since ${formatInstant(quarantine.at)}: ${quarantine.seenMac || 'another host'} answers on it${quarantine.seenAt && ` (seen at ${quarantine.seenAt})`}. Remove that host, then run ipledger unquarantine`;
  if (reservation && !entitlements.has(reservation.reservedFor))
    return `${what} is reserved for ${reservation.reservedFor} since ${formatInstant(reservation.at)}${reservation.reason && `: ${reservation.reason}`}`;
  if (isOwn) return undefined;
  if (allocation) return inUseBy(allocation, what, reservation);
  return claim.bindings.length > 0 && claim.lastAt > now - bindingTimeoutMs
    ? describeUnendedBinding(what, claim, bindingTimeoutMs)
    : undefined;
}

function inUseBy({ attachment, uid, at }: Allocation, what: string, reservation: Claim['reservation']): string {
  const pod = `${attachment.namespace}/${attachment.pod}`;
  // Kube-OVN's message for a Vip, which users search for.
  const vip = /^vip\/(.+)$/.exec(reservation?.reservedFor ?? '')?.[1];
  const found = vip === undefined ? '' : `vip '${vip}' is in use by pod ${pod}: `;
  const reserved = reservation ? ` (reserved for ${reservation.reservedFor})` : '';
  return `${found}${what}${reserved} is in use by Pod ${pod} (uid ${uid}, ${attachment.provider}) since ${formatInstant(at)}`;
}

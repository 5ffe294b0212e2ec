/** Explains why a requested address is not free, by claims in its subnet and on its networks. */
import type { CooldownTimes } from '../../state/address-pools/address-pool.ts';
import type { Allocation, Claim, ClaimName } from '../../state/claim.ts';
import { otherClaims } from '../../state/claims-on-network.ts';
import { type RefusalCode, Refused } from '../../commands/refusal.ts';
import { claimOf, type ConfiguredSubnet, type State } from '../../state/state.ts';
import { cooldownTimesOf } from './network-rules.ts';
import { describeUnendedBinding, formatInstant, unquarantineCommand } from './refusal-messages.ts';

/** The requester, as far as conflicts depend on it. */
export interface ClaimSearch {
  /** Returns the network of the NIC if its address is in `subnet`. */
  readonly networkIn: (subnet: string) => string;
  /** The owners whose reserved addresses the attachment may take. */
  readonly entitlements: ReadonlySet<string>;
  /** The allocation that the Pod gives up in exchange. */
  readonly own: Allocation | undefined;
  readonly now: number;
}

/** Finds a claim that conflicts with an address, on the network of the subnet or of the NIC. */
export function findConflict(
  state: State,
  { subnet }: ConfiguredSubnet,
  address: string,
  search: ClaimSearch,
): Refused | undefined {
  const { name } = subnet;
  const conflictOf = (claim: Claim, of: ClaimName, what: string): Refused | undefined =>
    conflictWith(claim, { of, what }, cooldownTimesOf(state, subnet, of, claim), search);
  const own = claimOf(state, name, address);
  const ownConflict = own && conflictOf(own, { subnet: name, address }, `${address} of subnet ${name}`);
  if (ownConflict) return ownConflict;
  for (const network of new Set([subnet.network, search.networkIn(name)]))
    for (const { subnet: other, claim } of otherClaims(state, network, address, name)) {
      const what = `${address} of subnet ${other}, on the same network ${network},`;
      const found = conflictOf(claim, { subnet: other, address }, what);
      if (found) return found;
    }
  return undefined;
}

function conflictWith(
  claim: Claim,
  { of, what }: { readonly of: ClaimName; readonly what: string },
  { bindingTimeoutMs }: CooldownTimes,
  { now, own, entitlements }: ClaimSearch,
): Refused | undefined {
  const { allocation, quarantine, reservation } = claim;
  const isOwn = allocation !== undefined && allocation.seq === own?.seq;
  if (quarantine)
    return conflict(
      'ADDRESS_QUARANTINED',
      `${what} is quarantined since ${formatInstant(quarantine.at)}: ${quarantine.seenMac || 'another host'} answers on it${quarantine.seenAt && ` (seen at ${quarantine.seenAt})`}. Remove that host, then run \`${unquarantineCommand(of)}\``,
    );
  if (reservation && !entitlements.has(reservation.reservedFor))
    return conflict(
      'ADDRESS_RESERVED',
      `${what} is reserved for ${reservation.reservedFor} since ${formatInstant(reservation.at)}${reservation.reason && `: ${reservation.reason}`}. Delete the object that reserves it; without one, run ipledger unreserve`,
    );
  if (isOwn) return undefined;
  if (allocation) return conflict('ADDRESS_IN_USE', inUseBy(allocation, what, reservation));
  return claim.bindings.length > 0 && claim.lastAt > now - bindingTimeoutMs
    ? conflict('ADDRESS_IN_USE', describeUnendedBinding(what, claim, bindingTimeoutMs))
    : undefined;
}

const conflict = (code: RefusalCode, text: string): Refused => new Refused(code, `AddressConflict: ${text}`);

function inUseBy({ attachment, uid, at }: Allocation, what: string, reservation: Claim['reservation']): string {
  const pod = `${attachment.namespace}/${attachment.pod}`;
  // Kube-OVN reports a Vip with these words, and users search for them.
  const vip = /^vip\/(.+)$/.exec(reservation?.reservedFor ?? '')?.[1];
  const found = vip === undefined ? '' : `vip '${vip}' is in use by pod ${pod}: `;
  const reserved = reservation ? ` (reserved for ${reservation.reservedFor})` : '';
  return `${found}${what}${reserved} is in use by Pod ${pod} (uid ${uid}, ${attachment.provider}) since ${formatInstant(at)}`;
}

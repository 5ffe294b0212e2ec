/** Changes the claims at the addresses of an event, with the event's number, time and networks. */
import type { Sequenced } from './event.ts';
import type { Claim } from '../state/claim.ts';
import { putClaim } from '../state/indexes.ts';
import { networkOf } from '../state/network.ts';
import { claimOf, type State } from '../state/state.ts';
import type { UndoLog } from '../state/undo-log.ts';

export interface ClaimsChange {
  /** Canonical text. */
  readonly addresses: readonly string[];
  /** The claim after the event. `changeClaims` then sets `last`, `lastAt` and `networks`. */
  readonly change: (claim: Claim) => Claim;
}

const emptyClaim: Claim = { last: 0, lastAt: 0, networks: [], bindings: [] };

/** Changes the claim at each address. Creates missing claims. */
export function changeClaims(
  state: State,
  event: Sequenced,
  { addresses, change }: ClaimsChange,
  undoLog: UndoLog,
): void {
  // Sorted, because a state restored from keys orders the addresses of one event by their texts.
  for (const address of addresses.length > 1 ? addresses.toSorted() : addresses) {
    const before = claimOf(state, event.subnet, address) ?? emptyClaim;
    const networks = networksAfter(state, event, before.networks);
    const after = { ...change(before), last: event.seq, lastAt: event.at, networks };
    putClaim(state, { subnet: event.subnet, address }, after, undoLog);
  }
}

/** A new allocation sets the networks on which the address is used. Other events add networks. */
function networksAfter(state: State, event: Sequenced, before: readonly string[]): readonly string[] {
  const subnet = state.subnets.get(event.subnet)?.subnet;
  const home = subnet?.network;
  const provider = 'attachment' in event.data ? event.data.attachment.provider : undefined;
  // The common case: the address is used on the network of its subnet only.
  const isAtHome = provider === undefined || networkOf(provider, event.subnet) === home;
  if (subnet && isAtHome && (before.length === 0 || (before.length === 1 && before[0] === home)))
    return before.length === 1 ? before : subnet.networks;
  const networks = new Set<string>(home === undefined ? [] : [home]);
  if (event.type !== 'AddressAllocated') for (const network of before) networks.add(network);
  if (provider !== undefined) networks.add(networkOf(provider, event.subnet));
  const isSame = networks.size === before.length && [...networks].every((network, at) => before[at] === network);
  return isSame ? before : [...networks];
}

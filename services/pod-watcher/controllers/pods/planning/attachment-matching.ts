/**
 * Matches a Pod's network selections with the attachments that the Pod already holds, because its
 * annotation may have changed since. Pure. It compares only names, so that a Pod keeps its
 * attachment to a network that cannot be read.
 */
import type { HeldAllocation } from '../../../ledger/ledger-events.ts';
import { primaryProvider } from '../../subnets/subnet-cache.ts';
import { networkKey, type NetworkSelection } from './network-selections.ts';

/** An attachment that the Pod's uid holds. */
export type HeldAttachment = Pick<HeldAllocation, 'seq' | 'provider' | 'ordinal' | 'interface' | 'addresses'>;

export interface MatchedSelection<H extends HeldAttachment> {
  readonly selection: NetworkSelection;
  /** The number of the attachment among the Pod's attachments to this network. */
  readonly ordinal: number;
  /** The attachment that the Pod holds for this selection. */
  readonly held: H | undefined;
}

export interface AttachmentMatching<H extends HeldAttachment> {
  /** Matches in the order of the selections. */
  readonly matches: readonly MatchedSelection<H>[];
  /** Held attachments that the annotation no longer selects, except the primary network. */
  readonly unselected: readonly H[];
}

/**
 * Matches by interface, then by requested address, then by order. An unmatched selection gets the
 * lowest free ordinal.
 * @param held the attachments of one Pod uid, sorted by ordinal
 */
export function matchHeldAttachments<H extends HeldAttachment>(
  selections: readonly NetworkSelection[],
  held: readonly H[],
): AttachmentMatching<H> {
  const matched = new Map<NetworkSelection, H>();
  const unmatched = new Set(held.filter(({ provider }) => provider !== primaryProvider));
  for (const matches of [hasSameInterface, hasRequestedAddress, hasCompatibleInterface])
    for (const selection of selections) {
      if (matched.has(selection)) continue;
      const match = [...unmatched].find((each) => isOfNetwork(selection, each) && matches(selection, each));
      if (!match) continue;
      matched.set(selection, match);
      unmatched.delete(match);
    }
  return { matches: assignOrdinals(selections, held, matched), unselected: [...unmatched] };
}

function assignOrdinals<H extends HeldAttachment>(
  selections: readonly NetworkSelection[],
  held: readonly H[],
  matched: ReadonlyMap<NetworkSelection, H>,
): MatchedSelection<H>[] {
  const usedByNetwork = new Map<string, Set<number>>();
  return selections.map((selection) => {
    const network = networkKey(selection);
    const used =
      usedByNetwork.get(network) ??
      new Set(held.flatMap((each) => (isOfNetwork(selection, each) ? [each.ordinal] : [])));
    usedByNetwork.set(network, used);
    const match = matched.get(selection);
    const ordinal = match?.ordinal ?? lowestUnused(used);
    used.add(ordinal);
    return { selection, ordinal, held: match };
  });
}

function lowestUnused(used: ReadonlySet<number>): number {
  let ordinal = 0;
  for (; used.has(ordinal); ordinal++);
  return ordinal;
}

/** Whether an attachment belongs to this network, whose kind may have changed since. */
function isOfNetwork({ name, namespace }: NetworkSelection, { provider }: HeldAttachment): boolean {
  return provider === `${name}.${namespace}` || provider === `${name}.${namespace}.ovn`;
}

const hasSameInterface = (selection: NetworkSelection, held: HeldAttachment): boolean =>
  selection.interface !== '' && selection.interface === held.interface;

/** Whether two interfaces can be one NIC: Multus may give any name to an unnamed one. */
const hasCompatibleInterface = (selection: NetworkSelection, held: HeldAttachment): boolean =>
  selection.interface === '' || held.interface === '';

const hasRequestedAddress = (selection: NetworkSelection, held: HeldAttachment): boolean =>
  hasCompatibleInterface(selection, held) &&
  held.addresses.some(({ address }) => selection.addresses.some((text) => text.split('/')[0] === address));

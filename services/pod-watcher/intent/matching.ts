/**
 * Which of a Pod's networks has which of the attachments that the Pod holds already: its annotation may have been edited since.
 * Pure; looks at nothing but the names, so that a network that cannot be read keeps what was given for it.
 */
import type { Holding } from '../ledger/facts.ts';
import type { Selection } from './attachments.ts';
import { primaryProvider } from './subnets.ts';

/** An attachment that the Pod's uid holds. */
export type Held = Pick<Holding, 'seq' | 'provider' | 'ordinal' | 'interface' | 'addresses'>;

export interface Matching<H extends Held> {
  /** For each selection the attachment's ordinal among those of its network, and what is held of it. */
  readonly each: readonly { readonly ordinal: number; readonly held: H | undefined }[];
  /** What the annotation names no longer. The primary network is not named in it. */
  readonly unnamed: readonly H[];
}

/**
 * Matches them by interface, then by the address asked for, then in order. Who is new gets an ordinal that nobody has.
 * @param held of one Pod uid, in the order of ordinals.
 */
export function matchHeld<H extends Held>(selections: readonly Selection[], held: readonly H[]): Matching<H> {
  const matched = new Map<number, H>();
  const left = new Set(held.filter(({ provider }) => provider !== primaryProvider));
  for (const rule of [sameInterface, sameAddress, compatible])
    for (const [index, selection] of selections.entries()) {
      if (matched.has(index)) continue;
      const own = [...left].find((each) => isOf(selection, each) && rule(selection, each));
      if (!own) continue;
      matched.set(index, own);
      left.delete(own);
    }
  return { each: numbered(selections, held, matched), unnamed: [...left] };
}

function numbered<H extends Held>(
  selections: readonly Selection[],
  held: readonly H[],
  matched: ReadonlyMap<number, H>,
): Matching<H>['each'] {
  const used = new Map<string, Set<number>>();
  return selections.map((selection, index) => {
    const network = `${selection.namespace}/${selection.name}`;
    const ordinals =
      used.get(network) ?? new Set(held.flatMap((each) => (isOf(selection, each) ? [each.ordinal] : [])));
    used.set(network, ordinals);
    const own = matched.get(index);
    const ordinal = own?.ordinal ?? free(ordinals);
    ordinals.add(ordinal);
    return { ordinal, held: own };
  });
}

function free(taken: ReadonlySet<number>): number {
  let ordinal = 0;
  while (taken.has(ordinal)) ordinal += 1;
  return ordinal;
}

/** Whether an attachment is of the network, whichever kind the network was then. */
function isOf({ name, namespace }: Selection, { provider }: Held): boolean {
  return provider === `${name}.${namespace}` || provider === `${name}.${namespace}.ovn`;
}

const sameInterface = (selection: Selection, held: Held): boolean =>
  selection.interface !== '' && selection.interface === held.interface;

/** One that was numbered by Multus may be called anything; one that has another name is another NIC. */
const compatible = (selection: Selection, held: Held): boolean => selection.interface === '' || held.interface === '';

const sameAddress = (selection: Selection, held: Held): boolean =>
  compatible(selection, held) &&
  held.addresses.some(({ address }) => selection.addresses.some((asked) => asked.split('/')[0] === address));

/** All that the ledger and the Kubernetes API do not say alike. Pure. */
import {
  compareBoundNodes,
  compareCounts,
  compareFences,
  compareFreeze,
  compareHolders,
  compareNodes,
} from './ledger-alone.ts';
import { compareIpObjects, compareStatus } from './objects.ts';
import type { Disagreement, Picture } from './picture.ts';
import { comparePods } from './pods.ts';
import { compareReservations } from './reservations.ts';
import { compareWire } from './wire.ts';

/** Worst first. */
const comparisons = [
  compareHolders,
  compareBoundNodes,
  compareFences,
  compareWire,
  comparePods,
  compareNodes,
  compareReservations,
  compareIpObjects,
  compareStatus,
  compareCounts,
];

/**
 * Every disagreement in a picture; none when all agree. Of a frozen ledger only that it is: whoever made the cluster agree with it
 * would destroy what `recover` brings it back from.
 */
export function compare(picture: Picture): Disagreement[] {
  const frozen = compareFreeze(picture);
  return frozen.length > 0 ? frozen : comparisons.flatMap((each) => each(picture));
}

/** Those that another picture, taken later, shows as they are: nothing that moves is told. */
export function lasting(found: readonly Disagreement[], later: readonly Disagreement[]): Disagreement[] {
  const still = new Set(later.map(identity));
  return found.filter((each) => still.has(identity(each)));
}

const identity = ({ kind, where, what }: Disagreement): string => [kind, where, what].join('\n');

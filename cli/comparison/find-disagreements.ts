/** Finds all disagreements of a check input. Pure. */
import { compareNodeSwitch } from '../ovn/node-switch.ts';
import { compareNorthbound } from '../ovn/northbound.ts';
import {
  compareBoundNodes,
  compareCounts,
  compareFencedAddresses,
  compareFreeze,
  compareHolders,
  compareNodes,
  findObstacle,
  compareAgents,
} from './compare-ledger.ts';
import { compareIpObjects, compareStatus, compareSubnets } from './compare-objects.ts';
import type { CheckInput } from './check-input.ts';
import { comparePods, compareInterfaces } from './compare-pods.ts';
import { compareReservations } from './compare-reservations.ts';
import type { Disagreement } from './disagreement.ts';

const compareOvn = ({ ledger, cluster, northbound }: CheckInput): Disagreement[] =>
  northbound ? compareNorthbound(ledger, northbound, cluster.namespace) : [];

const compareOvs = ({ ledger, nodeSwitch }: CheckInput): Disagreement[] =>
  nodeSwitch ? compareNodeSwitch(ledger, nodeSwitch) : [];

/** The comparisons, the most serious first. */
const comparisons = [
  compareHolders,
  compareBoundNodes,
  compareFencedAddresses,
  compareInterfaces,
  comparePods,
  compareNodes,
  compareAgents,
  compareOvn,
  compareOvs,
  compareReservations,
  compareSubnets,
  compareIpObjects,
  compareStatus,
  compareCounts,
];

/**
 * Returns every disagreement. For a frozen ledger, it returns only the freeze: other remedies would
 * destroy the cluster state that `recover` needs. If nothing can be written for another reason, it
 * returns only that reason: no other remedy succeeds before.
 */
export function findDisagreements(input: CheckInput): Disagreement[] {
  const [first] = [...compareFreeze(input), ...findObstacle(input)];
  return first ? [first] : comparisons.flatMap((each) => each(input));
}

/** The disagreements that both reads show. */
export function findLasting(second: readonly Disagreement[], first: readonly Disagreement[]): Disagreement[] {
  const known = new Set(first.map(disagreementKey));
  return second.filter((each) => known.has(disagreementKey(each)));
}

const disagreementKey = ({ kind, where, what }: Disagreement): string => [kind, where, what].join('\n');

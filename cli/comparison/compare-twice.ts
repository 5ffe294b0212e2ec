/** Compares the ledger with the cluster: two reads, and the differences that both show. */
import { pause } from '../../lib/process/abortable.ts';
import { readCluster } from '../cluster/read-cluster.ts';
import type { KubernetesClient } from '../clients/kubernetes-client.ts';
import {
  type NodeSwitchOptions,
  type NorthboundOptions,
  readNodeSwitch,
  readNorthbound,
} from '../ovn/ovn-databases.ts';
import { type CheckInput, type LedgerEndpoints, readLedger } from './check-input.ts';
import type { Disagreement } from './disagreement.ts';
import { findDisagreements, findLasting } from './find-disagreements.ts';

/** The pod-watcher needs a second or two to show a change. */
export const secondReadAfterMs = 3_000;

export interface Comparison {
  readonly input: CheckInput;
  readonly disagreements: readonly Disagreement[];
  /** The number of differences that only one of two reads showed. */
  readonly transient: number;
}

export interface ComparisonSources extends LedgerEndpoints {
  readonly options: NorthboundOptions & NodeSwitchOptions;
  readonly kubernetes: KubernetesClient;
}

/**
 * Compares twice, because ledger and API cannot be read at one instant: a difference counts only if
 * two reads show it.
 * @param accept called with each read. It throws for a read that is no result.
 */
export async function compareTwice(
  sources: ComparisonSources,
  accept: (input: CheckInput) => void = () => undefined,
): Promise<Comparison> {
  const read = async (): Promise<CheckInput> => {
    const input = await readInput(sources);
    accept(input);
    return input;
  };
  const firstInput = await read();
  const first = findDisagreements(firstInput);
  if (first.length === 0) return { input: firstInput, disagreements: first, transient: 0 };
  await pause(secondReadAfterMs, sources.signal);
  const input = await read();
  const second = findDisagreements(input);
  const disagreements = findLasting(second, first);
  return { input, disagreements, transient: Math.max(first.length, second.length) - disagreements.length };
}

async function readInput(sources: ComparisonSources): Promise<CheckInput> {
  const { options, kubernetes, signal } = sources;
  const [ledger, cluster, nodeSwitch] = await Promise.all([
    readLedger(sources),
    readCluster(kubernetes),
    readNodeSwitch(options, signal),
  ]);
  const northbound = await readNorthbound(options, ledger.id, signal);
  return { ledger, cluster, northbound, nodeSwitch };
}

/** Which Kubernetes cluster `make up` serves: one of its own, or the one that the user named. */
import { delimiter, join, resolve } from 'node:path';
import { type Kubectl, kubectlFor } from '../kubectl.ts';
import type { Settings } from './settings.ts';
import { type State, type UserCluster, writeState } from './state.ts';
import { describeSurvey, installCrds, survey } from './user-cluster.ts';

export interface ClusterChoice {
  readonly folder: string;
  readonly state: State;
  readonly settings: Settings;
  readonly signal: AbortSignal;
}

/**
 * Settles it, and prepares the user's cluster when YES=1 says so.
 * @returns the user's kubeconfig; undefined for a cluster of our own
 * @throws Error with what would be done, when the user has not agreed; or when this folder's ledger belongs to another cluster.
 */
export async function chooseCluster({ folder, state, settings, signal }: ClusterChoice): Promise<string | undefined> {
  if (settings.kubeconfig === undefined) {
    if (typeof state.cluster === 'object')
      throw otherLedger(folder, `the cluster at ${state.cluster.server}: set KUBECONFIG to it`);
    state.cluster = 'own';
    return undefined;
  }
  const kubeconfig = settings.kubeconfig
    .split(delimiter)
    .map((file) => resolve(file))
    .join(delimiter);
  const kubectl = userKubectl(folder, kubeconfig, signal);
  const found = await survey(kubectl);
  if (state.cluster === 'own') throw otherLedger(folder, 'a cluster of its own: unset KUBECONFIG');
  if (state.cluster !== undefined && state.cluster.server !== found.server)
    throw otherLedger(folder, `the cluster at ${state.cluster.server}: set KUBECONFIG to it`);
  if (!settings.yes)
    throw new Error(`${describeSurvey(found)}\nSay YES=1 to go on, or unset KUBECONFIG for a cluster of its own.`);
  const before = state.cluster?.installed ?? [];
  state.cluster = { kubeconfig, server: found.server, installed: [...new Set([...before, ...found.missing])] };
  // Noted first: what is installed must be known to whoever cleans up, whatever happens in between.
  writeState(folder, state);
  await installCrds(kubectl, found.missing);
  return kubeconfig;
}

/** kubectl against the user's cluster. */
export function userKubectl(folder: string, kubeconfig: UserCluster['kubeconfig'], signal: AbortSignal): Kubectl {
  return kubectlFor(kubeconfig, join(folder, 'kubectl-cache'), signal);
}

function otherLedger(folder: string, belongsTo: string): Error {
  return new Error(`the ledger in ${folder} belongs to ${belongsTo}, or remove the ledger with \`make down PURGE=1\``);
}

/** Chooses the Kubernetes cluster of `make up`: its own, or that of the user. */
import { delimiter, join, resolve } from 'node:path';
import { type Kubectl, kubectlFor } from '../../test/harness/kubernetes/kubectl.ts';
import type { Settings } from './settings.ts';
import { type UpState, type UserCluster, writeState } from './state.ts';
import { describeSurvey, existingNodes, installObjects, surveyCluster } from './user-cluster.ts';
import { writeServiceAccountKubeconfig } from './service-account-kubeconfig.ts';

export interface ClusterChoice {
  readonly folder: string;
  readonly state: UpState;
  readonly settings: Settings;
  readonly signal: AbortSignal;
}

/** The user's cluster, ready for the programs of ipledger. */
export interface PreparedCluster {
  /** The user's kubeconfig. */
  readonly kubeconfig: string;
  /**
   * kubeconfig files of the programs: the user's credentials, which act as the program's
   * ServiceAccount.
   */
  readonly watcher: string;
  readonly agent: string;
  /** The nodes that get an agent: those of `candidates` that the cluster has. */
  readonly nodes: readonly string[];
}

/**
 * Chooses the cluster. Prepares the user's cluster if YES=1 is set.
 * @param candidates the nodes that an agent on this machine may serve
 * @returns the user's cluster; undefined for an own cluster
 * @throws Error with the planned changes if YES=1 is not set, or if the ledger of this folder
 * belongs to another cluster.
 */
export async function chooseCluster(
  { folder, state, settings, signal }: ClusterChoice,
  candidates: readonly string[],
): Promise<PreparedCluster | undefined> {
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
  const found = await surveyCluster(kubectl);
  if (state.cluster === 'own') throw otherLedger(folder, 'a cluster of its own: unset KUBECONFIG');
  if (state.cluster !== undefined && state.cluster.server !== found.server)
    throw otherLedger(folder, `the cluster at ${state.cluster.server}: set KUBECONFIG to it`);
  if (!settings.yes)
    throw new Error(`${describeSurvey(found)}\nSet YES=1 to continue, or unset KUBECONFIG for an own cluster.`);
  const before = state.cluster?.installed ?? [];
  state.cluster = { kubeconfig, server: found.server, installed: [...new Set([...before, ...found.missing])] };
  // Written before the installation, so that `make down` can remove it after a crash.
  writeState(folder, state);
  await installObjects(kubectl, found.missing);
  return {
    kubeconfig,
    watcher: await writeServiceAccountKubeconfig(kubectl, folder, 'ipledger-pod-watcher'),
    agent: await writeServiceAccountKubeconfig(kubectl, folder, 'ipledger-node-agent'),
    nodes: await existingNodes(kubectl, candidates),
  };
}

/** Runs kubectl against the user's cluster. */
export function userKubectl(folder: string, kubeconfig: UserCluster['kubeconfig'], signal: AbortSignal): Kubectl {
  return kubectlFor(kubeconfig, join(folder, 'kubectl-cache'), signal);
}

function otherLedger(folder: string, belongsTo: string): Error {
  return new Error(`the ledger in ${folder} belongs to ${belongsTo}, or remove the ledger with \`make down PURGE=1\``);
}

/**
 * The environment of the rows about Pods: a complete stack with its own Kubernetes API, and an
 * observer of Pods and IP objects.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Api } from '../../../../lib/kubernetes/client/kubernetes-api.ts';
import { createKubernetesClient } from '../../../harness/kubernetes/kubernetes-client.ts';
import { makeNetworkAndSubnet } from '../../../e2e/support/test-environment.ts';
import { printProgress } from '../../../harness/progress.ts';
import type { Run } from '../../../harness/run.ts';
import { type Stack, startStack } from '../../../harness/stack.ts';
import { type PodObserver, startPodObserver } from '../../../scale/pod-observer.ts';

export const namespace = 'default';

/** The names of `count` networks; the Subnet of each has the same name. */
export const networkNames = (count: number): string[] => Array.from({ length: count }, (_, index) => `lan${index + 1}`);

export interface PodStack {
  readonly run: Run;
  readonly stack: Stack;
  readonly api: Api;
}

export interface PodEnvironment extends PodStack {
  readonly observer: PodObserver;
}

/** Starts the stack, with this number of networks, and the observer. */
export async function openPodEnvironment(run: Run, networks: number): Promise<PodEnvironment> {
  return observe(await openPodStack(run, networks), run.signal);
}

/** Observes Pods and IP objects until the signal is aborted. */
export const observe = async (opened: PodStack, signal: AbortSignal): Promise<PodEnvironment> => ({
  ...opened,
  observer: await startPodObserver(opened.api, namespace, signal),
});

/** Starts the stack, with this number of networks. */
export async function openPodStack(run: Run, networks: number): Promise<PodStack> {
  printProgress('starting a stack with its own Kubernetes API:');
  const stack = await startStack(run, { ownCluster: true });
  const configFolder = join(run.folder, 'net.d');
  mkdirSync(configFolder);
  const { kubeconfig } = stack.cluster;
  const scene = { run, stack, kubernetes: createKubernetesClient(kubeconfig, run.signal), configFolder };
  for (const [index, network] of networkNames(networks).entries())
    await makeNetworkAndSubnet(scene, network, `10.${10 + index}.0.0/16`);
  return { run, stack, api: scene.kubernetes.api };
}

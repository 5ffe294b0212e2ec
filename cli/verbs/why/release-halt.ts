/** Why the pod-watcher releases nothing in a namespace, from its Lease. */
import { haltedMassDeletions } from '../../../lib/kubernetes/mass-deletion-acceptance.ts';
import type { KubernetesClient } from '../../clients/kubernetes-client.ts';
import { podWatcherLeasePath } from '../../../lib/kubernetes/pod-watcher-lease.ts';
import { CliError } from '../../program/cli-error.ts';

/** The default of the pod-watcher. */
const watcherNamespace = 'kube-system';

/** A clause with the remedy; undefined if releases are not halted. Without the permission to read the Lease the report goes without it. @param installation the namespace of ipledger */
export async function readReleaseHalt(
  kubernetes: Pick<KubernetesClient, 'get'>,
  namespace: string,
  installation: string,
): Promise<string | undefined> {
  for (const leaseNamespace of [installation, watcherNamespace]) {
    const lease = await kubernetes.get(podWatcherLeasePath(leaseNamespace)).catch((error: unknown) => {
      if (error instanceof CliError) return undefined;
      throw error;
    });
    const { pods } = haltedMassDeletions(lease ?? {});
    const missing = pods[namespace] ?? pods['*'];
    if (missing === undefined) continue;
    const remedy = `ipledger accept-mass-deletion --namespace ${leaseNamespace} --reason TEXT`;
    return `releases are halted in namespace ${namespace}, because ${missing} Pods are missing from the Kubernetes API. If the API server lost its data, restore it; if the Pods are really deleted, run: ${remedy}`;
  }
  return undefined;
}

/** `ipledger uninstall`: removes ipledger's objects and finalizers from Kubernetes. */
import type { Command } from 'commander';
import { allocationAnnotation, finalizer } from '../../lib/kubernetes/kubernetes-metadata.ts';
import { asRecord, asText, asTexts } from '../../lib/kubernetes/untyped-json.ts';
import { assertControllerStopped } from '../cluster/controller-check.ts';
import { podWatcherLease, podWatcherLeasePath } from '../../lib/kubernetes/lease-observer.ts';
import { podLifecycleStage } from '../cluster/needed-addresses.ts';
import { connectOwnObjects, type KubernetesClient } from '../clients/kubernetes-client.ts';
import { confirm } from '../program/operation-verb.ts';
import { type Answer, formatCount } from '../output/answer.ts';
import {
  type KubeOvnObject,
  type KubeOvnIp,
  objectPath,
  type ClusterSnapshot,
  readClusterSnapshot,
  preconditions,
} from '../cluster/cluster-snapshot.ts';
import type { Pod } from '../cluster/cluster-state.ts';
import { addVerbOptions, runAndPrint, type VerbOptions } from '../program/verb.ts';

interface UninstallOptions extends VerbOptions {
  readonly namespace: string;
  readonly yes: boolean;
}

export function defineUninstall(verb: Command): void {
  addVerbOptions(verb)
    .option('--namespace <name>', "the namespace of the pod-watcher's Lease", 'kube-system')
    .option('-y, --yes', 'do not request confirmation', false)
    .addHelpText(
      'after',
      `
Changes the cluster that KUBECONFIG names; needs no allocator. Stop the pod-watcher first: it would restore the objects. Subnets,
IPPools, Vips, IPAMClaims, Networks and reserved IPs stay, and can be deleted. Pods keep running. Pods and namespaces keep their annotations.`,
    )
    .action((options: UninstallOptions) => runAndPrint(options, (_allocator, signal) => uninstall(options, signal)));
}

async function uninstall(options: UninstallOptions, signal: AbortSignal): Promise<Answer> {
  const { namespace, yes } = options;
  const kubernetes = await connectOwnObjects(signal, options);
  const lease = podWatcherLeasePath(namespace);
  await assertControllerStopped(kubernetes, { lease, describeHolder: describeWatcher(namespace) }, signal);
  const snapshot = await readClusterSnapshot(kubernetes);
  const { owned, finalized } = selectObjects(snapshot);
  const namespaced = (await Promise.all(namespacedKinds.map((kind) => readFinalized(kubernetes, kind)))).flat();
  const lines = [
    `${formatCount(owned.length, 'IP object')} will be deleted`,
    `the finalizer ${finalizer} will be removed from ${formatCount(finalized.length + namespaced.length, 'object')}, which stay`,
  ];
  await confirm({ lines, question: 'Remove ipledger from this cluster?', yes }, signal);
  for (const ip of owned) await kubernetes.remove(objectPath(ip), ip.uid);
  for (const object of finalized) await removeFinalizer(kubernetes, object);
  for (const { path, uid, resourceVersion, finalizers } of namespaced) {
    const others = finalizers.filter((each) => each !== finalizer);
    await kubernetes.patch(path, { metadata: { uid, resourceVersion, finalizers: others } });
  }
  const found = await kubernetes.get(lease);
  const uid = (found?.['metadata'] as { uid?: string } | undefined)?.uid;
  if (uid !== undefined) await kubernetes.remove(lease, uid);
  return createAnswer(snapshot, namespace);
}

const describeWatcher =
  (namespace: string) =>
  ({ holder, renewed }: { readonly holder: string; readonly renewed: string }): string =>
    `a pod-watcher is running, which would restore the objects: ${holder} holds the Lease ${podWatcherLease} (renewed ${renewed}); stop it first: kubectl scale deployment ipledger-pod-watcher --replicas=0 --namespace ${namespace}`;

/** Selects IP objects of ipledger (`owned`), and users' objects with its finalizer. */
function selectObjects({ subnets, pools, vips, ips }: ClusterSnapshot): {
  owned: KubeOvnIp[];
  finalized: KubeOvnObject[];
} {
  const isFinalized = ({ finalizers }: KubeOvnObject): boolean => finalizers.includes(finalizer);
  return {
    owned: ips.filter((ip) => ip.isOurs && !isFinalized(ip)),
    finalized: [...subnets, ...pools, ...vips, ...ips].filter(isFinalized),
  };
}

interface FinalizedObject {
  readonly path: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly finalizers: readonly string[];
}

/** Namespaced kinds with ipledger's finalizer: IPAMClaims, and the Networks of OVN4NFV. */
const namespacedKinds = [
  { api: '/apis/k8s.cni.cncf.io/v1alpha1', plural: 'ipamclaims' },
  { api: '/apis/k8s.plugin.opnfv.org/v1alpha1', plural: 'networks' },
] as const;

/** Reads the objects of a kind with ipledger's finalizer; none if the API server lacks the kind. */
async function readFinalized(
  kubernetes: KubernetesClient,
  { api, plural }: (typeof namespacedKinds)[number],
): Promise<FinalizedObject[]> {
  const resources = asRecord(await kubernetes.get(api))['resources'];
  const isServed = Array.isArray(resources) && resources.some((each) => asRecord(each)['name'] === plural);
  const objects = isServed ? await kubernetes.list(`${api}/${plural}`) : [];
  return objects.flatMap((object) => {
    const metadata = asRecord(object['metadata']);
    const [namespace, name] = ['namespace', 'name'].map((key) => encodeURIComponent(asText(metadata[key])));
    const finalizers = asTexts(metadata['finalizers']);
    if (!finalizers.includes(finalizer)) return [];
    const path = `${api}/namespaces/${namespace}/${plural}/${name}`;
    return { path, uid: asText(metadata['uid']), resourceVersion: asText(metadata['resourceVersion']), finalizers };
  });
}

async function removeFinalizer(kubernetes: KubernetesClient, object: KubeOvnObject): Promise<void> {
  const finalizers = object.finalizers.filter((each) => each !== finalizer);
  const annotations = { [allocationAnnotation]: null };
  await kubernetes.patch(objectPath(object), { metadata: { ...preconditions(object), finalizers, annotations } });
}

/** Lists the steps that only the operator can do, in order. */
function createAnswer({ pods }: ClusterSnapshot, namespace: string): Answer {
  const using = pods.filter((pod) => podLifecycleStage(pod) !== 'ended' && hasAddress(pod));
  const nodes = [...new Set(using.map(({ node }) => node))].toSorted();
  const leftToDo = [
    ...(using.length > 0
      ? [
          `${formatCount(using.length, 'Pod')} on ${formatCount(nodes.length, 'node')} still ${using.length === 1 ? 'has' : 'have'} addresses: keep node-agent, allocator and the plugin file kube-ovn with its links until these Pods have ended, for their CNI DELs`,
        ]
      : ['no Pod has an address: remove node-agent and the plugin file kube-ovn with its links from every node']),
    `installed by the chart: helm uninstall ipledger --namespace ${namespace}. It leaves the ledger (the claims data-ipledger-etcd-N), the backups (the claim ipledger-etcd-backup), the Secrets that cert-manager issued, and the CustomResourceDefinitions`,
    'installed without the chart: delete the Deployments of allocator and pod-watcher and the DaemonSet of node-agent; kubectl delete -f deploy/rbac.yaml',
    'kubectl delete crd subnets.kubeovn.io ippools.kubeovn.io ips.kubeovn.io vips.kubeovn.io # with all Subnets, IPPools and Vips',
    'the ledger stays in etcd, under /ipledger/: keep it as long as its history is of use',
  ];
  return {
    content: { podsWithAddresses: using.length, nodes, leftToDo },
    listing: () => ({ columns: [{ name: 'LEFT TO DO' }], rows: leftToDo.map((line) => [line]) }),
    table: () =>
      `ipledger is removed from this cluster. Left to do:\n${leftToDo.map((line) => `  - ${line}\n`).join('')}`,
  };
}

const hasAddress = ({ annotations }: Pod): boolean =>
  Object.entries(annotations).some(([key, value]) => key.endsWith('.kubernetes.io/allocated') && value === 'true');

/** `ipledger uninstall`: leaves a cluster whose CustomResourceDefinitions can be deleted. The ledger stays as it is. */
import type { Command } from 'commander';
import { allocationAnnotation, finalizer } from '../lib/marks.ts';
import { away } from './away.ts';
import { lifeOf } from './check/pods.ts';
import { connectKubernetes, type Kubernetes } from './kubernetes.ts';
import { confirm } from './operations/confirm.ts';
import { type Answer, counted } from './output.ts';
import { type Left, type LeftIp, pathOf, type PlacedPod, type Snapshot, takeSnapshot, unchanged } from './snapshot.ts';
import { addVerb, answer, type VerbOptions } from './verb.ts';

const leases = '/apis/coordination.k8s.io/v1/namespaces';
const leaseName = 'ipledger-pod-watcher';

interface UninstallOptions extends VerbOptions {
  readonly namespace: string;
  readonly yes: boolean;
}

export function addUninstall(program: Command): void {
  addVerb(program, 'uninstall', 'take what ipledger put into Kubernetes out again; the ledger stays')
    .option('--namespace <name>', "of the pod-watcher's Lease", 'kube-system')
    .option('-y, --yes', 'do it without asking', false)
    .addHelpText(
      'after',
      `
Changes the cluster that KUBECONFIG names, and asks no allocator. First stop the pod-watcher: it would put everything back. Subnets,
IPPools, Vips and reserved IPs stay, and can be deleted; Pods go on running, and keep their annotations, as namespaces do.`,
    )
    .action((options: UninstallOptions) => answer(options, (_allocator, signal) => uninstall(options, signal)));
}

async function uninstall({ namespace, yes }: UninstallOptions, signal: AbortSignal): Promise<Answer> {
  const kubernetes = await connectKubernetes(signal);
  const lease = `${leases}/${namespace}/leases/${leaseName}`;
  await away(kubernetes, { lease, says: watcherRuns }, signal);
  const snapshot = await takeSnapshot(kubernetes);
  const { shown, held } = oursOf(snapshot);
  const lines = [
    `${counted(shown.length, 'IP object')} will be deleted`,
    `the finalizer ${finalizer} will be removed from ${counted(held.length, 'object')}, which stay`,
  ];
  await confirm({ lines, question: 'Take ipledger out of this cluster?', yes }, signal);
  for (const ip of shown) await kubernetes.remove(pathOf(ip), ip.uid);
  for (const object of held) await release(kubernetes, object);
  const found = await kubernetes.get(lease);
  const uid = (found?.['metadata'] as { uid?: string } | undefined)?.uid;
  if (uid !== undefined) await kubernetes.remove(lease, uid);
  return told(snapshot);
}

const watcherRuns = ({ holder, renewed }: { readonly holder: string; readonly renewed: string }): string =>
  `a pod-watcher is running: ${holder} holds the Lease ${leaseName} (renewed ${renewed}), and would put everything back: stop it first`;

/** IP objects that show an allocation are the ledger's own; all else is somebody's, and only held. */
function oursOf({ subnets, pools, vips, ips }: Snapshot): { shown: LeftIp[]; held: Left[] } {
  const isHeld = ({ finalizers }: Left): boolean => finalizers.includes(finalizer);
  return {
    shown: ips.filter((ip) => ip.ours && !isHeld(ip)),
    held: [...subnets, ...pools, ...vips, ...ips].filter(isHeld),
  };
}

async function release(kubernetes: Kubernetes, object: Left): Promise<void> {
  const finalizers = object.finalizers.filter((each) => each !== finalizer);
  const annotations = { [allocationAnnotation]: null };
  await kubernetes.patch(pathOf(object), { metadata: { ...unchanged(object), finalizers, annotations } });
}

/** What nobody but the operator can do, in the order in which it should be done. */
function told({ pods, at }: Snapshot): Answer {
  const using = pods.filter((pod) => lifeOf(pod, at) !== 'ended' && hasAddress(pod));
  const nodes = [...new Set(using.map(({ node }) => node))].toSorted();
  const left = [
    ...(using.length > 0
      ? [
          `addresses are held by ${counted(using.length, 'Pod')} on ${counted(nodes.length, 'node')}: until they are gone, keep node-agent, allocator and the plugin file kube-ovn there, which end their NICs`,
        ]
      : ['no Pod has an address any more: node-agent and the plugin file kube-ovn can go from every node']),
    'delete what runs: the Deployments or processes of allocator and pod-watcher, the DaemonSet of node-agent',
    'kubectl delete -f deploy/rbac.yaml',
    'kubectl delete crd subnets.kubeovn.io ippools.kubeovn.io ips.kubeovn.io vips.kubeovn.io # with all Subnets, IPPools and Vips',
    'the ledger stays in etcd, under /ipledger/: who had which address can be asked for as long as it is there',
  ];
  return {
    content: { podsWithAddresses: using.length, nodes, leftToDo: left },
    listing: () => ({ columns: [{ name: 'LEFT TO DO' }], rows: left.map((line) => [line]) }),
    table: () => `ipledger is out of this cluster. Left to do:\n${left.map((line) => `  - ${line}\n`).join('')}`,
  };
}

const hasAddress = ({ annotations }: PlacedPod): boolean =>
  Object.entries(annotations).some(([key, value]) => key.endsWith('.kubernetes.io/allocated') && value === 'true');

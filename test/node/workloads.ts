/** Workloads whose Pods get their main NIC through the ledger. */
import { expect } from 'chai';
import { eventually } from '../e2e/support/eventually.ts';
import type { KubeObject } from '../harness/kubernetes/kubernetes-client.ts';
import { podNetwork } from '../harness/node/node-cluster.ts';
import { podImage } from '../harness/node/pod-image.ts';
import type { Node } from '../harness/node/node.ts';
import { type Sandbox, listSandboxes } from './sandboxes.ts';
import type { NodeEnvironment } from './node-environment.ts';

/** The time from creation or boot until all Pods of a workload run. */
const timeoutMs = 180_000;

/** The annotation by which a Pod names the network of its main NIC. */
const defaultNetwork = 'v1.multus-cni.io/default-network';

export interface WorkloadPod {
  readonly name: string;
  readonly uid: string;
  readonly node: string;
  readonly address: string;
}

/** Spreads Pods evenly over the schedulable nodes. */
const spread = (labels: object) => ({
  maxSkew: 1,
  topologyKey: 'kubernetes.io/hostname',
  whenUnsatisfiable: 'DoNotSchedule',
  nodeTaintsPolicy: 'Honor',
  labelSelector: { matchLabels: labels },
});

const containers = [{ name: 'box', image: podImage }];
const podSpec = { automountServiceAccountToken: false, enableServiceLinks: false, containers };

function templateOf(labels: Readonly<Record<string, string>>) {
  const annotations = { [defaultNetwork]: `default/${podNetwork}` };
  return { metadata: { labels, annotations }, spec: { ...podSpec, topologySpreadConstraints: [spread(labels)] } };
}

/** Creates a workload with Pods on both nodes. Returns the Pods when all run. */
export async function createWorkload(
  environment: NodeEnvironment,
  kind: 'Deployment' | 'StatefulSet',
  name: string,
  replicas: number,
): Promise<WorkloadPod[]> {
  const labels = { app: name };
  const more = kind === 'StatefulSet' ? { serviceName: name, podManagementPolicy: 'Parallel' } : {};
  const spec = { replicas, selector: { matchLabels: labels }, template: templateOf(labels), ...more };
  await environment.kubernetes.create({ kind, metadata: { name }, spec });
  return waitForPods(environment, name, replicas);
}

/** Creates a Pod without a controller on a node. */
export async function createPod(
  { kubernetes }: NodeEnvironment,
  name: string,
  { node, annotations = {} }: { node: Node; annotations?: Readonly<Record<string, string>> },
): Promise<void> {
  const metadata = {
    name,
    labels: { app: name },
    annotations: { [defaultNetwork]: `default/${podNetwork}`, ...annotations },
  };
  const nodeSelector = { 'kubernetes.io/hostname': node.name };
  await kubernetes.create({ kind: 'Pod', metadata, spec: { ...podSpec, nodeSelector } });
}

/**
 * Waits until exactly `count` Pods of a workload exist and all are ready. Returns them sorted by
 * name.
 */
export function waitForPods({ kubernetes }: NodeEnvironment, app: string, count: number): Promise<WorkloadPod[]> {
  return eventually(async () => {
    const pods = await kubernetes.list('Pod', `labelSelector=app=${app}`);
    const states = pods.map((pod) => `${pod.metadata.name} ${stateOf(pod)}`);
    expect(states, `Pods of ${app}`).to.have.length(count);
    for (const state of states) expect(state).to.match(/ ready$/);
    return pods.map(memberOf).sort((one, other) => one.name.localeCompare(other.name));
  }, timeoutMs);
}

/** Changes the number of replicas. Does not wait for the Pods. */
export async function scaleWorkload(
  { kubernetes }: NodeEnvironment,
  kind: 'Deployment' | 'StatefulSet',
  name: string,
  replicas: number,
): Promise<void> {
  await kubernetes.patch(kind, name, { spec: { replicas } });
}

function stateOf({ metadata, status }: KubeObject): string {
  if (metadata.deletionTimestamp !== undefined) return 'terminating';
  const conditions = (status?.['conditions'] ?? []) as { type: string; status: string }[];
  return conditions.some(({ type, status: is }) => type === 'Ready' && is === 'True') ? 'ready' : 'waiting';
}

function memberOf({ metadata, spec, status }: KubeObject): WorkloadPod {
  const [node, address] = [spec?.['nodeName'], status?.['podIP']] as [string, string];
  return { name: metadata.name, uid: metadata.uid, node, address };
}

/** Finds the sandbox of a Pod. @throws Error if it has none or several */
export function sandboxOf({ a, b }: NodeEnvironment, { name, uid }: WorkloadPod): Sandbox {
  const [own, ...others] = [a, b].flatMap(listSandboxes).filter((sandbox) => sandbox.uid === uid);
  if (!own || others.length > 0) throw new Error(`Pod ${name} has ${own ? others.length + 1 : 0} sandboxes`);
  return own;
}

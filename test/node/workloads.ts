/** Workloads whose Pods get their main NIC through the ledger. */
import { expect } from 'chai';
import { eventually } from '../e2e/eventually.ts';
import type { KubeObject } from '../e2e/kubernetes.ts';
import { podNetwork } from '../harness/node/cluster.ts';
import { boxImage } from '../harness/node/image.ts';
import type { Node } from '../harness/node/node.ts';
import { type Sandbox, sandboxesOn } from './sandboxes.ts';
import type { NodeScene } from './scene.ts';

/** From creation, or from the boot of a node, until all of a workload runs. */
const patienceMs = 180_000;

/** The annotation by which a Pod names the network of its main NIC. */
const defaultNetwork = 'v1.multus-cni.io/default-network';

export interface Member {
  readonly name: string;
  readonly uid: string;
  readonly node: string;
  readonly address: string;
}

/** Evenly over the nodes that take Pods. */
const spread = (labels: object) => ({
  maxSkew: 1,
  topologyKey: 'kubernetes.io/hostname',
  whenUnsatisfiable: 'DoNotSchedule',
  nodeTaintsPolicy: 'Honor',
  labelSelector: { matchLabels: labels },
});

const containers = [{ name: 'box', image: boxImage }];
const podSpec = { automountServiceAccountToken: false, enableServiceLinks: false, containers };

function templateOf(labels: Readonly<Record<string, string>>) {
  const annotations = { [defaultNetwork]: `default/${podNetwork}` };
  return { metadata: { labels, annotations }, spec: { ...podSpec, topologySpreadConstraints: [spread(labels)] } };
}

/** Makes a workload with Pods evenly on both nodes; gives them when all run. */
export async function create(
  scene: NodeScene,
  kind: 'Deployment' | 'StatefulSet',
  name: string,
  replicas: number,
): Promise<Member[]> {
  const labels = { app: name };
  const more = kind === 'StatefulSet' ? { serviceName: name, podManagementPolicy: 'Parallel' } : {};
  const spec = { replicas, selector: { matchLabels: labels }, template: templateOf(labels), ...more };
  await scene.kubernetes.create({ kind, metadata: { name }, spec });
  return members(scene, name, replicas);
}

/** A Pod of no controller, on a node. */
export async function createPod(
  { kubernetes }: NodeScene,
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

/** The Pods of a workload, by name; waits until all of them run, they are so many, and no other is left. */
export function members({ kubernetes }: NodeScene, app: string, count: number): Promise<Member[]> {
  return eventually(async () => {
    const pods = await kubernetes.list('Pod', `labelSelector=app=${app}`);
    const states = pods.map((pod) => `${pod.metadata.name} ${stateOf(pod)}`);
    expect(states, `Pods of ${app}`).to.have.length(count);
    for (const state of states) expect(state).to.match(/ ready$/);
    return pods.map(memberOf).sort((one, other) => one.name.localeCompare(other.name));
  }, patienceMs);
}

/** Changes how many Pods a workload has, and returns at once. */
export async function scale(
  { kubernetes }: NodeScene,
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

function memberOf({ metadata, spec, status }: KubeObject): Member {
  const [node, address] = [spec?.['nodeName'], status?.['podIP']] as [string, string];
  return { name: metadata.name, uid: metadata.uid, node, address };
}

/** The one sandbox of a Pod. @throws Error when it has none, or several */
export function sandboxOf({ a, b }: NodeScene, { name, uid }: Member): Sandbox {
  const [own, ...others] = [a, b].flatMap(sandboxesOn).filter((sandbox) => sandbox.uid === uid);
  if (!own || others.length > 0) throw new Error(`Pod ${name} has ${own ? others.length + 1 : 0} sandboxes`);
  return own;
}

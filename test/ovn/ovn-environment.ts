/** Two real nodes with OVN, the networks of the tests, and Pods on them. */
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../e2e/support/eventually.ts';
import { createKubernetesClient, type KubernetesClient } from '../harness/kubernetes/kubernetes-client.ts';
import { inNamespace, type Namespace } from '../harness/network/network-namespaces.ts';
import { tagImage } from '../harness/node/containerd.ts';
import type { Node } from '../harness/node/node.ts';
import { type OvnCluster, startOvnCluster } from '../harness/node/ovn-cluster.ts';
import { podImage } from '../harness/node/pod-image.ts';
import { root } from '../harness/paths.ts';
import type { Run } from '../harness/run.ts';
import { listLinks, listSandboxes } from '../node/sandboxes.ts';

/** The time until a Pod has its NICs. */
const timeoutMs = 120_000;

/** The images that the documents name. All are replaced by the image of the tests. */
const documentImages = ['docker.io/library/alpine:edge', 'docker.io/library/nginx:alpine'];

export interface OvnEnvironment {
  readonly run: Run;
  readonly stack: OvnCluster;
  readonly kubernetes: KubernetesClient;
  readonly a: Node;
  readonly b: Node;
}

/** Starts the nodes. */
export async function startOvnEnvironment(run: Run): Promise<OvnEnvironment> {
  const stack = await startOvnCluster(run);
  const [a, b] = stack.nodes;
  for (const { machine } of [a, b])
    for (const image of documentImages) await tagImage(machine, podImage, image, run.signal);
  return { run, stack, kubernetes: createKubernetesClient(stack.cluster.kubeconfig, run.signal), a, b };
}

/** Applies a manifest of the documents unchanged. */
export async function applyDocument({ stack }: OvnEnvironment, folder: string, file: string): Promise<void> {
  await stack.cluster.apply(join(root, 'test', 'manifests', folder, `${file}.yaml`));
}

export interface AttachedPod {
  readonly name: string;
  readonly uid: string;
  readonly node: Node;
  readonly containerId: string;
  readonly network: Namespace;
  readonly annotations: Readonly<Record<string, string>>;
  /** Addresses with prefix length, by interface. */
  readonly nics: ReadonlyMap<string, readonly string[]>;
}

export interface PodSettings {
  readonly node: Node;
  /** Value of the networks annotation. */
  readonly networks: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Creates a Pod on a node. Returns when its NICs have addresses. */
export async function createPod(
  environment: OvnEnvironment,
  name: string,
  { node, networks, annotations = {} }: PodSettings,
): Promise<AttachedPod> {
  await environment.kubernetes.create({
    kind: 'Pod',
    metadata: { name, annotations: { 'k8s.v1.cni.cncf.io/networks': networks, ...annotations } },
    spec: {
      nodeName: node.name,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: 0,
      containers: [{ name: 'box', image: podImage }],
    },
  });
  return waitForPod(environment, name);
}

/** Waits until a Pod runs, and reads its NICs. */
export function waitForPod(environment: OvnEnvironment, name: string): Promise<AttachedPod> {
  return eventually(async () => {
    const { metadata, spec, status } = await environment.kubernetes.get('Pod', name);
    expect(status?.['phase'], `phase of Pod ${name}`).to.equal('Running');
    const node = [environment.a, environment.b].find((each) => each.name === spec?.['nodeName']);
    const sandbox = node && listSandboxes(node).find(({ uid }) => uid === metadata.uid);
    if (!node || !sandbox) throw new Error(`Pod ${name} has no sandbox`);
    const { network, containerId } = sandbox;
    const { uid, annotations = {} } = metadata;
    return { name, uid, node, containerId, network, annotations, nics: await listLinks(network) };
  }, timeoutMs);
}

/** Returns the address of a NIC. @param version of IP @throws Error if it has none */
export function addressOf({ name, nics }: AttachedPod, nic = 'net1', version: 4 | 6 = 4): string {
  const found = nics.get(nic)?.find((address) => address.includes(':') === (version === 6));
  if (found === undefined) throw new Error(`Pod ${name} has no IPv${version} address at ${nic}`);
  return found.replace(/\/.*/, '');
}

/**
 * Expects an answer to each ping. The first pings may be lost while a tunnel resolves the MAC of
 * its other end.
 */
export async function expectPings(from: AttachedPod, address: string, count = 3): Promise<void> {
  await eventually(() => expectAnswer(from, ['-c', '1', '-W', '1', address]));
  await expectAnswer(from, ['-c', String(count), '-i', '0.05', '-W', '2', address]);
}

async function expectAnswer({ name, network }: AttachedPod, options: readonly string[]): Promise<void> {
  const { code, stdout } = await inNamespace(network, ['ping', ...options]);
  expect(code, `ping from ${name}: ${stdout}`).to.equal(0);
  expect(stdout).to.match(/ 0% packet loss/);
}

/** Whether one of a few pings is answered. */
export async function isAnswered({ network }: AttachedPod, options: readonly string[]): Promise<boolean> {
  const { stdout } = await inNamespace(network, ['ping', '-c', '3', '-i', '0.2', '-W', '1', ...options]);
  return !/ 100% packet loss/.test(stdout);
}

/** Deletes a Pod. Resolves when the node has no sandbox of it. */
export async function removePod({ kubernetes }: OvnEnvironment, { name, uid, node }: AttachedPod): Promise<void> {
  await kubernetes.remove('Pod', name, 0);
  await eventually(() => expect(listSandboxes(node).map((sandbox) => sandbox.uid)).to.not.include(uid), timeoutMs);
}

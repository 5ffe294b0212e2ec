/** A stack with what tests put on it: networks, Subnets and Pods, in the form of the documents' manifests. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openRun, type Run } from '../harness/run.ts';
import { type Stack, type StackOptions, startStack } from '../harness/stack.ts';
import { configurationList } from '../harness/up/network-configurations.ts';
import { eventually } from './eventually.ts';
import { type Kubernetes, kubernetesOf, type KubeObject } from './kubernetes.ts';

export interface Scene {
  readonly run: Run;
  readonly stack: Stack;
  readonly kubernetes: Kubernetes;
  /** NETCONFPATH of the node: a file for each network made by `makeNetwork`. */
  readonly configFolder: string;
}

/** Starts everything; end it with `scene.run.end()`. About 7 s. */
export async function openScene(options: StackOptions = {}): Promise<Scene> {
  const run = openRun();
  const stack = await startStack(run, options);
  const configFolder = join(run.folder, 'net.d');
  mkdirSync(configFolder);
  return { run, stack, kubernetes: kubernetesOf(stack.cluster.kubeconfig, run.signal), configFolder };
}

/** A CNI configuration of macvlan on eth0 that leaves addresses to the project's plugin, as the documents write it. */
export function macvlanConfig({ stack }: Scene, provider: string, more: object = {}) {
  const server_socket = stack.agents[0].socket;
  const ipam = { type: 'kube-ovn', server_socket, provider };
  return { cniVersion: '0.3.1', type: 'macvlan', master: 'eth0', mode: 'bridge', ipam, ...more };
}

/** A network "<name>.default": its NetworkAttachmentDefinition, and its configuration file on the node. */
export async function makeNetwork(scene: Scene, name: string, config?: object | string): Promise<void> {
  const content = config ?? macvlanConfig(scene, `${name}.default`);
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  const manifest = {
    kind: 'NetworkAttachmentDefinition',
    metadata: { name },
    spec: { config: text },
  } as const;
  await scene.kubernetes.create(manifest);
  if (typeof content === 'string') return;
  const list = configurationList(manifest, '');
  writeFileSync(join(scene.configFolder, `${name}.conflist`), JSON.stringify(list));
}

export interface SubnetSpec {
  readonly cidrBlock: string;
  readonly provider?: string;
  readonly gateway?: string;
  readonly excludeIps?: readonly string[];
}

/** A Subnet, for the network of its own name unless said otherwise. */
export function makeSubnet({ kubernetes }: Scene, name: string, spec: SubnetSpec): Promise<KubeObject> {
  return kubernetes.create({ kind: 'Subnet', metadata: { name }, spec: { provider: `${name}.default`, ...spec } });
}

/** A network and its Subnet. */
export async function makeNetworkAndSubnet(scene: Scene, name: string, cidrBlock: string): Promise<void> {
  await Promise.all([makeNetwork(scene, name), makeSubnet(scene, name, { cidrBlock })]);
}

/** The annotation by which Multus knows what to attach. */
export const networksAnnotation = 'k8s.v1.cni.cncf.io/networks';

/**
 * A Pod on node-1, where no kubelet is.
 * @param networks as in the networks annotation.
 * @param annotations further ones, their keys in full.
 */
export function makePod(
  { kubernetes }: Scene,
  name: string,
  networks: string,
  annotations: Readonly<Record<string, string>> = {},
): Promise<KubeObject> {
  return kubernetes.create({
    kind: 'Pod',
    metadata: { name, annotations: { [networksAnnotation]: networks, ...annotations } },
    spec: { nodeName: 'node-1', restartPolicy: 'Never', containers: [{ name: 'box', image: 'box' }] },
  });
}

/** The address that a Pod shows for a network; waits for it. */
export function addressOf({ kubernetes }: Scene, pod: string, network: string): Promise<string> {
  return eventually(async () => {
    const { metadata } = await kubernetes.get('Pod', pod);
    const shown = metadata.annotations ?? {};
    const key = `${network}.default.kubernetes.io`;
    const address = shown[`${key}/ip_address`];
    if (shown[`${key}/allocated`] !== 'true' || address === undefined)
      throw new Error(`Pod ${pod} has no address of ${network}: ${JSON.stringify(shown)}`);
    return address;
  });
}

/** The message of the Kubernetes Event of this reason about an object of this name; waits until it matches. */
export function eventOf(
  { kubernetes }: Pick<Scene, 'kubernetes'>,
  name: string,
  reason: string,
  message: RegExp,
): Promise<string> {
  return eventually(async () => {
    const events = await kubernetes.list('Event', `fieldSelector=involvedObject.name=${name}`);
    const said = events.map((event) => event as unknown as { reason: string; message: string });
    const match = said.find((event) => event.reason === reason && message.test(event.message));
    if (match) return match.message;
    const all = said.map((event) => `${event.reason}: ${event.message}`).join('\n  ');
    throw new Error(`no Event ${reason} about ${name} that says ${String(message)}; there are\n  ${all || 'none'}`);
  });
}

/**
 * Starts a stack, and creates the objects of a test: networks, Subnets and Pods in the form of the
 * documents' manifests.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openRun, type Run } from '../../harness/run.ts';
import { type Stack, type StackOptions, startStack } from '../../harness/stack.ts';
import { configurationList } from '../../../local/up/network-configurations.ts';
import { eventually } from './eventually.ts';
import {
  type KubernetesClient,
  createKubernetesClient,
  type KubeObject,
} from '../../harness/kubernetes/kubernetes-client.ts';

export interface TestEnvironment {
  readonly run: Run;
  readonly stack: Stack;
  readonly kubernetes: KubernetesClient;
  /** The node's NETCONFPATH, with a file for each network of `makeNetwork`. */
  readonly configFolder: string;
}

/** Starts a stack in about 7 s. `scene.run.end()` stops it. */
export async function openTestEnvironment(options: StackOptions = {}): Promise<TestEnvironment> {
  const run = openRun();
  const stack = await startStack(run, options);
  const configFolder = join(run.folder, 'net.d');
  mkdirSync(configFolder);
  return { run, stack, kubernetes: createKubernetesClient(stack.cluster.kubeconfig, run.signal), configFolder };
}

/**
 * Makes a CNI configuration of macvlan on eth0 with the project's IPAM plugin, as in the documents.
 */
export function macvlanConfig({ stack }: TestEnvironment, provider: string, more: object = {}) {
  const server_socket = stack.agents[0].socket;
  const ipam = { type: 'kube-ovn', server_socket, provider };
  return { cniVersion: '0.3.1', type: 'macvlan', master: 'eth0', mode: 'bridge', ipam, ...more };
}

/**
 * Creates network "<name>.default": its NetworkAttachmentDefinition, and its configuration file on
 * the node.
 */
export async function makeNetwork(scene: TestEnvironment, name: string, config?: object | string): Promise<void> {
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
  readonly cooldownSeconds?: number;
  readonly probeAddresses?: boolean;
}

/** Creates a Subnet; by default for the network of the same name. */
export function makeSubnet({ kubernetes }: TestEnvironment, name: string, spec: SubnetSpec): Promise<KubeObject> {
  return kubernetes.create({ kind: 'Subnet', metadata: { name }, spec: { provider: `${name}.default`, ...spec } });
}

/** Creates a network and its Subnet. */
export async function makeNetworkAndSubnet(scene: TestEnvironment, name: string, cidrBlock: string): Promise<void> {
  await Promise.all([makeNetwork(scene, name), makeSubnet(scene, name, { cidrBlock })]);
}

/** The annotation with the networks that Multus attaches. */
export const networksAnnotation = 'k8s.v1.cni.cncf.io/networks';

/**
 * Creates a Pod on node-1, which has no kubelet.
 * @param networks the value of the networks annotation
 * @param annotations additional annotations, with full keys
 */
export function makePod(
  { kubernetes }: TestEnvironment,
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

/** Waits until a Pod shows an address of a network. Returns the address. */
export function waitForAddress({ kubernetes }: TestEnvironment, pod: string, network: string): Promise<string> {
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

/**
 * Waits for a Kubernetes Event about this object with this reason and a matching message. Returns
 * the message.
 */
export function waitForEvent(
  { kubernetes }: Pick<TestEnvironment, 'kubernetes'>,
  name: string,
  reason: string,
  message: RegExp,
): Promise<string> {
  return eventually(async () => {
    const events = await kubernetes.list('Event', `fieldSelector=involvedObject.name=${name}`);
    const found = events.map((event) => event as unknown as { reason: string; message: string });
    const match = found.find((event) => event.reason === reason && message.test(event.message));
    if (match) return match.message;
    const all = found.map((event) => `${event.reason}: ${event.message}`).join('\n  ');
    throw new Error(`no Event ${reason} about ${name} that matches ${String(message)}; found\n  ${all || 'none'}`);
  });
}

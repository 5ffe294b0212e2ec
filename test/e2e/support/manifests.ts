/**
 * Applies the documents' manifests unchanged, and attaches NICs of their networks as Multus does.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parseAllDocuments } from 'yaml';
import type { CniAnswer } from '../../harness/cni.ts';
import { createNodeNamespace, ip, type Namespace } from '../../harness/network/network-namespaces.ts';
import { root } from '../../harness/paths.ts';
import { configurationList } from '../../../local/up/network-configurations.ts';
import { eventually } from './eventually.ts';
import type { KubeObject } from '../../harness/kubernetes/kubernetes-client.ts';
import { cnitool, createSandbox, type Sandbox } from './sandbox.ts';
import type { TestEnvironment } from './test-environment.ts';

export type ManifestFolder = 'ipam-1.1' | 'manage-multiple-interface' | 'networking-plugin';

/**
 * Applies a file as `kubectl apply -f` does. Also writes the configuration of a network to the
 * node.
 */
export async function applyManifest(scene: TestEnvironment, folder: ManifestFolder, file: string): Promise<void> {
  const path = join(root, 'test', 'manifests', folder, `${file}.yaml`);
  await scene.stack.cluster.apply(path);
  for (const document of parseAllDocuments(readFileSync(path, 'utf8'))) {
    const list = configurationList(document.toJS() as object, scene.stack.agents[0].socket);
    if (list) writeFileSync(join(scene.configFolder, `${list.name}.conflist`), JSON.stringify(list));
  }
}

/** Waits until a Pod's annotations for a provider have an address. Returns them. */
export function waitForAnnotations(
  scene: TestEnvironment,
  pod: string,
  provider: string,
): Promise<Readonly<Record<string, string>>> {
  return eventually(async () => {
    const { metadata } = await scene.kubernetes.get('Pod', pod);
    const shown = providerAnnotations(metadata.annotations ?? {}, provider);
    if (shown['allocated'] !== 'true')
      throw new Error(`Pod ${pod} has no address of ${provider}: ${JSON.stringify(metadata.annotations)}`);
    return shown;
  });
}

/** Returns the annotations of a provider, with keys that omit the provider. */
export function providerAnnotations(
  annotations: Readonly<Record<string, string>>,
  provider: string,
): Record<string, string> {
  const prefix = `${provider}.kubernetes.io/`;
  const own = Object.entries(annotations).filter(([key]) => key.startsWith(prefix));
  return Object.fromEntries(own.map(([key, value]) => [key.slice(prefix.length), value]));
}

/**
 * Waits until `served` Pods of a Deployment have an address of the provider, and `waiting` Pods
 * have none. Returns the Pods.
 */
export function waitForDeploymentPods(
  scene: TestEnvironment,
  app: string,
  { provider, served, waiting }: { provider: string; served: number; waiting: number },
): Promise<{ served: KubeObject[]; waiting: KubeObject[] }> {
  return eventually(async () => {
    const pods = await scene.kubernetes.list('Pod', `labelSelector=app=${app}`);
    const has = ({ metadata }: KubeObject): boolean =>
      providerAnnotations(metadata.annotations ?? {}, provider)['allocated'] === 'true';
    const now = { served: pods.filter(has), waiting: pods.filter((pod) => !has(pod)) };
    expect([now.served.length, now.waiting.length]).to.deep.equal([served, waiting]);
    return now;
  });
}

/** Returns the annotated addresses of Pods, sorted. */
export const annotatedAddresses = (pods: readonly KubeObject[], provider: string): string[] =>
  pods
    .map(({ metadata }) => providerAnnotations(metadata.annotations ?? {}, provider)['ip_address'] ?? '')
    .sort((one, other) => one.localeCompare(other));

/** The network namespace of node-1, by environment. */
const nodes = new WeakMap<TestEnvironment, Promise<Namespace>>();

function nodeOf(scene: TestEnvironment): Promise<Namespace> {
  let node = nodes.get(scene);
  if (!node) nodes.set(scene, (node = createNodeNamespace(scene.run, 'node-1')));
  return node;
}

export interface AttachResult {
  readonly sandbox: Sandbox;
  readonly answer: CniAnswer;
}

/** Calls ADD of a Pod's NIC by libcni and its network's plugins, by default in a new sandbox. */
export async function tryAttachPod(
  scene: TestEnvironment,
  nic: { readonly pod: string; readonly network: string; readonly ifName?: string; readonly sandbox?: Sandbox },
): Promise<AttachResult> {
  const sandbox = nic.sandbox ?? (await createSandbox(scene.run, nic.pod));
  const answer = await cnitool(scene, 'add', { node: await nodeOf(scene), ...nic, sandbox });
  return { sandbox, answer };
}

/** Calls DEL of a NIC, and expects success. */
export async function detachPod(
  scene: TestEnvironment,
  nic: Required<Parameters<typeof tryAttachPod>[1]>,
): Promise<void> {
  const { code, stdout, stderr } = await cnitool(scene, 'del', { node: await nodeOf(scene), ...nic });
  expect(code, `${stdout}${stderr}`).to.equal(0);
}

/** Calls ADD as `tryAttachPod`, and expects success. */
export async function attachPod(scene: TestEnvironment, nic: Parameters<typeof tryAttachPod>[1]): Promise<Sandbox> {
  const { sandbox, answer } = await tryAttachPod(scene, nic);
  expect(answer.code, `${answer.stdout}${answer.stderr}`).to.equal(0);
  return sandbox;
}

/** Reads routes with a gateway as "<destination> via <gateway> dev <interface>". */
export async function readRoutes(sandbox: Sandbox): Promise<string[]> {
  const routes = JSON.parse(await ip(sandbox, ['-json', 'route', 'show'])) as Record<string, string>[];
  return routes
    .filter(({ gateway }) => gateway !== undefined)
    .map(({ dst, gateway, dev }) => `${dst} via ${gateway} dev ${dev}`)
    .sort((one, other) => one.localeCompare(other));
}

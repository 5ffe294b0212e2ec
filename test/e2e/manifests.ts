/** The documents' manifests, applied as they stand; and NICs as Multus has them made of their networks. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parseAllDocuments } from 'yaml';
import type { CniAnswer } from '../harness/cni.ts';
import { createNode, ip, type Namespace } from '../harness/network.ts';
import { root } from '../harness/paths.ts';
import { configurationList } from '../harness/up/network-configurations.ts';
import { eventually } from './eventually.ts';
import type { KubeObject } from './kubernetes.ts';
import { cnitool, createSandbox, type Sandbox } from './sandbox.ts';
import type { Scene } from './scene.ts';

export type Folder = 'ipam-1.1' | 'manage-multiple-interface' | 'networking-plugin';

/** Applies a file, as `kubectl apply -f` does; of a network, its configuration is put on the node, too. */
export async function apply(scene: Scene, folder: Folder, file: string): Promise<void> {
  const path = join(root, 'test', 'manifests', folder, `${file}.yaml`);
  await scene.stack.cluster.apply(path);
  for (const document of parseAllDocuments(readFileSync(path, 'utf8'))) {
    const list = configurationList(document.toJS() as object, scene.stack.agents[0].socket);
    if (list) writeFileSync(join(scene.configFolder, `${list.name}.conflist`), JSON.stringify(list));
  }
}

/** What a Pod shows of a provider, once it shows an address. */
export function shownOf(scene: Scene, pod: string, provider: string): Promise<Readonly<Record<string, string>>> {
  return eventually(async () => {
    const { metadata } = await scene.kubernetes.get('Pod', pod);
    const shown = shownBy(metadata.annotations ?? {}, provider);
    if (shown['allocated'] !== 'true')
      throw new Error(`Pod ${pod} has no address of ${provider}: ${JSON.stringify(metadata.annotations)}`);
    return shown;
  });
}

/** The annotations of a provider, by what stands behind its name. */
export function shownBy(annotations: Readonly<Record<string, string>>, provider: string): Record<string, string> {
  const prefix = `${provider}.kubernetes.io/`;
  const own = Object.entries(annotations).filter(([key]) => key.startsWith(prefix));
  return Object.fromEntries(own.map(([key, value]) => [key.slice(prefix.length), value]));
}

/** The Pods of a Deployment; waits until so many of them have an address of the provider, and so many have none. */
export function membersOf(
  scene: Scene,
  app: string,
  { provider, served, waiting }: { provider: string; served: number; waiting: number },
): Promise<{ served: KubeObject[]; waiting: KubeObject[] }> {
  return eventually(async () => {
    const pods = await scene.kubernetes.list('Pod', `labelSelector=app=${app}`);
    const has = ({ metadata }: KubeObject): boolean =>
      shownBy(metadata.annotations ?? {}, provider)['allocated'] === 'true';
    const now = { served: pods.filter(has), waiting: pods.filter((pod) => !has(pod)) };
    expect([now.served.length, now.waiting.length]).to.deep.equal([served, waiting]);
    return now;
  });
}

/** The addresses that Pods show, sorted. */
export const addressesOf = (pods: readonly KubeObject[], provider: string): string[] =>
  pods
    .map(({ metadata }) => shownBy(metadata.annotations ?? {}, provider)['ip_address'] ?? '')
    .sort((one, other) => one.localeCompare(other));

/** Nodes of scenes, with their NICs. */
const nodes = new WeakMap<Scene, Promise<Namespace>>();

function nodeOf(scene: Scene): Promise<Namespace> {
  let node = nodes.get(scene);
  if (!node) nodes.set(scene, (node = createNode(scene.run, 'node-1')));
  return node;
}

export interface Attached {
  readonly sandbox: Sandbox;
  readonly answer: CniAnswer;
}

/** ADD of a Pod's NIC by libcni and the plugins that its network names, in a sandbox (a new one unless given). */
export async function attach(
  scene: Scene,
  nic: { readonly pod: string; readonly network: string; readonly ifName?: string; readonly sandbox?: Sandbox },
): Promise<Attached> {
  const sandbox = nic.sandbox ?? (await createSandbox(scene.run, nic.pod));
  const answer = await cnitool(scene, 'add', { node: await nodeOf(scene), ...nic, sandbox });
  return { sandbox, answer };
}

/** DEL of a NIC, which must succeed. */
export async function detached(scene: Scene, nic: Required<Parameters<typeof attach>[1]>): Promise<void> {
  const { code, stdout, stderr } = await cnitool(scene, 'del', { node: await nodeOf(scene), ...nic });
  expect(code, `${stdout}${stderr}`).to.equal(0);
}

/** As `attach`, which must succeed. */
export async function attached(scene: Scene, nic: Parameters<typeof attach>[1]): Promise<Sandbox> {
  const { sandbox, answer } = await attach(scene, nic);
  expect(answer.code, `${answer.stdout}${answer.stderr}`).to.equal(0);
  return sandbox;
}

/** "<destination> via <gateway> dev <interface>" of each route in a sandbox that a gateway is needed for. */
export async function routesIn(sandbox: Sandbox): Promise<string[]> {
  const routes = JSON.parse(await ip(sandbox, ['-json', 'route', 'show'])) as Record<string, string>[];
  return routes
    .filter(({ gateway }) => gateway !== undefined)
    .map(({ dst, gateway, dev }) => `${dst} via ${gateway} dev ${dev}`)
    .sort((one, other) => one.localeCompare(other));
}

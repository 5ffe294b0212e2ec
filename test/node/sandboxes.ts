/** Reads the sandboxes of a node from its runtime, and their NICs from the kernel. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Node } from '../harness/node/node.ts';
import { inNamespace, type Namespace } from '../harness/network/network-namespaces.ts';

const tasksFolder = '/run/containerd/io.containerd.runtime.v2.task/k8s.io';
/**
 * The runtime uses /var/run/netns. From outside the node, that link leads to the folder of the
 * machine.
 */
const namespaceFolder = '/run/netns';

/** A node with a container runtime. */
export type SandboxHost = Pick<Node, 'machine' | 'name'>;

export interface Sandbox {
  readonly node: SandboxHost;
  readonly containerId: string;
  /** "namespace/name" */
  readonly pod: string;
  readonly uid: string;
  /** The network namespace, with its path from outside the node. */
  readonly network: Namespace;
}

/**
 * Lists the sandboxes of a node. One without its network namespace has ended and uses no address:
 * containerd leaves its task if it is killed in the middle of the removal.
 */
export function listSandboxes(node: SandboxHost): Sandbox[] {
  const folder = node.machine.path(tasksFolder);
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((containerId) => {
    const file = join(folder, containerId, 'config.json');
    // The sandbox may end between the two reads
    if (!existsSync(file)) return [];
    const { annotations, linux } = JSON.parse(readFileSync(file, 'utf8')) as Specification;
    const annotation = (key: string): string => annotations[`io.kubernetes.cri.${key}`] ?? '';
    const path = linux.namespaces.find(({ type }) => type === 'network')?.path ?? '';
    if (annotation('container-type') !== 'sandbox') return [];
    const pod = `${annotation('sandbox-namespace')}/${annotation('sandbox-name')}`;
    const network = { name: containerId, path: node.machine.path(join(namespaceFolder, basename(path))) };
    if (!existsSync(network.path)) return [];
    return [{ node, containerId, pod, uid: annotation('sandbox-uid'), network }];
  });
}

/** The part of an OCI runtime specification that is read here. */
interface Specification {
  readonly annotations: Readonly<Record<string, string>>;
  readonly linux: { readonly namespaces: readonly { readonly type: string; readonly path?: string }[] };
}

/** Lists the network namespaces of the runtime that no sandbox has. */
export function listUnusedNamespaces(node: Node, sandboxes: readonly Sandbox[]): Namespace[] {
  const folder = node.machine.path(namespaceFolder);
  if (!existsSync(folder)) return [];
  const used = new Set(sandboxes.map(({ network }) => network.path));
  return readdirSync(folder)
    .map((name) => ({ name, path: join(folder, name) }))
    .filter(({ path }) => !used.has(path));
}

/** Lists the links of a namespace with their addresses ("10.9.0.2/24") except link-local ones. */
export async function listLinks(network: Namespace): Promise<Map<string, string[]>> {
  const { code, stdout, stderr } = await inNamespace(network, ['ip', '-json', 'address']);
  if (code !== 0) throw new Error(`ip address in ${network.name}: ${stderr.trim()}`);
  const links = JSON.parse(stdout) as { ifname: string; addr_info: AddressInfo[] }[];
  return new Map(
    links.map(({ ifname, addr_info: all }) => {
      const given = all.filter(({ scope }) => scope === 'global');
      return [ifname, given.map(({ local, prefixlen }) => `${local}/${prefixlen}`)];
    }),
  );
}

interface AddressInfo {
  readonly local: string;
  readonly prefixlen: number;
  readonly scope: string;
}

/** Kills the pause process of a sandbox. */
export async function killSandbox({ node, containerId }: Sandbox): Promise<void> {
  const pid = readFileSync(node.machine.path(join(tasksFolder, containerId, 'init.pid')), 'utf8');
  await node.machine.run(['kill', '-KILL', pid.trim()]);
}

/** Whether an address answers a ping from a sandbox. */
export async function canPing({ network }: Sandbox, address: string): Promise<boolean> {
  return (await inNamespace(network, ['ping', '-c', '1', '-W', '2', address])).code === 0;
}

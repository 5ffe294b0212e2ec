/** The sandboxes that are really on a node: as its runtime has them, and the NICs in them as the kernel has them. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Node } from '../harness/node/node.ts';
import { inNamespace, type Namespace } from '../harness/network.ts';

const tasksFolder = '/run/containerd/io.containerd.runtime.v2.task/k8s.io';
/** Named as /var/run/netns by the runtime; seen from outside, that link would lead to the machine's own. */
const namespaceFolder = '/run/netns';

export interface Sandbox {
  readonly node: Node;
  readonly containerId: string;
  /** "namespace/name" */
  readonly pod: string;
  readonly uid: string;
  /** Its network namespace, from where we are. */
  readonly network: Namespace;
}

/** Those whose network is up. */
export function sandboxesOn(node: Node): Sandbox[] {
  const folder = node.machine.path(tasksFolder);
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((containerId) => {
    const file = join(folder, containerId, 'config.json');
    // It may end between two looks.
    if (!existsSync(file)) return [];
    const { annotations, linux } = JSON.parse(readFileSync(file, 'utf8')) as Specification;
    const said = (key: string): string => annotations[`io.kubernetes.cri.${key}`] ?? '';
    const path = linux.namespaces.find(({ type }) => type === 'network')?.path ?? '';
    if (said('container-type') !== 'sandbox') return [];
    const pod = `${said('sandbox-namespace')}/${said('sandbox-name')}`;
    const network = { name: containerId, path: node.machine.path(join(namespaceFolder, basename(path))) };
    return [{ node, containerId, pod, uid: said('sandbox-uid'), network }];
  });
}

/** What the runtime writes down of a container, in the form of the OCI runtime specification. */
interface Specification {
  readonly annotations: Readonly<Record<string, string>>;
  readonly linux: { readonly namespaces: readonly { readonly type: string; readonly path?: string }[] };
}

/** The network namespaces that the runtime made, in use or not. */
export function networksOn(node: Node): string[] {
  const folder = node.machine.path(namespaceFolder);
  return existsSync(folder) ? readdirSync(folder) : [];
}

/** The links of a namespace, each with its addresses ("10.9.0.2/24"), without those that the kernel made itself. */
export async function linksIn(network: Namespace): Promise<Map<string, string[]>> {
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

/** Kills the process that keeps a sandbox up. */
export async function killSandbox({ node, containerId }: Sandbox): Promise<void> {
  const pid = readFileSync(node.machine.path(join(tasksFolder, containerId, 'init.pid')), 'utf8');
  await node.machine.run(['kill', '-KILL', pid.trim()]);
}

/** Whether an address answers from inside a sandbox. */
export async function pings({ network }: Sandbox, address: string): Promise<boolean> {
  return (await inNamespace(network, ['ping', '-c', '1', '-W', '2', address])).code === 0;
}

/** Pods' sandboxes: real network namespaces that get their NICs by cnitool, and so by libcni, real macvlan and our plugin. */
import { createHash } from 'node:crypto';
import { callCnitool, type CniAnswer, podArgs } from '../harness/cni.ts';
import { canMacvlan, createNamespace, inNamespace, ip, type Namespace } from '../harness/network.ts';
import type { Run } from '../harness/run.ts';
import type { Scene } from './scene.ts';

const ability = await canMacvlan();

/** A test with real NICs; where there can be none it is pending, and its title says why. */
export function itOnMacvlan(title: string, work: () => Promise<void>): void {
  if (ability.able) it(title, work);
  else it(`${title} (skipped: ${ability.reason})`);
}

export interface Sandbox extends Namespace {
  /** What cnitool calls the container: it follows from the namespace's path. */
  readonly containerId: string;
}

/** Makes one; it ends with the run. */
export async function createSandbox(run: Run, name: string): Promise<Sandbox> {
  const namespace = await createNamespace(run, name);
  const digest = createHash('sha512').update(namespace.path).digest('hex');
  const containerId = `cnitool-${digest.slice(0, 20)}`;
  // libcni keeps each result for the DEL, in a folder that all on this machine share.
  run.leave(['sh', '-c', 'rm -f /var/lib/cni/results/*-"$0"-*', containerId]);
  return { ...namespace, containerId };
}

export interface Nic {
  /** Where the link is made. */
  readonly node: Namespace;
  readonly sandbox: Sandbox;
  readonly pod: string;
  readonly network: string;
  /** net1 unless said otherwise. */
  readonly ifName?: string;
}

/** ADD or DEL of one NIC, as Multus does it; or CHECK of it, or STATUS of its network. */
export function cnitool(
  { configFolder, stack }: Scene,
  command: 'add' | 'check' | 'del' | 'status',
  { node, sandbox, pod, network, ifName = 'net1' }: Nic,
): Promise<CniAnswer> {
  const args = podArgs('default', pod);
  const { journal } = stack.agents[0];
  return callCnitool({ command, network, configFolder, node, netns: sandbox.path, ifName, args, journal });
}

export interface Link {
  readonly mac: string;
  /** With prefix lengths; without those that the kernel made itself. */
  readonly addresses: readonly string[];
}

/** A link as it really is. @throws Error when there is none. */
export async function linkOf(sandbox: Sandbox, ifName = 'net1'): Promise<Link> {
  const printed = await ip(sandbox, ['-json', 'address', 'show', 'dev', ifName]);
  const [link] = JSON.parse(printed) as { address: string; addr_info: AddressInfo[] }[];
  if (!link) throw new Error(`no link ${ifName} in ${sandbox.name}`);
  const given = link.addr_info.filter(({ scope }) => scope === 'global');
  return { mac: link.address, addresses: given.map(({ local, prefixlen }) => `${local}/${prefixlen}`) };
}

interface AddressInfo {
  readonly local: string;
  readonly prefixlen: number;
  readonly scope: string;
}

/** Whether an address answers from inside a sandbox. */
export async function pings(sandbox: Sandbox, address: string): Promise<boolean> {
  return (await inNamespace(sandbox, ['ping', '-c', '1', '-W', '5', address])).code === 0;
}

/**
 * Makes sandboxes of Pods: real network namespaces whose NICs cnitool makes, by libcni, real
 * macvlan and the project's plugin.
 */
import { createHash } from 'node:crypto';
import { callCnitool, type CniAnswer, podArgs } from '../../harness/cni.ts';
import {
  probeMacvlan,
  createNamespace,
  inNamespace,
  ip,
  type Namespace,
} from '../../harness/network/network-namespaces.ts';
import type { Run } from '../../harness/run.ts';
import type { TestEnvironment } from './test-environment.ts';

const ability = await probeMacvlan();

/** Defines a test with real NICs, which is pending where macvlan is unavailable. */
export function itOnMacvlan(title: string, work: () => Promise<void>): void {
  if (ability.isAvailable) it(title, work);
  else it(`${title} (skipped: ${ability.reason})`);
}

export interface Sandbox extends Namespace {
  /** The container ID that cnitool derives from the path of the namespace. */
  readonly containerId: string;
}

/** Creates a sandbox that ends with the run. */
export async function createSandbox(run: Run, name: string): Promise<Sandbox> {
  const namespace = await createNamespace(run, name);
  const digest = createHash('sha512').update(namespace.path).digest('hex');
  const containerId = `cnitool-${digest.slice(0, 20)}`;
  // Removes the results that libcni stores in a folder of all runs on this machine.
  run.cleanUpWith(['sh', '-c', 'rm -f /var/lib/cni/results/*-"$0"-*', containerId]);
  return { ...namespace, containerId };
}

export interface Nic {
  /** The network namespace in which the link is created. */
  readonly node: Namespace;
  readonly sandbox: Sandbox;
  readonly pod: string;
  readonly network: string;
  /** The interface name; default: net1. */
  readonly ifName?: string;
}

/** Calls ADD, DEL or CHECK of one NIC as Multus does, or STATUS of its network. */
export function cnitool(
  { configFolder, stack }: TestEnvironment,
  command: 'add' | 'check' | 'del' | 'status',
  { node, sandbox, pod, network, ifName = 'net1' }: Nic,
): Promise<CniAnswer> {
  const args = podArgs('default', pod);
  const { pendingDels } = stack.agents[0];
  return callCnitool({ command, network, configFolder, node, netns: sandbox.path, ifName, args, pendingDels });
}

export interface Link {
  readonly mac: string;
  /** Addresses with prefix lengths, without link-local addresses. */
  readonly addresses: readonly string[];
}

/** Reads a link from the kernel. @throws Error if it does not exist */
export async function readLink(sandbox: Sandbox, ifName = 'net1'): Promise<Link> {
  const printed = await ip(sandbox, ['-json', 'address', 'show', 'dev', ifName]);
  const [link] = JSON.parse(printed) as { address: string; addr_info: AddressInfo[] }[];
  if (!link) throw new Error(`no link ${ifName} in ${sandbox.name}`);
  const globalAddresses = link.addr_info.filter(({ scope }) => scope === 'global');
  return { mac: link.address, addresses: globalAddresses.map(({ local, prefixlen }) => `${local}/${prefixlen}`) };
}

interface AddressInfo {
  readonly local: string;
  readonly prefixlen: number;
  readonly scope: string;
}

/** Whether an address answers a ping from a sandbox. */
export async function canPing(sandbox: Sandbox, address: string): Promise<boolean> {
  return (await inNamespace(sandbox, ['ping', '-c', '1', '-W', '5', address])).code === 0;
}

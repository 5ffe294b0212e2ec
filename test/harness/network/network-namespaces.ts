/**
 * Network namespaces that represent nodes and sandboxes. Needs root. The network of the machine
 * does not change: the wire between nodes is also a namespace, with one bridge for each NIC name.
 *
 *     node-1             wire            node-2
 *     eth0 ──── veth ── br-eth0 ── veth ──── eth0
 *       └ macvlan → net1 in a Pod's namespace
 */
import { join } from 'node:path';
import type { Launch } from '../processes/launch.ts';
import { type CommandOptions, type CommandResult, mustRun, runCommand } from '../processes/command.ts';
import { type Run } from '../run.ts';
import { openRun } from '../run.ts';

const namespaceFolder = '/var/run/netns';
const maxNameLength = 200;

export interface Namespace {
  /** Name in `ip netns`, unique on the machine. */
  readonly name: string;
  /** Value of CNI_NETNS. */
  readonly path: string;
}

/**
 * Creates a network namespace with its loopback up. It is removed with the run.
 * @throws Error without root.
 */
export async function createNamespace(run: Run, name: string): Promise<Namespace> {
  if (!/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(name) || name.length > maxNameLength)
    throw new Error(`namespace name ${JSON.stringify(name)}: use lower-case letters, digits, '-' and '.'`);
  const full = `ipledger-${run.id}-${name}`;
  const path = join(namespaceFolder, full);
  run.cleanUpWith(['sh', '-c', '[ ! -e "$0" ] || ip netns delete "$(basename "$0")"', path]);
  await mustRun('ip', ['netns', 'add', full], { signal: run.signal });
  const namespace = { name: full, path };
  await ip(namespace, ['link', 'set', 'lo', 'up']);
  return namespace;
}

/**
 * Creates a namespace that represents a node, with its NICs up.
 * @param nics NICs with the same name on all nodes of the run share a bridge
 */
export async function createNodeNamespace(
  run: Run,
  name: string,
  nics: readonly string[] = ['eth0'],
): Promise<Namespace> {
  const wire = await wireOf(run);
  const node = await createNamespace(run, name);
  for (const nic of nics) {
    const port = `port${(wire.ports += 1)}`;
    await ip(wire.namespace, ['link', 'add', port, 'type', 'veth', 'peer', 'name', nic, 'netns', node.name]);
    await ip(wire.namespace, ['link', 'set', port, 'master', await bridgeFor(wire, nic), 'up']);
    await ip(node, ['link', 'set', nic, 'up']);
  }
  return node;
}

interface Wire {
  readonly namespace: Namespace;
  readonly bridges: Map<string, Promise<string>>;
  ports: number;
}

const wires = new WeakMap<Run, Promise<Wire>>();

function wireOf(run: Run): Promise<Wire> {
  let wire = wires.get(run);
  if (!wire) wires.set(run, (wire = createWire(run)));
  return wire;
}

async function createWire(run: Run): Promise<Wire> {
  return { namespace: await createNamespace(run, 'wire'), bridges: new Map(), ports: 0 };
}

function bridgeFor({ namespace, bridges }: Wire, nic: string): Promise<string> {
  let bridge = bridges.get(nic);
  if (!bridge) bridges.set(nic, (bridge = createBridge(namespace, `br-${nic}`)));
  return bridge;
}

async function createBridge(namespace: Namespace, name: string): Promise<string> {
  await ip(namespace, ['link', 'add', name, 'type', 'bridge']);
  await ip(namespace, ['link', 'set', name, 'up']);
  return name;
}

/** Removes a namespace and its links before the run ends, as a runtime does for a Pod. */
export async function removeNamespace(namespace: Namespace): Promise<void> {
  await mustRun('ip', ['netns', 'delete', namespace.name]);
}

/** Runs `runCommand` inside a namespace. */
export function inNamespace(
  namespace: Namespace,
  [program, ...args]: readonly [string, ...string[]],
  options: CommandOptions = {},
): Promise<CommandResult> {
  return runCommand('nsenter', [`--net=${namespace.path}`, program, ...args], options);
}

/** The launch of the same server inside a namespace. */
export function launchInside({ path }: Namespace, launch: Launch): Launch {
  return { ...launch, program: 'nsenter', args: [`--net=${path}`, launch.program, ...launch.args] };
}

/** Drops the packets at the NIC of a node: all, or those of one direction. They are not refused. */
export async function dropPackets(
  node: Namespace,
  nic = 'eth0',
  directions: readonly ('input' | 'output')[] = ['input', 'output'],
): Promise<void> {
  const chains = directions.map((hook) => {
    const match = hook === 'input' ? 'iifname' : 'oifname';
    return `chain ${hook} { type filter hook ${hook} priority -300; ${match} "${nic}" drop; };`;
  });
  await nft(node, `table inet cut { ${chains.join(' ')} }`);
}

/** Loses a part of the packets that a node receives, at random: of all, or of one address. */
export const losePackets = (
  node: Namespace,
  { percent, with: address }: { readonly percent: number; readonly with?: string },
): Promise<void> => {
  const from = address === undefined ? '' : `ip saddr ${address} `;
  const share = percent < 100 ? `numgen random mod 100 < ${percent} ` : '';
  return nft(
    node,
    `table inet cut { chain input { type filter hook input priority -300; iifname "eth0" ${from}${share}drop; }; }`,
  );
};

/** Ends `dropPackets` and `losePackets`. */
export const passPackets = (node: Namespace): Promise<void> => nft(node, 'delete table inet cut');

async function nft(node: Namespace, command: string): Promise<void> {
  const { code, stderr } = await inNamespace(node, ['nft', command]);
  if (code !== 0) throw new Error(`nft ${command}: ${stderr}`);
}

/** Runs `ip` inside a namespace. Returns its stdout. @throws Error with its stderr if it fails. */
export function ip(namespace: Namespace, args: readonly string[]): Promise<string> {
  return mustRun('ip', ['-netns', namespace.name, ...args]);
}

export type Capability = { readonly isAvailable: true } | { readonly isAvailable: false; readonly reason: string };

let ability: Promise<Capability> | undefined;

/** Whether this machine supports macvlan, or the reason why not. Tested once per process. */
export function probeMacvlan(): Promise<Capability> {
  return (ability ??= tryMacvlan());
}

async function tryMacvlan(): Promise<Capability> {
  if (process.getuid?.() !== 0) return { isAvailable: false, reason: 'network namespaces need root' };
  const run = openRun();
  try {
    const node = await createNodeNamespace(run, 'try');
    await ip(node, ['link', 'add', 'try0', 'link', 'eth0', 'type', 'macvlan', 'mode', 'bridge']);
    return { isAvailable: true };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { isAvailable: false, reason: `macvlan does not work in network namespaces on this machine: ${reason}` };
  } finally {
    await run.end();
  }
}

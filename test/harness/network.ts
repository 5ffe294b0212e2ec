/**
 * Network namespaces that stand for nodes and for Pods' sandboxes. Needs root. Nothing of it shows on the machine's own
 * network: the wire between nodes is a namespace, too, with a bridge for each name of a NIC.
 *
 *     node-1             wire            node-2
 *     eth0 ──── veth ── br-eth0 ── veth ──── eth0
 *       └ macvlan → net1 in a Pod's namespace
 */
import { join } from 'node:path';
import { type CommandOptions, type CommandResult, mustRun, runCommand } from './command.ts';
import { type Run } from './run.ts';
import { openRun } from './run.ts';

const namespaceFolder = '/var/run/netns';
const longestName = 200;

export interface Namespace {
  /** As `ip netns` lists it: unique on the machine. */
  readonly name: string;
  /** What CNI_NETNS is set to. */
  readonly path: string;
}

/** Makes a network namespace whose loopback is up; it is removed with the run. @throws Error when not root. */
export async function createNamespace(run: Run, name: string): Promise<Namespace> {
  if (!/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(name) || name.length > longestName)
    throw new Error(`namespace name ${JSON.stringify(name)}: want lower-case letters, digits, '-' and '.'`);
  const full = `ipledger-${run.id}-${name}`;
  const path = join(namespaceFolder, full);
  run.leave(['sh', '-c', '[ ! -e "$0" ] || ip netns delete "$(basename "$0")"', path]);
  await mustRun('ip', ['netns', 'add', full], { signal: run.signal });
  const namespace = { name: full, path };
  await ip(namespace, ['link', 'set', 'lo', 'up']);
  return namespace;
}

/**
 * A namespace that stands for a node, with its NICs up.
 * @param nics all NICs of one name, of all nodes of the run, share a wire
 */
export async function createNode(run: Run, name: string, nics: readonly string[] = ['eth0']): Promise<Namespace> {
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

/** Removes a namespace before the run ends, as a runtime does with a Pod's; what is in it goes with it. */
export async function removeNamespace(namespace: Namespace): Promise<void> {
  await mustRun('ip', ['netns', 'delete', namespace.name]);
}

/** Runs a program inside a namespace; as `runCommand`. */
export function inNamespace(
  namespace: Namespace,
  [program, ...args]: readonly [string, ...string[]],
  options: CommandOptions = {},
): Promise<CommandResult> {
  return runCommand('nsenter', [`--net=${namespace.path}`, program, ...args], options);
}

/** Runs `ip` inside a namespace; gives its stdout. @throws Error with what it said, when it fails. */
export function ip(namespace: Namespace, args: readonly string[]): Promise<string> {
  return mustRun('ip', ['-netns', namespace.name, ...args]);
}

export type Ability = { readonly able: true } | { readonly able: false; readonly reason: string };

let ability: Promise<Ability> | undefined;

/** Whether macvlan can be used here, and why not; tried out once a process. */
export function canMacvlan(): Promise<Ability> {
  return (ability ??= tryMacvlan());
}

async function tryMacvlan(): Promise<Ability> {
  if (process.getuid?.() !== 0) return { able: false, reason: 'network namespaces need root' };
  const run = openRun();
  try {
    const node = await createNode(run, 'try');
    await ip(node, ['link', 'add', 'try0', 'link', 'eth0', 'type', 'macvlan', 'mode', 'bridge']);
    return { able: true };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { able: false, reason: `no macvlan in network namespaces here: ${reason}` };
  } finally {
    await run.end();
  }
}

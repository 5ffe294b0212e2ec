/**
 * Starts OVN on a node: a network namespace with ovsdb-server, ovs-vswitchd and ovn-controller of
 * its own. Switching is in userspace (`netdev`), so the kernel needs no module. Needs root.
 *
 *     wire ── eth0 ── br-ex (the node's address) ··· tunnel ··· br-int ── veth ── net1 in a Pod's namespace
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createNodeNamespace, ip, type Namespace } from '../network/network-namespaces.ts';
import { type Server, startServer } from '../processes/server.ts';
import type { Run } from '../run.ts';
import { commandTimeout, type OvnCentral } from './ovn-central.ts';
import { ovnLaunch, runOvn } from './ovn-programs.ts';
import { type OvsdbServer, startOvsdbServer } from './ovsdb-server.ts';

/**
 * The largest MTU of a Pod's link that geneve carries. Longer packets are lost without an ICMP
 * message.
 */
export const overlayMtu = 1442;

export interface OvnNode {
  readonly name: string;
  readonly namespace: Namespace;
  /** The address on the wire: the end of the node's tunnels. */
  readonly address: string;
  /** The Open_vSwitch database. */
  readonly database: OvsdbServer;
  readonly vswitchd: Server;
  readonly controller: Server;
  /** Runs ovs-appctl with ovs-vswitchd. Returns its stdout. */
  appctl(args: readonly string[]): Promise<string>;
  /** Runs ovs-vsctl. Returns its stdout. */
  vsctl(args: readonly string[]): Promise<string>;
}

export interface OvnNodeSettings {
  /** The number of the node, from 1 to 254, for the address 10.99.0.<number>. */
  readonly number: number;
  readonly central: OvnCentral;
  /** Its hostname (default: `node-<number>`). */
  readonly name?: string;
  /** Name of its chassis (default: its hostname). */
  readonly systemId?: string;
  /** An existing node (default: a namespace of its own). */
  readonly namespace?: Namespace;
  /**
   * Further NICs of a namespace of its own; those of one name share a wire. They belong to no
   * bridge.
   */
  readonly nics?: readonly string[];
  /** The NIC of the node that carries the tunnels (default: `eth0`). Its address is on br-ex. */
  readonly nic?: string;
}

/** Starts a node. Resolves when its ovn-controller is connected to the southbound database. */
export async function startOvnNode(run: Run, settings: OvnNodeSettings): Promise<OvnNode> {
  const { number, central, name = `node-${number}`, nic = 'eth0', systemId = name, nics = [] } = settings;
  const address = `10.99.0.${number}`;
  const folder = join(run.folder, `${name}-ovn`);
  mkdirSync(folder, { recursive: true });
  const namespace = settings.namespace ?? (await createNodeNamespace(run, name, ['eth0', ...nics]));
  const database = await startOvsdbServer(run, {
    name: `${name}-ovsdb`,
    schema: 'vswitch',
    folder,
    namespace: namespace.path,
  });
  const vsctl = (args: readonly string[]): Promise<string> =>
    runOvn(folder, 'ovs-vsctl', [`--db=${database.unix}`, commandTimeout, ...args]);
  const daemon = { folder, namespace, database };
  await vsctl(['--no-wait', 'init', '--', ...identify({ name, systemId, address, central })]);
  const vswitchd = await startVswitchd(run, `${name}-vswitchd`, daemon);
  await vsctl(
    `add-br br-ex -- set bridge br-ex datapath_type=netdev fail-mode=standalone -- add-port br-ex ${nic}`.split(' '),
  );
  // A tunnel in userspace finds its way only through a bridge that has the address
  await ip(namespace, ['addr', 'add', `${address}/24`, 'dev', 'br-ex']);
  await ip(namespace, ['link', 'set', 'br-ex', 'up']);
  const controller = await startController(run, `${name}-controller`, daemon);
  const appctl = (args: readonly string[]): Promise<string> =>
    runOvn(folder, 'ovs-appctl', ['-t', vswitchdControl(folder), ...args]);
  return { name, namespace, address, database, vswitchd, controller, vsctl, appctl };
}

interface Daemon {
  readonly folder: string;
  readonly namespace: Namespace;
  readonly database: OvsdbServer;
}

interface Identity {
  readonly name: string;
  readonly systemId: string;
  readonly address: string;
  readonly central: OvnCentral;
}

const identify = ({ name, systemId, address, central }: Identity): string[] => [
  'set',
  'open_vswitch',
  '.',
  `external-ids:system-id=${systemId}`,
  `external-ids:hostname=${name}`,
  `external-ids:ovn-remote=${central.southbound.unix}`,
  'external-ids:ovn-encap-type=geneve',
  `external-ids:ovn-encap-ip=${address}`,
  'external-ids:ovn-bridge-datapath-type=netdev',
];

const vswitchdControl = (folder: string): string => join(folder, 'vswitchd.ctl');

function startVswitchd(run: Run, name: string, { folder, namespace, database }: Daemon): Promise<Server> {
  const control = vswitchdControl(folder);
  const launch = ovnLaunch({
    name,
    program: 'ovs-vswitchd',
    args: [`--unixctl=${control}`, database.unix],
    runFolder: folder,
    namespace: namespace.path,
    ready: async () => void (await runOvn(folder, 'ovs-appctl', ['-t', control, 'version'])),
  });
  return startServer(run, launch);
}

function startController(run: Run, name: string, { folder, namespace, database }: Daemon): Promise<Server> {
  const pidFile = join(folder, 'controller.pid');
  const launch = ovnLaunch({
    name,
    program: 'ovn-controller',
    args: [`--pidfile=${pidFile}`, database.unix],
    runFolder: folder,
    namespace: namespace.path,
    // The control socket has the pid in its name
    ready: async () => {
      const control = join(folder, `ovn-controller.${readFileSync(pidFile, 'utf8').trim()}.ctl`);
      const status = (await runOvn(folder, 'ovn-appctl', ['-t', control, 'connection-status'])).trim();
      if (status !== 'connected') throw new Error(`ovn-controller is ${status}`);
    },
  });
  return startServer(run, launch);
}

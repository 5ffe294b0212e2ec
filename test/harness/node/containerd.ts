/** The container runtime of a node: containerd with its configuration. */
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { kubeOvnPlugin } from '../cni.ts';
import type { Launch } from '../processes/launch.ts';
import { findPlugins, findProgram } from '../programs/find-program.ts';
import { podImage } from './pod-image.ts';
import { type MachineState, type Machine, diskPath } from './machine.ts';
import { type Multus, multusNetwork } from './multus.ts';
import { packagedProgram } from '../programs/packaged-programs.ts';

/** The daemon socket, at the default path of Kube-OVN. */
export const daemonSocket = '/run/openvswitch/kube-ovn-daemon.sock';

const socket = '/run/containerd/containerd.sock';
/** The interface of the node that is the parent of its macvlan links. */
const master = 'eth1';

/**
 * Writes plugins, network configuration and the configuration of containerd to the disk of a node.
 */
export async function installRuntime(state: MachineState, provider: string): Promise<void> {
  const plugins = await installPlugins(state, ['macvlan', 'loopback']);
  cpSync(kubeOvnPlugin, join(plugins, 'kube-ovn'));
  writeNetwork(state, podNetworkConfiguration(provider));
  writeFileSync(configFile(state), configuration(state));
}

/** The settings of a node without ipledger, for the network of its Pods. */
export interface BareRuntime {
  /** The network of eth0 of all Pods: addresses of this range, with routes. */
  readonly podRange: string;
  readonly multus: Multus;
  /** kubeconfig file with which Multus reads Pods and NetworkAttachmentDefinitions. */
  readonly kubeconfig: string;
}

/**
 * Writes the same for a node on which ipledger is not installed. Its plugin is not yet there.
 * Multus attaches the other networks.
 */
export async function installBareRuntime(
  state: MachineState,
  { podRange, multus, kubeconfig }: BareRuntime,
): Promise<void> {
  const plugins = await installPlugins(state, ['ptp', 'host-local', 'macvlan', 'loopback']);
  symlinkSync(multus.plugin, join(plugins, multus.type));
  const plugin = await multusNetwork(multus, kubeconfig, mainNetwork(podRange));
  writeNetwork(state, { cniVersion: '1.0.0', name: 'pods', plugins: [plugin] });
  writeFileSync(configFile(state), configuration(state));
}

/** The settings of a node whose Pods get the networks that their annotations name. */
export interface AttachingRuntime {
  /** The range of the main NICs, which ipledger does not serve. */
  readonly podRange: string;
  /** kubeconfig file of a user that may read Pods and NetworkAttachmentDefinitions. */
  readonly kubeconfig: string;
  /** A network that each Pod of a namespace gets, by namespace. */
  readonly defaultNetworks: Readonly<Record<string, string>>;
}

/**
 * Writes the same for a node whose Pods get a main NIC without ipledger, and the networks of their
 * annotations.
 */
export async function installAttachingRuntime(
  state: MachineState,
  { podRange, kubeconfig, defaultNetworks: networks }: AttachingRuntime,
): Promise<void> {
  const plugins = await installPlugins(state, ['ptp', 'host-local', 'macvlan', 'loopback']);
  for (const name of ['kube-ovn', 'ovn4nfvk8s-cni', 'ovn-k8s-cni-overlay']) cpSync(kubeOvnPlugin, join(plugins, name));
  symlinkSync(await findProgram('attach-networks'), join(plugins, 'attach-networks'));
  const kubectl = await findProgram('kubectl');
  const main = mainNetwork(podRange);
  const plugin = { type: 'attach-networks', kubectl, kubeconfig, main, defaultNetworks: networks };
  writeNetwork(state, { cniVersion: '1.0.0', name: 'pods', plugins: [plugin] });
  writeFileSync(configFile(state), configuration(state));
}

/** The network of eth0 of Pods without ipledger. */
function mainNetwork(podRange: string): object {
  const ipam = { type: 'host-local', ranges: [[{ subnet: podRange }]], routes: [{ dst: '0.0.0.0/0' }] };
  return { cniVersion: '1.0.0', name: 'main', plugins: [{ type: 'ptp', ipam }] };
}

/** The plugins that the runtime calls. */
export const pluginFolder = '/opt/cni/bin';
const networkFolder = '/etc/cni/net.d';

/** Links reference plugins into the folder of plugins. Returns the folder. */
async function installPlugins(state: MachineState, names: readonly string[]): Promise<string> {
  const folder = diskPath(state, pluginFolder);
  mkdirSync(folder, { recursive: true });
  for (const name of names) symlinkSync(join(await findPlugins(), name), join(folder, name));
  return folder;
}

function writeNetwork(state: MachineState, list: object): void {
  const folder = diskPath(state, networkFolder);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, '10-pods.conflist'), JSON.stringify(list));
}

function podNetworkConfiguration(provider: string): object {
  const ipam = { type: 'kube-ovn', server_socket: daemonSocket, provider };
  const network = { type: 'macvlan', master, mode: 'bridge', ipam };
  return { cniVersion: '1.0.0', name: provider.replace(/\..*/, ''), plugins: [network] };
}

const configFile = ({ folder }: MachineState): string => join(folder, 'containerd.toml');

const configuration = ({ folder }: MachineState): string => `version = 2
root = "${join(folder, 'containerd')}"
state = "/run/containerd"
[grpc]
  address = "${socket}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${podImage}"
  # a lower score needs CAP_SYS_RESOURCE, which root in a container may not have
  restrict_oom_score_adj = true
  disable_tcp_service = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/opt/cni/bin"
    conf_dir = "${networkFolder}"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
    BinaryName = "${packagedProgram('runc')}"
    SystemdCgroup = false
`;

/** The launch of containerd. It is ready when it answers. */
export async function containerdLaunch(state: MachineState, machine: Machine): Promise<Launch> {
  return machine.inside({
    name: `containerd-${state.name}`,
    program: packagedProgram('containerd'),
    args: ['--config', configFile(state)],
    ready: (signal) => ctr(machine, ['version'], signal),
    readyWithinMs: 30_000,
  });
}

/** Imports an image from its OCI archive. It stays on the disk. */
export async function importImage(machine: Machine, archive: string, signal: AbortSignal): Promise<void> {
  await ctr(machine, ['images', 'import', archive], signal);
}

/** Gives an imported image a further name. */
export async function tagImage(machine: Machine, from: string, to: string, signal: AbortSignal): Promise<void> {
  await ctr(machine, ['images', 'tag', '--force', from, to], signal);
}

async function ctr(machine: Machine, args: readonly string[], signal: AbortSignal): Promise<void> {
  const { code, stderr } = await machine.run([packagedProgram('ctr'), '--namespace=k8s.io', ...args], { signal });
  if (code !== 0) throw new Error(`ctr ${args.join(' ')}: ${stderr.trim()}`);
}

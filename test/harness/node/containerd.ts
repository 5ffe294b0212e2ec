/** The container runtime of a node. */
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { kubeOvnPlugin } from '../cni.ts';
import type { Launch } from '../launch.ts';
import { findPlugins } from '../programs.ts';
import { boxImage } from './image.ts';
import { type Body, type Machine, onDisk } from './machine.ts';
import { packaged } from './packaged.ts';

/** Where the plugin finds the node-agent: Kube-OVN's usual place. */
export const daemonSocket = '/run/openvswitch/kube-ovn-daemon.sock';

const socket = '/run/containerd/containerd.sock';
/** The interface of the node that its Pods' links hang on. */
const master = 'eth1';

/** Puts plugins, network configuration and the runtime's own on a node's disk. */
export async function installRuntime(body: Body, provider: string): Promise<void> {
  const [plugins, configurations] = [onDisk(body, '/opt/cni/bin'), onDisk(body, '/etc/cni/net.d')];
  mkdirSync(plugins, { recursive: true });
  mkdirSync(configurations, { recursive: true });
  cpSync(kubeOvnPlugin, join(plugins, 'kube-ovn'));
  for (const name of ['macvlan', 'loopback']) symlinkSync(join(await findPlugins(), name), join(plugins, name));
  const ipam = { type: 'kube-ovn', server_socket: daemonSocket, provider };
  const network = { type: 'macvlan', master, mode: 'bridge', ipam };
  const list = { cniVersion: '1.0.0', name: provider.replace(/\..*/, ''), plugins: [network] };
  writeFileSync(join(configurations, '10-pods.conflist'), JSON.stringify(list));
  writeFileSync(configFile(body), await configuration(body));
}

const configFile = ({ folder }: Body): string => join(folder, 'containerd.toml');

async function configuration({ folder }: Body): Promise<string> {
  return `version = 2
root = "${join(folder, 'containerd')}"
state = "/run/containerd"
[grpc]
  address = "${socket}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${boxImage}"
  # to lower it takes CAP_SYS_RESOURCE, which root of a container or a small machine may not have
  restrict_oom_score_adj = true
  disable_tcp_service = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/opt/cni/bin"
    conf_dir = "/etc/cni/net.d"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      BinaryName = "${packaged('runc')}"
      SystemdCgroup = false
`;
}

/** How containerd is started; ready when it answers. */
export async function containerdLaunch(body: Body, machine: Machine): Promise<Launch> {
  return machine.inside({
    name: `containerd-${body.name}`,
    program: packaged('containerd'),
    args: ['--config', configFile(body)],
    ready: (signal) => ctr(machine, ['version'], signal),
    readyWithinMs: 30_000,
  });
}

/** Makes the image of Pods and sandboxes known; it stays on the disk. */
export async function importImage(machine: Machine, archive: string, signal: AbortSignal): Promise<void> {
  await ctr(machine, ['images', 'import', archive], signal);
}

async function ctr(machine: Machine, args: readonly string[], signal: AbortSignal): Promise<void> {
  const { code, stderr } = await machine.run([packaged('ctr'), '--namespace=k8s.io', ...args], { signal });
  if (code !== 0) throw new Error(`ctr ${args.join(' ')}: ${stderr.trim()}`);
}

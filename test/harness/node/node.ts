/**
 * A node: a machine with containerd, a kubelet and the node-agent. Tests can cut its power or its
 * network.
 */
import type { Cluster } from '../kubernetes/cluster.ts';
import { ip } from '../network/network-namespaces.ts';
import type { OvnCentral } from '../ovn/ovn-central.ts';
import { type OvnNode, startOvnNode } from '../ovn/ovn-node.ts';
import { pathWithEthtool } from '../ovn/ovn-programs.ts';
import type { Run } from '../run.ts';
import { type Server, startServer } from '../processes/server.ts';
import { agentLaunch, type AllocatorServer } from '../services.ts';
import { probeSocket } from '../processes/readiness-probes.ts';
import { containerdLaunch, daemonSocket, importImage, installRuntime } from './containerd.ts';
import { kubeletLaunch, kubeletUser } from './kubelet.ts';
import { type MachineState, bootMachine, wipeDisk, type Machine, createMachineState } from './machine.ts';
import type { TcpProxy } from '../network/tcp-proxy.ts';
import { forwardPort } from './port-forward.ts';

export interface NodeSettings {
  readonly name: string;
  /** The number of the node, from 1 to 200, unique in the run. */
  readonly number: number;
  readonly cluster: Cluster;
  readonly allocator: Pick<AllocatorServer, 'endpoint'>;
  /** Provider of the network of the Pods. */
  readonly provider: string;
  /** Archive of the Pod image. */
  readonly image: string;
  /** kubeconfig file of the node-agent. */
  readonly agentUser: string;
  /**
   * Writes plugins and the configuration of the runtime to a new disk (default: macvlan main NICs
   * of `provider`).
   */
  readonly install?: (state: MachineState) => Promise<void>;
  /**
   * The OVN of the cluster; absent for a node without OVN. The agent makes NICs with it. `eth2`
   * carries tunnels, `eth3` is free.
   */
  readonly central?: OvnCentral;
}

/** A node. Its servers and machine belong to the present boot, or to the last boot. */
export interface Node {
  readonly name: string;
  readonly machine: Machine;
  readonly containerd: Server;
  readonly kubelet: Server;
  readonly agent: Server;
  /** The OVN of the node, with `central`. Such a node cannot boot again. */
  readonly ovn: OvnNode | undefined;
  /** Kills all processes. The disk stays. Resolves when all of this boot is removed. */
  powerCut(): Promise<void>;
  /** Boots again, with its own disk or an empty one. */
  boot(disk?: 'its own' | 'new'): Promise<void>;
  /**
   * Disconnects the node from the Kubernetes API and the allocator until `reconnect`. Its Pods keep
   * their network.
   */
  disconnect(): void;
  reconnect(): Promise<void>;
}

/** Creates and boots a node. It ends with the run. */
export async function startNode(run: Run, settings: NodeSettings): Promise<Node> {
  const { name, cluster, provider } = settings;
  const machineState = createMachineState(run, name);
  const plan: Plan = {
    ...settings,
    run,
    machineState,
    address: `192.0.2.${10 + settings.number}`,
    kubeletUser: await kubeletUser(cluster, name),
  };
  const { install = (state) => installRuntime(state, provider) } = settings;
  await install(machineState);
  let running = await start(plan);
  run.onEnd(() => running.ports.close());
  return {
    name,
    get machine() {
      return running.machine;
    },
    get containerd() {
      return running.containerd;
    },
    get kubelet() {
      return running.kubelet;
    },
    get agent() {
      return running.agent;
    },
    get ovn() {
      return running.ovn;
    },
    async powerCut() {
      running.ports.close();
      await running.machine.powerCut();
    },
    async boot(disk = 'its own') {
      if (disk === 'new') {
        wipeDisk(machineState);
        await install(machineState);
      }
      running = await start(plan);
    },
    disconnect: () => running.ports.close(),
    async reconnect() {
      running.ports = await openPorts(plan, running.machine);
    },
  };
}

interface Plan extends NodeSettings {
  readonly run: Run;
  readonly machineState: MachineState;
  readonly address: string;
  /** kubeconfig file of the kubelet. */
  readonly kubeletUser: string;
}

interface Running {
  readonly machine: Machine;
  ports: Pick<TcpProxy, 'close'>;
  readonly containerd: Server;
  readonly kubelet: Server;
  readonly agent: Server;
  readonly ovn: OvnNode | undefined;
}

async function start(plan: Plan): Promise<Running> {
  const { run, machineState, address, kubeletUser: kubeconfig, image, central, name, number } = plan;
  const machine = await bootMachine(run, machineState, central ? ['eth2', 'eth3'] : []);
  await ip(machine.network, ['address', 'add', `${address}/24`, 'dev', 'eth0']);
  const ports = await openPorts(plan, machine);
  const ovn = central && (await startOvnNode(run, { central, number, name, namespace: machine.network, nic: 'eth2' }));
  const [containerd, agent] = await Promise.all([
    startServer(run, await containerdLaunch(machineState, machine)),
    startServer(run, agentIn(machine, plan, ovn)),
  ]);
  // Repeats at each boot, which is fast if the disk has the image
  await importImage(machine, image, run.signal);
  const kubelet = await startServer(run, await kubeletLaunch(machineState, machine, { kubeconfig, address }));
  return { machine, ports, containerd, kubelet, agent, ovn };
}

/** Forwards the ports of the Kubernetes API and the allocator. */
async function openPorts({ cluster, allocator }: Plan, { network }: Machine): Promise<Running['ports']> {
  const urls = [cluster.url, `http://${allocator.endpoint}`];
  const ports = await Promise.all(urls.map((url) => forwardPort(network, Number(new URL(url).port))));
  return { close: () => ports.forEach((port) => port.close()) };
}

function agentIn(machine: Machine, { name, allocator, agentUser: kubeconfig }: Plan, ovn: OvnNode | undefined) {
  const launch = agentLaunch({
    name: `node-agent-${name}`,
    allocator: allocator.endpoint,
    kubeconfig,
    healthListen: '',
    node: name,
    sockets: [daemonSocket],
    ...(ovn && { ovsDb: ovn.database.unix }),
  });
  const path = ovn && { PATH: pathWithEthtool() };
  return {
    ...machine.inside({ ...launch, env: { ...launch.env, ...path } }),
    ready: (signal: AbortSignal) => probeSocket(machine.path(daemonSocket), signal),
  };
}

/** A whole node: a machine with containerd, a kubelet and our agent, that can lose its power or its way to the others. */
import type { Cluster } from '../cluster.ts';
import { ip } from '../network.ts';
import type { Run } from '../run.ts';
import { type Server, startServer } from '../server.ts';
import { agentLaunch, type Allocator } from '../services.ts';
import { socketAnswers } from '../probes.ts';
import { containerdLaunch, daemonSocket, importImage, installRuntime } from './containerd.ts';
import { kubeletLaunch, kubeletUser } from './kubelet.ts';
import { type Body, boot, emptyDisk, type Machine, newBody } from './machine.ts';
import { openPort, type Port } from './port.ts';

export interface NodeSettings {
  readonly name: string;
  /** From 1 to 200; unique in the run. */
  readonly number: number;
  readonly cluster: Cluster;
  readonly allocator: Pick<Allocator, 'endpoint'>;
  /** Of the network that Pods are attached to. */
  readonly provider: string;
  /** Archive of the image that Pods run. */
  readonly image: string;
  /** kubeconfig file of the node-agent. */
  readonly agentUser: string;
}

/** Servers and machine are those of the present boot, or of the last one. */
export interface Node {
  readonly name: string;
  readonly machine: Machine;
  readonly containerd: Server;
  readonly kubelet: Server;
  readonly agent: Server;
  /** Everything in it ends at once; its disk stays. Resolves when nothing else is left. */
  powerCut(): Promise<void>;
  /** Switches the power on again; with a new disk, it knows nothing of before. */
  boot(disk?: 'its own' | 'new'): Promise<void>;
  /** It works on, and its Pods talk on, but it reaches neither the Kubernetes API nor the allocator, until `reconnect`. */
  cutOff(): void;
  reconnect(): Promise<void>;
}

/** Makes a node and switches it on; it ends with the run. */
export async function startNode(run: Run, settings: NodeSettings): Promise<Node> {
  const { name, cluster, provider } = settings;
  const body = newBody(run, name);
  const plan: Plan = {
    ...settings,
    run,
    body,
    address: `192.0.2.${10 + settings.number}`,
    kubeletUser: await kubeletUser(cluster, name),
  };
  await installRuntime(body, provider);
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
    async powerCut() {
      running.ports.close();
      await running.machine.powerCut();
    },
    async boot(disk = 'its own') {
      if (disk === 'new') {
        emptyDisk(body);
        await installRuntime(body, provider);
      }
      running = await start(plan);
    },
    cutOff: () => running.ports.close(),
    async reconnect() {
      running.ports = await openPorts(plan, running.machine);
    },
  };
}

interface Plan extends NodeSettings {
  readonly run: Run;
  readonly body: Body;
  readonly address: string;
  /** kubeconfig file of the kubelet. */
  readonly kubeletUser: string;
}

interface Running {
  readonly machine: Machine;
  ports: Port;
  readonly containerd: Server;
  readonly kubelet: Server;
  readonly agent: Server;
}

async function start(plan: Plan): Promise<Running> {
  const { run, body, address, kubeletUser: kubeconfig, image } = plan;
  const machine = await boot(run, body);
  await ip(machine.network, ['address', 'add', `${address}/24`, 'dev', 'eth0']);
  const ports = await openPorts(plan, machine);
  const [containerd, agent] = await Promise.all([
    startServer(run, await containerdLaunch(body, machine)),
    startServer(run, agentIn(machine, plan)),
  ]);
  // Again at each boot: it is there already, and that is quick.
  await importImage(machine, image, run.signal);
  const kubelet = await startServer(run, await kubeletLaunch(body, machine, { kubeconfig, address }));
  return { machine, ports, containerd, kubelet, agent };
}

/** Its way to the Kubernetes API and the allocator. */
async function openPorts({ cluster, allocator }: Plan, { network }: Machine): Promise<Port> {
  const urls = [cluster.url, `http://${allocator.endpoint}`];
  const ports = await Promise.all(urls.map((url) => openPort(network, Number(new URL(url).port))));
  return { close: () => ports.forEach((port) => port.close()) };
}

function agentIn(machine: Machine, { name, allocator, agentUser: kubeconfig }: Plan) {
  const launch = agentLaunch({
    name: `node-agent-${name}`,
    allocator: allocator.endpoint,
    kubeconfig,
    healthListen: '',
    node: name,
    sockets: [daemonSocket],
  });
  return {
    ...machine.inside(launch),
    ready: (signal: AbortSignal) => socketAnswers(machine.path(daemonSocket), signal),
  };
}

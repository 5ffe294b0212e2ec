/**
 * A Kubernetes cluster in a world: its API server, nodes, controllers, and ipledger's programs
 * beside the allocators.
 */
import type { Connection } from '../../../lib/grpc/calls.ts';
import type { SeededRandom } from '../../faults/seeded-random.ts';
import type { Program } from '../kernel/program.ts';
import type { World } from '../kernel/world.ts';
import type { AllocatorCluster } from '../ledger/allocator-cluster.ts';
import { type AgentEnvironment, startAgent } from './agent-program.ts';
import { ApiServer } from './api-server.ts';
import { BindingWitness } from './binding-witness.ts';
import { ClusterUser, namespace } from './cluster-user.ts';
import { EtcdRestores } from './etcd-restores.ts';
import { ForeignHosts, probedNetwork } from './foreign-hosts.ts';
import { Kubelet } from './kubelet.ts';
import { NicsInUse } from './nics-in-use.ts';
import { SimulatedNode } from './node.ts';
import { hasLivingPod } from './pod-identity.ts';
import { registerNode, runPodLifecycle, setOutOfService } from './pod-lifecycle.ts';
import { SimulatedApiServer } from './simulated-api-server.ts';
import { runStatefulSets } from './stateful-sets.ts';
import { VirtualMachines } from './virtual-machines.ts';
import { virtualRoot } from './virtual-files.ts';
import { startWatcher, watcherNamespace, type WatcherProgram } from './watcher-program.ts';

/** Small Subnets, whose addresses are given on often. */
export const networks = {
  macvlan: { cidrBlock: '10.0.0.0/28', gateway: '10.0.0.1', excludeIps: ['10.0.0.1..10.0.0.4'] },
  lan: { cidrBlock: '10.1.0.0/29', gateway: '10.1.0.1', excludeIps: ['10.1.0.1'] },
} as const;
export type NetworkName = keyof typeof networks;
const cooldownSeconds = 15;

const nodeNames = ['node-0', 'node-1', 'node-2'];
const watcherCount = 2;

export class SimulatedCluster {
  readonly world: World;
  readonly server: SimulatedApiServer;
  readonly user: ClusterUser;
  readonly nics: NicsInUse;
  readonly bindings: BindingWitness;
  readonly foreignHosts: ForeignHosts;
  readonly etcdRestores: EtcdRestores;
  readonly nodes: readonly SimulatedNode[];
  readonly machines: VirtualMachines;
  readonly watchers: WatcherProgram[] = [];
  readonly #environment: AgentEnvironment;
  readonly #macs = new Map<string, string>();
  readonly #kubelets: ReadonlyMap<SimulatedNode, Kubelet>;
  #identities = 0;
  /** When the last planned end of a fault is. */
  quietAt = 0;

  constructor(world: World, allocators: AllocatorCluster) {
    this.world = world;
    const connect = (from: Program): Connection => allocators.connect(from);
    this.etcdRestores = new EtcdRestores(this, allocators);
    const uids = world.random('uids');
    const model = new ApiServer({ now: () => server.machine.wall(), newUid: () => uuidFrom(uids) });
    const server = new SimulatedApiServer(world, allocators.network, model);
    this.server = server;
    this.user = new ClusterUser(model);
    this.#environment = { server, connect };
    this.nics = new NicsInUse(world, ({ pod, uid }) =>
      hasLivingPod(this.user.pods(), { name: pod.slice(`${namespace}/`.length), uid }),
    );
    this.bindings = new BindingWitness(world, this.nics);
    this.foreignHosts = new ForeignHosts(world, connect);
    const { nics, bindings, foreignHosts } = this;
    const stateFolder = world.random('shared files').nextBoolean(0.25) ? `${virtualRoot}/shared` : undefined;
    this.nodes = nodeNames.map((name) => new SimulatedNode(world, name, { nics, bindings, foreignHosts, stateFolder }));
    this.#kubelets = new Map(this.nodes.map((node) => [node, new Kubelet(node, this.user, this.#macs)]));
    this.machines = new VirtualMachines(world, this.user);
    allocators.onDisconnected = () => this.#disconnectAgents(allocators.network.latencyMs());
  }

  /** Makes the objects that each cluster has, and starts all programs. */
  start(): void {
    const { user, world } = this;
    for (const name of [namespace, watcherNamespace]) user.try('POST', '/api/v1/namespaces', { metadata: { name } });
    for (const [name, spec] of Object.entries(networks)) {
      const config = JSON.stringify({ type: 'macvlan', ipam: { type: 'kube-ovn', provider: `${name}.default` } });
      const path = `/apis/k8s.cni.cncf.io/v1/namespaces/${namespace}/network-attachment-definitions`;
      user.try('POST', path, { metadata: { name }, spec: { config } });
      const probeAddresses = name === probedNetwork;
      const subnet = { ...spec, provider: `${name}.default`, protocol: 'IPv4', cooldownSeconds, probeAddresses };
      user.try('POST', '/apis/kubeovn.io/v1/subnets', { metadata: { name }, spec: subnet });
    }
    runPodLifecycle(this.nodes, user);
    runStatefulSets(world, user);
    for (const node of this.nodes) this.bootNode(node);
    for (let index = 0; index < watcherCount; index++) this.startWatcher(index);
  }

  bootNode(node: SimulatedNode): void {
    if (node.isOn) return;
    node.powerOn();
    this.restartAgent(node);
    registerNode(this.user, node.name, this.nodes.indexOf(node));
    setOutOfService(this.user, node.name, false);
    this.startKubelet(node);
  }

  /** The agent ends at once, and the next one starts. */
  restartAgent(node: SimulatedNode): void {
    node.agent?.crash();
    if (node.isOn) startAgent(node, this.#macs, this.#environment);
  }

  startKubelet(node: SimulatedNode): void {
    if (node.isOn) this.#kubelets.get(node)?.start();
  }

  /** A tool removes a NIC of some container on the node, and adds it again. */
  replug(node: SimulatedNode, random: SeededRandom): void {
    this.#kubelets.get(node)?.replug(random);
  }

  /** The watcher of an index ends at once, or as in a rollout, and the next one starts. */
  replaceWatcher(index: number, how: 'crash' | 'stop'): void {
    const { watchers } = this;
    if (how === 'crash') watchers[index]?.program.crash();
    else watchers[index]?.stop();
    this.startWatcher(index);
  }

  startWatcher(index: number): void {
    const machine = this.world.machine(`watcher-${index}`);
    this.watchers[index] = startWatcher(machine, `watcher-${index}.${++this.#identities}`, this.#environment);
  }

  #disconnectAgents(latencyMs: number): void {
    for (const { agent, epoch } of this.nodes)
      this.world.after(latencyMs, () => epoch?.onDisconnected(), agent, 'disconnected');
  }

  /** Ends a fault after some time: the cluster is not at rest before. */
  endFault(afterMs: number, act: () => void): void {
    this.quietAt = Math.max(this.quietAt, this.world.now + afterMs);
    this.world.after(afterMs, act);
  }

  /** Starts what has ended. A node without power boots at its time. */
  heal(): void {
    this.server.refusal = undefined;
    this.server.watchLagMs = () => 0;
    for (const node of this.nodes) node.failingSandboxes = 0;
    for (const node of this.nodes.filter(({ isOn }) => isOn)) {
      if (!node.agent?.isAlive) this.restartAgent(node);
      if (!node.kubelet?.isAlive) this.startKubelet(node);
    }
    for (const [index, { program }] of this.watchers.entries()) if (!program.isAlive) this.startWatcher(index);
  }
}

function uuidFrom(random: SeededRandom): string {
  const hex = Array.from({ length: 32 }, () => random.nextInt(16).toString(16)).join('');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** A model of etcd in a world, and its allocators, which start, crash and start again. */
import type { Connection } from '../../../lib/grpc/client.ts';
import { EtcdModel } from '../etcd/etcd-model.ts';
import { connectTo } from '../kernel/connect.ts';
import type { GrpcServer } from '../kernel/grpc-channel.ts';
import { Network } from '../kernel/network.ts';
import type { Program } from '../kernel/program.ts';
import type { World } from '../kernel/world.ts';
import type { Replica } from '../../../ledger/log/reader/replica.ts';
import { type AllocatorSurroundings, type RunningAllocator, startAllocator } from './allocator.ts';

type Options = AllocatorSurroundings['options'];

export interface AllocatorClusterOptions extends Options {
  readonly replicas: number;
  /**
   * The allocations or bindings of a page that a client gets; absent: the limit of the allocator.
   */
  readonly pageSize?: number;
}

/** The kubelet starts a program again that has ended. */
const restartMs = 1_000;
const etcdAddress = 'etcd:2379';

export class AllocatorCluster implements AllocatorSurroundings {
  readonly world: World;
  readonly options: AllocatorClusterOptions;
  readonly network: Network;
  readonly etcd: EtcdModel;
  /** Who listens where. */
  readonly addresses = new Map<string, GrpcServer>();
  readonly etcdEndpoints: readonly string[] = [etcdAddress];
  /** The names of the allocators. */
  readonly names: readonly string[];
  /** Called when an allocator sends an answer. */
  onAnswer: (path: string, request: object, reply: Buffer) => void = () => undefined;
  /** Called when an allocator ends the connections of its clients, or ends itself. */
  onDisconnected: () => void = () => undefined;
  /** Called when an allocator ends by an error. It is started again. */
  onFailure: (name: string, error: unknown) => void = () => undefined;
  readonly #running = new Map<string, RunningAllocator>();
  #starts = 0;

  constructor(world: World, options: AllocatorClusterOptions) {
    this.world = world;
    this.options = options;
    this.network = new Network(world);
    this.etcd = new EtcdModel({ now: () => world.now, after: (ms, act) => world.after(ms, act, undefined, 'etcd') });
    const machine = world.machine('etcd');
    this.addresses.set(etcdAddress, { name: 'etcd', machine, methods: this.etcd.methods });
    this.names = ['a', 'b', 'c', 'd', 'e'].slice(0, options.replicas).map((each) => `allocator-${each}`);
  }

  /** The addresses of all allocators, separated by commas. */
  get endpoints(): string {
    return this.names.map(addressOf).join(',');
  }

  /** The running allocators. */
  get running(): readonly Program[] {
    return [...this.#running.values()].map(({ program }) => program).filter(({ isAlive }) => isAlive);
  }

  programOf(name: string): Program | undefined {
    const program = this.#running.get(name)?.program;
    return program?.isAlive ? program : undefined;
  }

  start(name: string): void {
    if (this.programOf(name)) return;
    const started = startAllocator(this, { name, address: addressOf(name), run: ++this.#starts });
    this.#running.set(name, started);
    started.program.ended.addEventListener('abort', () => {
      this.addresses.delete(addressOf(name));
      this.onDisconnected();
      const { failure } = started.program;
      if (failure === undefined) return;
      this.onFailure(name, failure);
      this.world.after(restartMs, () => this.start(name));
    });
  }

  /** The ledger in the memory of a running allocator, once it is loaded. */
  replicaOf(name: string): Replica | undefined {
    const running = this.#running.get(name);
    return running?.program.isAlive ? running.replica : undefined;
  }

  /** Stops an allocator as its process is stopped: it hands over, ends, and starts again. */
  stop(name: string, pauseMs: number): void {
    const running = this.#running.get(name);
    if (!running?.program.isAlive) return;
    running.program.ended.addEventListener('abort', () => this.world.after(pauseMs, () => this.start(name)));
    running.program.run(() => running.stop());
  }

  startAll(): void {
    for (const name of this.names) this.start(name);
  }

  /** A connection of a client program. */
  connect(program: Program, endpoints = this.endpoints): Connection {
    return connectTo(program, this.network, this.addresses, { endpoints, pageSize: this.options.pageSize ?? 0 });
  }
}

export const addressOf = (name: string): string => `${name}:7411`;

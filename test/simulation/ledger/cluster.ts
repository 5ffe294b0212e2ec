/** One cluster in a world: a model of etcd, and allocators that start, crash and start again. */
import type { Connection } from '../../../lib/grpc/client.ts';
import { EtcdModel } from '../etcd/etcd-model.ts';
import { connectTo } from '../kernel/connect.ts';
import type { GrpcServer } from '../kernel/grpc-channel.ts';
import { Network } from '../kernel/network.ts';
import type { Program } from '../kernel/program.ts';
import type { World } from '../kernel/world.ts';
import { type AllocatorSurroundings, startAllocator } from './allocator.ts';

export type ClusterOptions = AllocatorSurroundings['options'] & { readonly replicas: number };

const etcdAddress = 'etcd:2379';

export class Cluster implements AllocatorSurroundings {
  readonly world: World;
  readonly options: ClusterOptions;
  readonly network: Network;
  readonly etcd: EtcdModel;
  /** Who listens where. */
  readonly addresses = new Map<string, GrpcServer>();
  readonly etcdEndpoints: readonly string[] = [etcdAddress];
  /** The names of the allocators. */
  readonly names: readonly string[];
  readonly #running = new Map<string, Program>();
  #starts = 0;

  constructor(world: World, options: ClusterOptions) {
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
    return [...this.#running.values()].filter(({ isAlive }) => isAlive);
  }

  programOf(name: string): Program | undefined {
    const program = this.#running.get(name);
    return program?.isAlive ? program : undefined;
  }

  start(name: string): void {
    if (this.programOf(name)) return;
    const program = startAllocator(this, { name, address: addressOf(name), run: ++this.#starts });
    this.#running.set(name, program);
    program.ended.addEventListener('abort', () => void this.addresses.delete(addressOf(name)));
  }

  startAll(): void {
    for (const name of this.names) this.start(name);
  }

  /** A connection of a client program. */
  connect(program: Program, endpoints = this.endpoints): Connection {
    return connectTo(program, this.network, this.addresses, endpoints);
  }
}

const addressOf = (name: string): string => `${name}:7411`;

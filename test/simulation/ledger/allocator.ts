/** An allocator in the simulation: the parts of the real one, with simulated surroundings. */
import type { Server } from '@grpc/grpc-js';
import type { Connection } from '../../../lib/grpc/client.ts';
import type { Lifecycle } from '../../../lib/process/lifecycle.ts';
import { openArchived } from '../../../ledger/archive/open-archive.ts';
import type { Replica } from '../../../ledger/log/reader/replica.ts';
import { EtcdLedger } from '../../../ledger/log/store/etcd-ledger.ts';
import { addServices } from '../../../services/allocator/api-server.ts';
import { announceEpochs } from '../../../services/allocator/grpc/recovery/announce-epochs.ts';
import { Forwarder } from '../../../services/allocator/grpc/forwarding/forwarder.ts';
import type { Leadership } from '../../../services/allocator/leadership/leadership.ts';
import type { AllocatorOptions } from '../../../services/allocator/options.ts';
import type { Task, TaskRunner, TaskTools } from '../../../services/allocator/threads/task.ts';
import { runReplica } from '../../../services/allocator/wiring.ts';
import { connectToModel } from '../etcd/connect-to-model.ts';
import { type GrpcServer, simulatedChannel } from '../kernel/grpc-channel.ts';
import { MethodTable } from '../kernel/grpc-server.ts';
import type { Program } from '../kernel/program.ts';
import { silentLog as log } from '../kernel/silent-log.ts';
import type { Network } from '../kernel/network.ts';
import type { World } from '../kernel/world.ts';

/** What surrounds the allocators of one cluster. */
export interface AllocatorSurroundings {
  readonly world: World;
  readonly network: Network;
  /** Who listens where. */
  readonly addresses: Map<string, GrpcServer>;
  readonly etcdEndpoints: readonly string[];
  readonly options: {
    /** Whether old events are sealed into an archive in etcd. */
    readonly seals: boolean;
    /** The limit of the archive, beyond which the oldest events are dropped; absent: none. */
    readonly archiveMaxBytes?: number;
  };
  connect(program: Program, endpoints: string): Connection;
  /** Called when an allocator sends an answer. */
  onAnswer(path: string, request: object, reply: Buffer): void;
  /** Called when an allocator ends the connections of its clients, or ends itself. */
  onDisconnected(): void;
}

export interface RunningAllocator {
  readonly program: Program;
  /** Its ledger, once it is loaded. */
  replica: Replica | undefined;
  /** Stops its parts, the last one first, and ends it. */
  stop(): void;
}

export interface AllocatorPlace {
  readonly name: string;
  readonly address: string;
  /** Counts the starts in a world. */
  readonly run: number;
}

const nothing = (): void => undefined;
const noMetrics = { follow: nothing, compareClocks: nothing, onAppend: nothing, onSealing: nothing };

export function startAllocator(
  cluster: AllocatorSurroundings,
  { name, address, run }: AllocatorPlace,
): RunningAllocator {
  const { world, network, addresses } = cluster;
  const options = optionsOf(cluster, name, address);
  const machine = world.machine(name);
  const stopping = new AbortController();
  const stops: (() => Promise<void> | void)[] = [];
  const program = machine.start(`${name} (start ${run})`, async () => {
    const life: Lifecycle = {
      signal: stopping.signal,
      onStop: (stop) => void stops.push(stop),
      fail: (error) => program.fail(error),
    };
    const etcd = connectToModel(cluster.etcdEndpoints, simulatedChannel(program, network, addresses));
    const forwarder = new Forwarder({ connect: (writer) => cluster.connect(program, writer) });
    const leadership: Leadership = { writer: undefined, follower: undefined };
    const table = new MethodTable((path, request, reply) => cluster.onAnswer(path, request, reply));
    const started = runReplica({
      options,
      log,
      life,
      etcd,
      clocks: { references: [{ name: 'etcd', url: '' }], readDate: () => dateOfEtcd(cluster, program) },
      forwarder,
      threads: runInProgram(() => {
        const ledger = new EtcdLedger(etcd);
        const archived = openArchived(ledger, options.archive, {}, { client: etcd, maxBytes: options.archiveMaxBytes });
        return { ledger: archived?.ledger ?? ledger, archived };
      }),
      leadership,
      metrics: noMetrics,
      serveHealth: () => Promise.resolve(),
      serve: (allocator) => {
        running.replica = allocator.replica;
        announceEpochs(allocator.replica, () => cluster.onDisconnected());
        addServices(table as unknown as Server, allocator, {
          log,
          forward: (call, answerHere) => forwarder.forward(call, answerHere),
          stopping: life.signal,
        });
        addresses.set(address, { name, machine, program, methods: table.methods });
        return Promise.resolve();
      },
    });
    // A replica that is stopped while it loads the ledger rejects, and its process exits with 0
    await started.catch((error: unknown) => {
      if (!stopping.signal.aborted) throw error;
    });
  });
  const stop = async (): Promise<void> => {
    stopping.abort();
    for (const each of stops.toReversed()) await each();
    program.crash();
  };
  const running: RunningAllocator = { program, replica: undefined, stop: () => void stop() };
  return running;
}

function optionsOf(
  { options: { seals, archiveMaxBytes = 1 << 20 } }: AllocatorSurroundings,
  replica: string,
  listen: string,
): AllocatorOptions {
  return {
    etcd: '',
    etcdQuota: 2 ** 31,
    listen,
    replica,
    healthListen: '',
    archive: seals ? 'etcd:' : '',
    archiveMaxBytes,
    keepEvents: 12,
    keepHours: 0,
    segmentEvents: 8,
    checkpointKey: '',
    checkpointFile: '',
    checkpointEvery: 300,
    agentRate: 0,
    agentBurst: 1,
    traceRatio: 0,
    traceEndpoint: '',
  };
}

/** The time of etcd's machine, as its HTTP answers have it. */
const dateOfEtcd = ({ network, world }: AllocatorSurroundings, program: Program): Promise<number> => {
  const machine = world.machine('etcd');
  return network.request(program, { name: 'etcd', machine }, () => Math.floor(machine.wall() / 1_000) * 1_000 + 500);
};

/** Runs tasks in the program itself: a thread differs only in its share of a core. */
const runInProgram = (open: () => TaskTools): TaskRunner => ({
  async *run<Request, Reply>(task: Task<Request, Reply>, request: Request, signal: AbortSignal) {
    const replies: Reply[] = [];
    const send = (reply: Reply): Promise<void> => {
      replies.push(reply);
      return Promise.resolve();
    };
    await task.run(open(), request, send, signal);
    yield* replies;
  },
});

/** One run: a cluster, its clients, and the witnesses of all that they do. */
import { noBindingTimeoutMs } from '../../../ledger/domain/commands/command.ts';
import { ArchivedLedger } from '../../../ledger/archive/archived-ledger.ts';
import { EtcdArchive } from '../../../ledger/archive/etcd-archive.ts';
import { IpledgerError } from '../../../lib/errors.ts';
import type { Program } from '../kernel/program.ts';
import type { World } from '../kernel/world.ts';
import { writerKey } from '../../../ledger/log/store/keys.ts';
import { EtcdLedger } from '../../../ledger/log/store/etcd-ledger.ts';
import { connectToModel } from '../etcd/connect-to-model.ts';
import { simulatedChannel } from '../kernel/grpc-channel.ts';
import { AnswerWitness } from './answer-witness.ts';
import { Client } from './clients.ts';
import { AllocatorCluster } from './allocator-cluster.ts';
import { LogWitness } from './log-witness.ts';

const clientNames = ['watcher', 'agent-1', 'agent-2', 'operator'];

export class LedgerRun {
  readonly world: World;
  readonly cluster: AllocatorCluster;
  readonly log: LogWitness;
  readonly answers: AnswerWitness;
  readonly clients: readonly Client[];
  /** The keys in etcd, for the checks at the end. */
  readonly reader: EtcdLedger;
  /** The whole log, with the sealed events. */
  readonly history: ArchivedLedger;
  /** What ends the faults that continue. */
  readonly heal: (() => void)[] = [];
  #atCommit: (() => void)[] = [];

  constructor(world: World, replicas: number, bindingTimeoutMs = noBindingTimeoutMs) {
    this.world = world;
    this.log = new LogWitness(world, bindingTimeoutMs);
    this.answers = new AnswerWitness(world, this.log);
    this.log.book.isRequested = (uid, nic, addresses) => this.answers.hasRequested(uid, nic, addresses);
    const archiveMaxBytes = world.random('archive').pick([1 << 20, 1 << 20, 1_024]);
    this.cluster = new AllocatorCluster(world, { replicas, seals: true, archiveMaxBytes });
    this.cluster.onAnswer = (path, request, reply) => this.answers.onSent(path, request, reply);
    this.cluster.onFailure = (name, error) => {
      const { code, kind, message } = IpledgerError.from(error);
      // A replica that fell behind what is sealed loads the ledger again
      if (code !== 'POSITION_GONE') world.fail(kind === 'damaged' ? 'damaged' : 'failure', `${name} ends: ${message}`);
    };
    this.cluster.etcd.onCommit = (changes) => {
      this.log.read(changes);
      const acts = this.#atCommit;
      this.#atCommit = [];
      for (const act of acts) act();
    };
    this.cluster.startAll();
    const reader = world.machine('reader').start('reader', () => undefined);
    const channel = simulatedChannel(reader, this.cluster.network, this.cluster.addresses);
    const client = connectToModel(this.cluster.etcdEndpoints, channel);
    this.reader = new EtcdLedger(client);
    this.history = new ArchivedLedger(this.reader, new EtcdArchive(client));
    this.clients = clientNames.map((name) => new Client(this.cluster, name, this.answers, this.log.book));
  }

  /**
   * Calls `act` in the middle of the next transaction that changes a key: it is done, and not
   * answered.
   */
  atNextCommit(act: () => void): void {
    this.#atCommit.push(act);
  }

  /** Forgets the faults that wait for a commit. */
  endFaultsAtCommit(): void {
    this.#atCommit = [];
  }

  /** The program that has the writer key. */
  get writer(): Program | undefined {
    const found = this.cluster.etcd.get(writerKey);
    const { replica = '' } = found ? (JSON.parse(found.value.toString('utf8')) as { replica?: string }) : {};
    return this.cluster.programOf(replica);
  }

  /** The commands without an outcome. */
  get pending(): number {
    return this.clients.reduce((sum, { pending }) => sum + pending, 0);
  }
}

/**
 * A process with many node agents. Each has a connection and a token of its own, and does by the
 * modules of the agent what an agent does with the allocator when it starts, for an ADD, and at
 * rest. Its sandboxes do not exist.
 */
import { pino } from 'pino';
import { connect } from '../../../../lib/grpc/http2/connect.ts';
import { AuthorityReloader } from '../../../../lib/tls/authority-reloader.ts';
import { createBindingClient } from '../../../../services/node-agent/bindings/binding-client.ts';
import type { BindingFiles, SavedBinding } from '../../../../services/node-agent/bindings/binding-files.ts';
import { createEarlierBoots } from '../../../../services/node-agent/bindings/earlier-boots.ts';
import { LedgerEpoch } from '../../../../services/node-agent/bindings/ledger-epoch.ts';
import { restoreBindingsForever } from '../../../../services/node-agent/bindings/restored-bindings.ts';
import { createKeyedMutex } from '../../../../services/node-agent/concurrency/keyed-mutex.ts';
import { retryFor, retryUntil } from '../../../../lib/process/retry.ts';
import { forEachConcurrent } from '../../../scale/for-each-concurrent.ts';
import { tokenOf } from './agent-token.ts';

/** The first argument of the process, as JSON. */
export interface AgentsConfig {
  /** "host:port" of each allocator. An agent begins with one of them, as behind a Service. */
  readonly endpoints: readonly string[];
  /** File of the trusted authorities. */
  readonly ca: string;
  readonly nodes: readonly string[];
  readonly namespace: string;
  readonly provider: string;
  /** The Pods of a node are "<node>-pod-0" and so on, and the name of a Pod is its uid. */
  readonly podsPerNode: number;
}

/** A message to the process, which replies with a message when it is done. */
export type AgentsCommand =
  | { readonly do: 'start' }
  /** Binds each Pod. */
  | { readonly do: 'add' }
  /** Ends the first agents, with their connections, and starts them again. */
  | { readonly do: 'restart'; readonly count: number };

const bootId = 'this-boot';
const concurrentAgents = 64;
const attachMs = 60_000;
const log = pino({ level: process.env['LOG_LEVEL'] ?? 'silent' });

class SimulatedAgent {
  readonly #config: AgentsConfig;
  readonly #authorities: AuthorityReloader;
  readonly #node: string;
  readonly #endpoints: string;
  #saved: readonly SavedBinding[] = [];
  #stopping = new AbortController();
  #client: ReturnType<typeof createBindingClient> | undefined;

  constructor(config: AgentsConfig, authorities: AuthorityReloader, index: number) {
    this.#config = config;
    this.#authorities = authorities;
    this.#node = config.nodes[index] ?? '';
    const first = index % config.endpoints.length;
    this.#endpoints = [...config.endpoints.slice(first), ...config.endpoints.slice(0, first)].join();
  }

  /** Starts the agent, and ends the bindings of earlier boots, of which there are none. */
  async start(): Promise<void> {
    const token = tokenOf(this.#node);
    const epoch = new LedgerEpoch();
    const tls = { authorities: this.#authorities, token: { read: () => token } };
    const connection = connect(this.#endpoints, tls, 'allocator', () => epoch.onDisconnected());
    const allocator = createBindingClient(connection, epoch);
    const shared = { allocator, node: this.#node, runExclusive: createKeyedMutex(), log };
    const files = this.#files;
    const { signal } = this.#stopping;
    signal.addEventListener('abort', () => connection.close());
    this.#client = allocator;
    void restoreBindingsForever({ ...shared, bootId, epoch, files, hasPendingDel: () => false }, signal);
    await createEarlierBoots(shared, bootId).endBindings(signal);
  }

  async restart(): Promise<void> {
    this.#stopping.abort();
    this.#stopping = new AbortController();
    await this.start();
  }

  async addPods(): Promise<void> {
    const { namespace, provider, podsPerNode } = this.#config;
    const { signal } = this.#stopping;
    const allocator = this.#client;
    if (!allocator) throw new Error(`the agent of ${this.#node} is not started`);
    for (let index = 0; index < podsPerNode; index++) {
      const pod = `${this.#node}-pod-${index}`;
      const target = { namespace, pod, podUid: pod, provider, containerId: `container-of-${pod}`, interface: 'net1' };
      const request = { ...target, node: this.#node, bootId, timeoutMs: attachMs };
      const bound = await retryUntil(retryFor(attachMs, signal), (timeoutMs) =>
        allocator.attach(request, { timeoutMs, signal }),
      );
      const addresses = bound.allocation.addresses.map(({ address }) => address);
      const saved = { ...target, addresses, epoch: bound.epoch, boundAs: '', isDeleted: false, isPending: false };
      this.#saved = [...this.#saved, { ...saved, netns: '', netnsFolder: '' }];
    }
  }

  /** Stays over its restarts. */
  readonly #record = {
    epoch: undefined as number | undefined,
    discards: 0,
    repeatDiscard: (): Promise<void> => Promise.resolve(),
    save: (epoch: number): Promise<void> => Promise.resolve(void (this.#record.epoch = epoch)),
  };

  get #files(): BindingFiles {
    const none = (): Promise<void> => Promise.resolve();
    const record = this.#record;
    return {
      save: none,
      remove: none,
      get: () => undefined,
      all: () => [...this.#saved],
      isOnDisk: () => true,
      record,
    };
  }
}

const config = JSON.parse(process.argv[2] ?? '') as AgentsConfig;
const authorities = new AuthorityReloader(config.ca);
const agents = config.nodes.map((_, index) => new SimulatedAgent(config, authorities, index));

async function execute(command: AgentsCommand): Promise<void> {
  switch (command.do) {
    case 'start':
      return forEachConcurrent(agents, concurrentAgents, (agent) => agent.start());
    case 'add':
      return forEachConcurrent(agents, concurrentAgents, (agent) => agent.addPods());
    case 'restart':
      await Promise.all(agents.slice(0, command.count).map((agent) => agent.restart()));
  }
}

process.on('disconnect', () => process.exit());
process.on('message', (command: AgentsCommand) => {
  execute(command).then(
    () => process.send?.({ done: true }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});

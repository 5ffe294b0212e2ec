/**
 * One Kubernetes API for all cases, and for each case an allocator and a watcher of its own: the real modules, in this process,
 * so that each begins with an empty ledger and no time is lost. Between cases all objects are removed.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import type { Logger } from '../../../lib/log.ts';
import { type AddressRecord, IpamService } from '../../../proto/ipledger.ts';
import { type Served, serveAllocator } from '../../../services/allocator/grpc/specification.ts';
import { noMemory } from '../../../services/pod-watcher/memory.ts';
import { startCluster } from '../../harness/cluster.ts';
import type { Run } from '../../harness/run.ts';
import { type Agent, startAgent } from '../../harness/services.ts';

import { differences, type Seen } from '../compare.ts';
import { type Attention, attentive } from './attention.ts';
import { type Objects, objectsOf } from './objects.ts';
import { removeAll, untilServed } from './removal.ts';
import { sentinel } from './sentinel.ts';
import { startSwitchboard, type Switchboard } from './switchboard.ts';
import { startWatcher, type Watcher } from './watcher.ts';

const pollMs = 20;

export interface World {
  /** A case begins: nothing is there, and the watcher does not run yet. */
  begin(): Promise<Trial>;
}

/** One case under way. The objects that it made are removed before the next one begins, however it ended. */
export interface Trial extends AsyncDisposable {
  readonly run: Run;
  readonly objects: Objects;
  /** The allocator. */
  readonly served: Served;
  /** What the watcher's calls pass through. */
  readonly attention: Attention;
  /** @param env what the watcher finds in its environment. */
  startWatcher(env?: Readonly<Record<string, string>>): Promise<void>;
  stopWatcher(): Promise<void>;
  /** The agent of node-1, on its socket. */
  agent(): Promise<Agent>;
  /** Resolves when the watcher has dealt with all that happened before. */
  settle(): Promise<void>;
  /** Looks until both sides agree; gives the last look. */
  until(look: () => Promise<Seen>): Promise<Seen>;
}

interface Parts {
  readonly run: Run;
  /** Ends the wait for what does not come; what comes is not waited for any longer. */
  readonly patienceMs: number;
  readonly objects: Objects;
  /** Where the agent finds the allocator of the case under way. */
  readonly switchboard: Switchboard;
  readonly agent: () => Promise<Agent>;
  /** Of the watchers: a file in the run's folder, which KEEP=1 keeps. */
  readonly log: Logger;
}

/** Starts the API server. About 5 s. */
export async function openWorld(run: Run, patienceMs: number): Promise<World> {
  const cluster = await startCluster(run, { controllers: false });
  const objects = objectsOf(cluster.kubeconfig, run.signal);
  await untilServed(objects);
  await sentinel.prepare(objects);
  const switchboard = await startSwitchboard(run);
  const destination = pino.destination({ dest: `${run.folder}/pod-watcher.log`, sync: true });
  const log = pino({ level: 'debug', base: { part: 'pod-watcher' } }, destination);
  let started: Promise<Agent> | undefined;
  const agent = (): Promise<Agent> => (started ??= startAgent(run, { allocator: switchboard, cluster }));
  const parts = { run, patienceMs, objects, switchboard, agent, log };
  return {
    async begin() {
      await removeAll(objects);
      return begin(parts);
    },
  };
}

async function begin({ run, patienceMs, objects, switchboard, agent, log }: Parts): Promise<Trial> {
  const served = await serveAllocator();
  switchboard.to(served.endpoint);
  const attention = attentive(objects.api);
  let watcher: Watcher | undefined;
  let memory = noMemory;
  const trial: Trial = {
    run,
    objects,
    served,
    attention,
    agent,
    async startWatcher(env = {}) {
      watcher = await startWatcher({ served, attention, env, memory, log, signal: run.signal });
    },
    async stopWatcher() {
      memory = (await watcher?.stop()) ?? memory;
      watcher = undefined;
    },
    async settle() {
      if (!watcher) return;
      await sentinel.pass(objects, run.signal);
      await attention.quiet();
    },
    async until(look) {
      const deadline = performance.now() + patienceMs;
      for (;;) {
        const seen = await look();
        if (differences(seen.expected, seen.got).length === 0 || performance.now() > deadline) return seen;
        await sleep(pollMs);
      }
    },
    async [Symbol.asyncDispose]() {
      await trial.stopWatcher();
      await served[Symbol.asyncDispose]();
    },
  };
  return trial;
}

/** What the ledger has of an address. */
export async function recordOf({ served }: Trial, subnet: string, address: string): Promise<AddressRecord | undefined> {
  return (await served.call(IpamService.get, { subnet, address })).record;
}

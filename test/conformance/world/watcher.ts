/** A watcher in this process: the real modules, wired as its program wires them. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../../lib/log.ts';
import type { Served } from '../../../services/allocator/grpc/specification.ts';
import { allocatorOver } from '../../../services/pod-watcher/ledger/allocator.ts';
import { type Memory, readMemory } from '../../../services/pod-watcher/memory.ts';
import { watchCluster } from '../../../services/pod-watcher/watch.ts';
import type { Attention } from './attention.ts';

const readyMs = 60_000;
const pollMs = 5;

export interface WatcherOptions {
  readonly served: Served;
  readonly attention: Attention;
  /** What it finds in its environment, beside what is there. */
  readonly env: Readonly<Record<string, string>>;
  /** What the watcher before left. */
  readonly memory: Memory;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

export interface Watcher {
  /** Resolves to what it leaves for the next one. */
  stop(): Promise<Memory>;
}

/** Starts it, without the Lease: it is alone here. Resolves when it is ready. */
export async function startWatcher(options: WatcherOptions): Promise<Watcher> {
  const { served, attention, env, memory, log } = options;
  const term = new AbortController();
  const signal = AbortSignal.any([options.signal, term.signal]);
  const before = Object.keys(env).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, env);
  let broken: Error | undefined;
  const watching = watchCluster({
    api: attention.api,
    allocator: attention.heed(allocatorOver(served.client)),
    acceptVanished: false,
    garbageEveryMs: 0,
    lease: { namespace: 'default', name: 'conformance' },
    memory,
    log,
    signal,
    fail: (error) => void (broken ??= error instanceof Error ? error : new Error(String(error))),
  });
  const deadline = performance.now() + readyMs;
  while (watching.ready !== true) {
    if (broken) throw new Error(`the watcher broke off: ${broken.message}`, { cause: broken });
    if (performance.now() > deadline) throw new Error(`the watcher is not ready: ${watching.ready}`);
    await sleep(pollMs, undefined, { signal });
  }
  return {
    async stop() {
      const left = readMemory(watching.memory());
      term.abort();
      for (const [name, value] of before)
        if (value === undefined) Reflect.deleteProperty(process.env, name);
        else process.env[name] = value;
      await attention.quiet();
      return left;
    },
  };
}

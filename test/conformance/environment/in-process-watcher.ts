/** Runs the watcher in this process, wired like its program. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../../lib/process/log.ts';
import type { ServedAllocator } from '../../../services/allocator/grpc/testing/served-allocator.ts';
import { createLedgerClient } from '../../../lib/ledger-client/ledger-client.ts';
import { type HandoverState, parseHandoverState } from '../../../services/pod-watcher/handover-state.ts';
import { startActiveWatcher } from '../../../services/pod-watcher/active-watcher.ts';
import type { IdleDetector } from './idle-detector.ts';

const readyMs = 60_000;
const pollMs = 5;

export interface WatcherOptions {
  readonly served: ServedAllocator;
  readonly idleDetector: IdleDetector;
  /** Additional environment variables. */
  readonly env: Readonly<Record<string, string>>;
  /** The handover state of the watcher before. */
  readonly handoverState: HandoverState;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

export interface InProcessWatcher {
  /** Stops the watcher; resolves to its handover state. */
  stop(): Promise<HandoverState>;
}

/** Starts the watcher without a Lease; resolves when it is ready. */
export async function startInProcessWatcher(options: WatcherOptions): Promise<InProcessWatcher> {
  const { served, idleDetector, env, handoverState, log } = options;
  const term = new AbortController();
  const signal = AbortSignal.any([options.signal, term.signal]);
  const before = Object.keys(env).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, env);
  let failure: Error | undefined;
  const watching = startActiveWatcher({
    api: idleDetector.api,
    allocator: idleDetector.wrapAllocator(createLedgerClient(served.client, signal)),
    garbageIntervalMs: 0,
    lease: { namespace: 'default', name: 'conformance' },
    handoverState,
    storeHandoverState: () => Promise.resolve(),
    log,
    signal,
    fail: (error) => void (failure ??= error instanceof Error ? error : new Error(String(error))),
  });
  const deadline = performance.now() + readyMs;
  while (watching.ready !== true) {
    if (failure) throw new Error(`the watcher failed: ${failure.message}`, { cause: failure });
    if (performance.now() > deadline) throw new Error(`the watcher is not ready: ${watching.ready}`);
    await sleep(pollMs, undefined, { signal });
  }
  return {
    async stop() {
      const state = parseHandoverState(watching.handoverState());
      term.abort();
      for (const [name, value] of before)
        if (value === undefined) Reflect.deleteProperty(process.env, name);
        else process.env[name] = value;
      await idleDetector.waitUntilIdle();
      return state;
    },
  };
}

/**
 * Detects when a watcher in this process is idle: it wraps the watcher's calls to Kubernetes and to
 * the allocator.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Api, ApiRequest } from '../../../lib/kubernetes/client/kubernetes-api.ts';
import type { LedgerClient } from '../../../lib/ledger-client/ledger-client.ts';

/** A watcher without calls for this long is idle. */
const quietMs = 120;
const maxWaitMs = 3_000;
const pollMs = 10;

export interface IdleDetector {
  /** The Kubernetes API for the watcher. */
  readonly api: Api;
  /** Makes the allocator client for the watcher. */
  wrapAllocator(allocator: LedgerClient): LedgerClient;
  /** Resolves when the watcher is idle, or after 3 s. */
  waitUntilIdle(): Promise<void>;
  /** Runs before each request to the Kubernetes API. */
  beforeRequest: (request: ApiRequest) => Promise<void>;
}

export function createIdleDetector(api: Api): IdleDetector {
  let running = 0;
  let busyAt = performance.now();
  const tracked = async <T>(work: () => Promise<T>): Promise<T> => {
    running += 1;
    try {
      return await work();
    } finally {
      running -= 1;
      busyAt = performance.now();
    }
  };
  const detector: IdleDetector = {
    beforeRequest: () => Promise.resolve(),
    api: {
      server: api.server,
      request: (request) =>
        tracked(async () => {
          await detector.beforeRequest(request);
          return api.request(request);
        }),
      stream: (path, options) => api.stream(path, options),
    },
    wrapAllocator: (allocator) => ({
      ...allocator,
      call: (...args) => tracked(() => allocator.call(...args)),
    }),
    async waitUntilIdle() {
      const isQuiet = (): boolean => running === 0 && performance.now() - busyAt >= quietMs;
      const deadline = performance.now() + maxWaitMs;
      while (!isQuiet() && performance.now() < deadline) await sleep(pollMs);
    },
  };
  return detector;
}

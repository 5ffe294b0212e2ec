/** What a watcher in this process is doing at the moment: its calls to both sides pass through here. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Api, ApiRequest } from '../../../services/pod-watcher/kubernetes/api.ts';
import type { Allocator } from '../../../services/pod-watcher/ledger/allocator.ts';

/** Nothing was done for so long: what happened is dealt with. */
const quietMs = 120;
const mostMs = 3_000;
const pollMs = 10;

export interface Attention {
  /** The Kubernetes API as the watcher gets it. */
  readonly api: Api;
  /** The allocator as the watcher gets it. */
  heed(allocator: Allocator): Allocator;
  /** Resolves when nothing has been under way for a while; at last even if something is. */
  quiet(): Promise<void>;
  /** Called before each request to the Kubernetes API, which waits for it. */
  before: (request: ApiRequest) => Promise<void>;
}

export function attentive(api: Api): Attention {
  let underWay = 0;
  let busyAt = performance.now();
  const heeded = async <T>(work: () => Promise<T>): Promise<T> => {
    underWay += 1;
    try {
      return await work();
    } finally {
      underWay -= 1;
      busyAt = performance.now();
    }
  };
  const attention: Attention = {
    before: () => Promise.resolve(),
    api: {
      server: api.server,
      request: (request) =>
        heeded(async () => {
          await attention.before(request);
          return api.request(request);
        }),
      stream: (path, options) => api.stream(path, options),
    },
    heed: (allocator) => ({
      ...allocator,
      allocate: (...args) => heeded(() => allocator.allocate(...args)),
      release: (...args) => heeded(() => allocator.release(...args)),
      applySubnet: (...args) => heeded(() => allocator.applySubnet(...args)),
      deleteSubnet: (...args) => heeded(() => allocator.deleteSubnet(...args)),
      getSubnet: (...args) => heeded(() => allocator.getSubnet(...args)),
    }),
    async quiet() {
      const isQuiet = (): boolean => underWay === 0 && performance.now() - busyAt >= quietMs;
      const deadline = performance.now() + mostMs;
      while (!isQuiet() && performance.now() < deadline) await sleep(pollMs);
    },
  };
  return attention;
}

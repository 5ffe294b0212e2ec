/**
 * A faulty network: connections are cut or refused, bytes are delayed or dropped, in one direction
 * or both. It affects the links to etcd, to the allocators and to the Kubernetes API. All servers
 * run all the time.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type TcpProxy, startTcpProxy, type Direction } from '../harness/network/tcp-proxy.ts';
import { printProgress } from '../harness/progress.ts';
import { churnPods, type ChurnedPod } from './pod-churn.ts';
import { type SeededRandom, createSeededRandom } from './seeded-random.ts';
import { roundSuffix, testSize } from './test-size.ts';
import { startFaultEnvironment, type FaultEnvironment } from './fault-environment.ts';
import { expectInvariants } from './invariants.ts';

const maxQuietMs = 1_000;
/** The longest fault: longer than the leases of the writer and the watcher. */
const maxFaultMs = 9_000;
const ways: readonly (Direction | undefined)[] = ['requests', 'replies', undefined];

/** Faults of a proxy, until `restore`. */
const faults: Record<string, (proxy: TcpProxy, way: Direction | undefined) => void> = {
  cut: (proxy) => proxy.cut(),
  drop: (proxy, way) => proxy.dropBytes(way),
  delay: (proxy, way) => proxy.delayBytes(way),
  'refuse and cut': (proxy) => {
    proxy.refuse();
    proxy.cut();
  },
};

describe('faults: a faulty network', function () {
  this.timeout(testSize.timeoutMs);
  let environment: FaultEnvironment;
  let links: { readonly name: string; readonly proxy: TcpProxy }[];
  let done: string[];
  beforeEach(async () => {
    links = [];
    done = [];
    environment = await startFaultEnvironment({
      proxyFor: async (run, link, target) => {
        const proxy = await startTcpProxy(run, target);
        links.push({ name: `link ${links.length} to ${link}`, proxy });
        return proxy.endpoint;
      },
    });
  });
  afterEach(async function () {
    if (this.currentTest?.state === 'failed') printProgress(done.join('\n'));
    await environment?.run.end();
  });

  /** Causes one fault after the other, each on random links, until the work is done. */
  async function injectFaults(random: SeededRandom, isOver: () => boolean): Promise<void> {
    const startedAt = performance.now();
    while (!isOver()) {
      await sleep(random.nextInt(maxQuietMs));
      const affected = random.shuffle(links).slice(0, 1 + random.nextInt(3));
      const [what, way, ms] = [
        random.pick(Object.keys(faults)),
        random.pick(ways),
        random.nextInt(random.pick([500, 2_000, maxFaultMs])),
      ];
      const names = affected.map(({ name }) => name).join(', ');
      done.push(
        `${((performance.now() - startedAt) / 1_000).toFixed(1)} s: ${what} ${way ?? 'all'} of ${names} for ${ms} ms`,
      );
      for (const { proxy } of affected) faults[what]?.(proxy, way);
      await sleep(ms);
      for (const { proxy } of affected) proxy.restore();
    }
  }

  for (let round = 1; round <= testSize.rounds; round++)
    it(`A faulty network keeps all invariants while ${testSize.podsOnFaultyNetwork} Pods are created and deleted${roundSuffix(round)}`, async () => {
      const random = createSeededRandom('faulty network', round);
      const lives: ChurnedPod[] = [];
      let over = false;
      const work = churnPods(environment, random.fork(), { count: testSize.podsOnFaultyNetwork, paceMs: 3_000 }, lives);
      await Promise.all([work.finally(() => (over = true)), injectFaults(random.fork(), () => over)]);
      await expectInvariants(environment, lives);
    });
});

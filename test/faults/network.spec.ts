/**
 * A bad network: connections are cut, bytes are held up or lost, in one direction or both, nobody is let in; between any two of
 * allocators and etcd, watchers and agent and allocators, watchers and the Kubernetes API. Everybody is there all the time.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Proxy, startProxy, type Way } from '../harness/proxy.ts';
import { say } from '../harness/say.ts';
import { comeAndGo, type Life } from './crowd.ts';
import { type Dice, openDice } from './dice.ts';
import { inRound, scale } from './scale.ts';
import { openStage, type Stage } from './stage.ts';
import { expectAllRight } from './verdict.ts';

const mostQuietMs = 1_000;
/** Longer than the writer's and the watcher's lease, now and then. */
const mostBadMs = 9_000;
const ways: readonly (Way | undefined)[] = ['requests', 'replies', undefined];

/** What may happen to all that goes through a proxy, until it is mended. */
const troubles: Record<string, (proxy: Proxy, way: Way | undefined) => void> = {
  cut: (proxy) => proxy.cut(),
  lose: (proxy, way) => proxy.swallow(way),
  'hold up': (proxy, way) => proxy.hold(way),
  'let nobody in, and cut': (proxy) => {
    proxy.refuse();
    proxy.cut();
  },
};

describe('faults: a bad network', function () {
  this.timeout(scale.timeoutMs);
  let stage: Stage;
  let links: { readonly name: string; readonly proxy: Proxy }[];
  let done: string[];
  beforeEach(async () => {
    links = [];
    done = [];
    stage = await openStage({
      between: async (run, link, target) => {
        const proxy = await startProxy(run, target);
        links.push({ name: `link ${links.length} to ${link}`, proxy });
        return proxy.endpoint;
      },
    });
  });
  afterEach(async function () {
    if (this.currentTest?.state === 'failed') say(done.join('\n'));
    await stage?.run.end();
  });

  /** One trouble after the other, each on some of the links, until the work is done. */
  async function disturb(dice: Dice, isOver: () => boolean): Promise<void> {
    const startedAt = performance.now();
    while (!isOver()) {
      await sleep(dice.below(mostQuietMs));
      const some = dice.shuffle(links).slice(0, 1 + dice.below(3));
      const [what, way, ms] = [
        dice.pick(Object.keys(troubles)),
        dice.pick(ways),
        dice.below(dice.pick([500, 2_000, mostBadMs])),
      ];
      const names = some.map(({ name }) => name).join(', ');
      done.push(
        `${((performance.now() - startedAt) / 1_000).toFixed(1)} s: ${what} ${way ?? 'all'} of ${names} for ${ms} ms`,
      );
      for (const { proxy } of some) troubles[what]?.(proxy, way);
      await sleep(ms);
      for (const { proxy } of some) proxy.mend();
    }
  }

  for (let round = 1; round <= scale.rounds; round++)
    it(`while ${scale.podsOnBadNetwork} Pods come and go${inRound(round)}`, async () => {
      const dice = openDice('bad network', round);
      const lives: Life[] = [];
      let over = false;
      const work = comeAndGo(stage, dice.fork(), { count: scale.podsOnBadNetwork, paceMs: 3_000 }, lives);
      await Promise.all([work.finally(() => (over = true)), disturb(dice.fork(), () => over)]);
      await expectAllRight(stage, lives);
    });
});

import { expect } from 'chai';
import { until } from '../../../testing/fakes.ts';
import { byCreation, WaiterIndex } from './waiter-index.ts';
import { WaiterWakeup } from './waiter-wakeup.ts';

const topic = 'any:macvlan';
const names = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `default/p${String(index).padStart(5, '0')}`);

describe('the wake-up of waiting Pods', () => {
  /**
   * Makes Pods that wait for the topic. A woken Pod tries immediately, and takes an address if
   * `canTake` returns true.
   */
  function createWorld(pods: readonly string[], canTake: (pod: string) => boolean = () => false) {
    let compared = 0;
    const index = new WaiterIndex((one, other) => ((compared += 1), byCreation(one, other)));
    const woken: string[] = [];
    const tryAgain = (pod: string): void => {
      woken.push(pod);
      if (canTake(pod)) {
        wakeup.onTaken(pod, [topic]);
        index.remove(pod);
      } else index.wait(pod, new Set([topic]), pod);
      wakeup.onAttemptEnded(pod);
    };
    const wakeup: WaiterWakeup = new WaiterWakeup(index, tryAgain, 1);
    for (const pod of pods) index.wait(pod, new Set([topic]), pod);
    return { wakeup, woken, index, comparisons: () => compared };
  }
  /** Waits for every wake-up that is due. */
  const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 100));

  it('the wake-up of waiting Pods reaches each Pod once after a change of its topic', async () => {
    const { wakeup, woken } = createWorld(names(100));
    for (let times = 0; times < 3; times++) wakeup.wakeAll(topic);
    wakeup.wakeAll('any:other');
    await until(() => woken.length >= 100);
    await settle();
    expect(woken).to.deep.equal(names(100));
  });

  it('the wake-up of waiting Pods offers a freed address to the oldest Pod, and to no other Pod if the oldest takes it', async () => {
    const { wakeup, woken } = createWorld(names(100).reverse(), () => true);
    wakeup.offerOne(topic);
    await until(() => woken.length >= 1);
    await settle();
    expect(woken).to.deep.equal(names(1));
  });

  it('the wake-up of waiting Pods offers several freed addresses to as many of the oldest Pods', async () => {
    const { wakeup, woken } = createWorld(names(100), () => true);
    for (let addresses = 0; addresses < 30; addresses++) wakeup.offerOne(topic);
    await until(() => woken.length >= 30);
    await settle();
    expect(woken).to.deep.equal(names(30));
  });

  it('the wake-up of waiting Pods passes an address on to the next Pod until one takes it, to each Pod once', async () => {
    const [, , , taker = ''] = names(100);
    const [last = ''] = names(100).slice(-1);
    for (const [takingPod, expected] of [
      [taker, names(4)],
      [last, names(100)],
    ] as const) {
      const { wakeup, woken } = createWorld(names(100), (pod) => pod === takingPod);
      wakeup.offerOne(topic);
      await until(() => woken.includes(takingPod));
      await settle();
      expect(woken).to.deep.equal(expected);
    }
  });

  it('the wake-up of waiting Pods tries each Pod at most once for each freed address that no Pod takes', async () => {
    const { wakeup, woken } = createWorld(names(5));
    for (let addresses = 0; addresses < 2; addresses++) wakeup.offerOne(topic);
    await until(() => woken.length >= 9);
    await settle();
    // Offers the first address to all five Pods, and the second to the four behind the oldest.
    expect(woken.toSorted()).to.deep.equal([...names(5), ...names(5).slice(1)].toSorted());
  });

  it('the wake-up of waiting Pods passes on only what a Pod did not take', async () => {
    const [oldest = ''] = names(1);
    const { wakeup, woken } = createWorld(names(5), (pod) => pod === oldest);
    for (let addresses = 0; addresses < 2; addresses++) wakeup.offerOne(topic);
    await until(() => woken.length >= 5);
    await settle();
    expect(woken).to.deep.equal(names(5));
  });

  it('the wake-up of waiting Pods ends the offer if another Pod takes the address', async () => {
    const { wakeup, woken } = createWorld(names(100));
    wakeup.offerOne(topic);
    await until(() => woken.length >= 3);
    wakeup.onTaken('default/newcomer', [topic]);
    const reached = woken.length;
    await settle();
    expect(woken.length).to.be.at.most(reached + 1);
  });

  it('the wake-up of waiting Pods begins again with the oldest Pod when another address is freed', async () => {
    const { wakeup, woken } = createWorld(names(20));
    wakeup.offerOne(topic);
    await until(() => woken.length === 20);
    wakeup.offerOne(topic);
    await until(() => woken.length === 40);
    expect(woken).to.deep.equal([...names(20), ...names(20)]);
  });

  it('the wake-up of waiting Pods probes the oldest Pods, and continues while some of them take addresses', async () => {
    const { wakeup, woken } = createWorld(names(20), (pod) => pod < 'default/p00006');
    wakeup.probe(topic);
    await until(() => woken.length >= 12);
    await settle();
    expect(woken).to.deep.equal([...names(8), ...names(20).slice(6, 10)]);
    wakeup.probe(topic);
    await until(() => woken.length >= 16);
    await settle();
    expect(woken.slice(12)).to.deep.equal(names(20).slice(6, 10));
  });

  it('the wake-up of waiting Pods offers an address when its cooldown has ended', async () => {
    const { wakeup, woken } = createWorld(names(1), () => true);
    wakeup.offerAfter(topic, 30);
    await until(() => woken.length === 1);
  });

  it('the wake-up of waiting Pods waits for a cooldown that is longer than the longest timer of Node.js', async () => {
    const { wakeup, woken } = createWorld(names(1), () => true);
    wakeup.offerAfter(topic, 2 ** 40);
    await settle();
    expect(woken).to.deep.equal([]);
  });

  it('each woken Pod costs O(log n) comparisons with 10,000 waiting Pods', async () => {
    const [taker = ''] = names(1_000).slice(-1);
    const { wakeup, woken, comparisons } = createWorld(names(10_000), (pod) => pod === taker);
    const before = comparisons();
    wakeup.offerOne(topic);
    await until(() => woken.includes(taker));
    // Expects one look-up for each Pod. The Pod that takes the address leaves the queue.
    expect(comparisons() - before)
      .to.be.greaterThan(0)
      .and.lessThan(30 * woken.length);
    expect(woken).to.deep.equal(names(1_000));
  });
});

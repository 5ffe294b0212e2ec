import { expect } from 'chai';
import { until } from '../fakes.ts';
import { Bells } from './bells.ts';
import { Waiting } from './waiting.ts';

const topic = 'subnet:macvlan';
const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `default/p${index}`);

describe('the bells for those who wait', () => {
  /** Who is woken asks again, in vain. */
  function world(waiters: number, everyMs?: number) {
    const waiting = new Waiting();
    const woken: string[] = [];
    const bells = new Bells(
      waiting,
      (pod) => {
        woken.push(pod);
        waiting.wait(pod, new Set([topic]));
      },
      everyMs,
    );
    for (const pod of names(waiters)) waiting.wait(pod, new Set([topic]));
    return { bells, woken };
  }
  const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 150));

  it('wake everybody once when what they wait for has changed', async () => {
    const { bells, woken } = world(100);
    for (let times = 0; times < 3; times++) bells.ring(topic);
    bells.ring('subnet:other');
    await until(() => woken.length > 0);
    await settled();
    expect(woken).to.deep.equal(names(100));
  });

  it('wake a few for all addresses that become free within a while', async () => {
    const { bells, woken } = world(100, 3_600_000);
    for (let times = 0; times < 3; times++) {
      for (let addresses = 0; addresses < 10; addresses++) bells.freed(topic);
      await settled();
    }
    expect(woken).to.deep.equal(names(64));
  });

  it('wake those who have not asked for longest', async () => {
    const { bells, woken } = world(100, 1);
    bells.freed(topic);
    await until(() => woken.length === 64);
    bells.freed(topic);
    await until(() => woken.length === 128);
    expect(woken).to.deep.equal([...names(100), ...names(28)]);
  });
});

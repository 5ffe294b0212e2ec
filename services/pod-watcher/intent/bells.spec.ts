import { expect } from 'chai';
import { until } from '../fakes.ts';
import { Bells } from './bells.ts';
import { byAge, Waiting } from './waiting.ts';

const topic = 'any:macvlan';
const names = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `default/p${String(index).padStart(5, '0')}`);

describe('the bells for those who wait', () => {
  /** Who is woken asks again: those who are lucky need not wait any more. */
  function world(waiters: readonly string[], lucky: (pod: string) => boolean = () => false) {
    const waiting = new Waiting();
    const woken: string[] = [];
    const wake = (pod: string): void => {
      woken.push(pod);
      if (lucky(pod)) waiting.end(pod);
      else waiting.wait(pod, new Set([topic]), pod);
    };
    const bells = new Bells(waiting, wake, 5);
    for (const pod of waiters) waiting.wait(pod, new Set([topic]), pod);
    return { bells, woken, waiting };
  }
  const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 200));

  it('wake everybody once when what they wait for has changed', async () => {
    const { bells, woken } = world(names(100));
    for (let times = 0; times < 3; times++) bells.ring(topic);
    bells.ring('any:other');
    await until(() => woken.length >= 100);
    await settled();
    expect(woken).to.deep.equal(names(100));
  });

  it('offer an address to the oldest first, and to few when these take it', async () => {
    const { bells, woken } = world(names(100).reverse(), () => true);
    bells.freed(topic);
    await until(() => woken.length >= 4);
    await settled();
    expect(woken).to.deep.equal(names(4));
  });

  it('offer as many as became free at once', async () => {
    const { bells, woken } = world(names(100), () => true);
    for (let addresses = 0; addresses < 30; addresses++) bells.freed(topic);
    await until(() => woken.length >= 30);
    await settled();
    expect(woken).to.deep.equal(names(30));
  });

  it('offer it along the whole line, each once, when those in front cannot use it', async () => {
    const [last = ''] = names(100).slice(-1);
    const { bells, woken } = world(names(100), (pod) => pod === last);
    bells.freed(topic);
    await until(() => woken.includes(last));
    await settled();
    expect(woken).to.deep.equal(names(100));
  });

  it('begin with the oldest again when another becomes free meanwhile', async () => {
    const { bells, woken } = world(names(20));
    bells.freed(topic);
    await until(() => woken.length === 4);
    bells.freed(topic);
    await until(() => woken.length === 24);
    expect(woken).to.deep.equal([...names(4), ...names(20)]);
  });

  it('ask the oldest alone when it is only guessed, and go on while these are served', async () => {
    const { bells, woken } = world(names(20), (pod) => pod < 'default/p00006');
    bells.mayBeFree(topic);
    await until(() => woken.length >= 12);
    await settled();
    expect(woken).to.deep.equal(names(12));
    bells.mayBeFree(topic);
    await until(() => woken.length >= 16);
    await settled();
    expect(woken.slice(12)).to.deep.equal(names(20).slice(6, 10));
  });

  it('ring by themselves when an address has cooled down', async () => {
    const { bells, woken } = world(names(1), () => true);
    bells.freedIn(topic, 30);
    await until(() => woken.length === 1);
  });

  it('look at those whom they ask, however many wait: a few comparisons for each wave of 10,000', async () => {
    let compared = 0;
    const waiting = new Waiting((one, other) => ((compared += 1), byAge(one, other)));
    for (const pod of names(10_000)) waiting.wait(pod, new Set([topic]), pod);
    const woken: string[] = [];
    const bells = new Bells(waiting, (pod) => void woken.push(pod), 5);
    compared = 0;
    bells.freed(topic);
    await until(() => woken.length >= 1_000);
    expect(compared)
      .to.be.greaterThan(0)
      .and.lessThan(30 * Math.ceil(woken.length / 4));
    expect(woken).to.deep.equal(names(10_000).slice(0, woken.length));
  });
});

import { randomBytes, randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { packLines, unpackLines } from '../../../ledger/archive/gzip-lines.ts';
import { installVirtualTime } from './virtual-time.ts';
import { World } from './world.ts';

const never = new AbortController().signal;

describe('Virtual time', () => {
  let uninstall: () => void;
  beforeEach(() => (uninstall = installVirtualTime()));
  afterEach(() => uninstall());

  /** Runs a program until it resolves. */
  async function run<T>(main: (world: World) => Promise<T>, seed = 1): Promise<T> {
    const world = new World(seed);
    let result: { readonly value: T } | undefined;
    const program = world.machine('one').start('program', async () => {
      result = { value: await main(world) };
    });
    await world.runUntil(() => result !== undefined || !program.isAlive, 10 * 86_400_000);
    if (!result) throw program.failure as Error;
    return result.value;
  }

  it('Virtual time advances all clocks of a program by its waits, in no real time', async () => {
    const realStart = performance.now();
    const [date, monotonic, timed] = await run(async () => {
      const [began, beganMonotonic] = [Date.now(), performance.now()];
      const signal = AbortSignal.timeout(3_600_000);
      await sleep(86_400_000);
      expect(signal.aborted).to.equal(true);
      expect(new Date().getTime()).to.equal(Date.now());
      return [Date.now() - began, performance.now() - beganMonotonic, new Date(0) instanceof Date];
    });
    expect(date).to.be.within(86_400_000, 86_400_002);
    expect(monotonic).to.be.within(86_400_000, 86_400_002);
    expect(timed).to.equal(true);
    expect(performance.now() - realStart).to.be.lessThan(3_600_000);
  });

  it('Virtual time gives each machine a clock of its own, which can be stepped', async () => {
    await run(async (world) => {
      const before = Date.now();
      world.machine('one').stepClock(-60_000);
      const monotonic = performance.now();
      expect(Date.now()).to.equal(before - 60_000);
      await sleep(5);
      expect(performance.now()).to.be.greaterThan(monotonic);
      expect(world.machine('two').wall()).to.not.equal(world.machine('one').wall());
    });
  });

  it('Virtual time fires timers in the order of their times, and none that was cleared', async () => {
    const fired = await run(async () => {
      const order: string[] = [];
      setTimeout((text: string) => order.push(text), 20, 'late');
      setTimeout(() => order.push('early'), 10);
      clearTimeout(setTimeout(() => order.push('cleared'), 5));
      const interval = setInterval(() => order.push('interval'), 12);
      setImmediate(() => order.push('first'));
      setImmediate(() => order.push('second'));
      await sleep(30);
      clearInterval(interval);
      await sleep(100);
      return order;
    });
    expect(fired).to.deep.equal(['first', 'second', 'early', 'interval', 'late', 'interval']);
  });

  it('Virtual time rejects a wait with an AbortError when its signal is aborted', async () => {
    const error = await run(async () => {
      const controller = new AbortController();
      setTimeout(() => controller.abort(), 10);
      return sleep(1_000, undefined, { signal: controller.signal }).catch((thrown: unknown) => thrown as Error);
    });
    expect(error).to.have.property('name', 'AbortError');
    expect(error).to.have.property('code', 'ABORT_ERR');
  });

  it('Virtual time removes the listeners that a program has left on a combined signal, at its end', async () => {
    const controller = new AbortController();
    let calls = 0;
    await run(async () => {
      const combined = AbortSignal.any([controller.signal, AbortSignal.timeout(1_000)]);
      combined.addEventListener('abort', () => calls++);
      await sleep(10);
    });
    uninstall();
    controller.abort();
    expect(calls).to.equal(0);
  });

  it('Virtual time draws random numbers that follow from the seed', async () => {
    const draw = (seed: number) =>
      run(() => Promise.resolve([Math.random(), randomBytes(8).toString('hex'), randomInt(5, 2 ** 48)]), seed);
    expect(await draw(1)).to.deep.equal(await draw(1));
    expect(await draw(1)).to.not.deep.equal(await draw(2));
  });

  it('Virtual time compresses in a program as outside of one', async () => {
    const lines = Array.from({ length: 1_200 }, (_, index) => `line ${index}`);
    const packed = await run(() => packLines(lines, never));
    const unpacked = await run(async () => {
      const found: string[] = [];
      const limits = { maxBytes: 1 << 20, maxLineBytes: 100 };
      for await (const page of unpackLines(packed, limits, never)) found.push(...page);
      return found;
    });
    expect(unpacked).to.deep.equal(lines);
  });

  it('Virtual time leaves the functions of Node to callers outside of a program', async () => {
    const before = Date.now();
    await sleep(2);
    expect(Date.now() - before).to.be.at.least(1);
    const year = new Date().getUTCFullYear();
    uninstall();
    expect(new Date().getUTCFullYear()).to.equal(year);
    expect(setTimeout.name).to.equal('setTimeout');
  });
});

import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { installVirtualTime } from './virtual-time.ts';
import { World } from './world.ts';

describe('World', () => {
  let uninstall: () => void;
  beforeEach(() => (uninstall = installVirtualTime()));
  afterEach(() => uninstall());

  /** Two programs that wait for random times, and the order of their steps. */
  async function race(seed: number): Promise<{ readonly order: string; readonly hash: number }> {
    const world = new World(seed);
    const order: string[] = [];
    for (const name of ['a', 'b'])
      world.machine(name).start(name, async () => {
        for (let step = 0; step < 20; step++) {
          await sleep(Math.random() * 100);
          order.push(name);
        }
      });
    await world.runUntil(() => order.length === 40, 60_000);
    return { order: order.join(''), hash: world.traceHash };
  }

  it('World has the same trace for the same seed, and another one for another seed', async () => {
    expect(await race(7)).to.deep.equal(await race(7));
    const hashes = new Set<number>();
    for (let seed = 1; seed <= 20; seed++) hashes.add((await race(seed)).hash);
    expect(hashes.size).to.equal(20);
  });

  it('World reports a program that ends by an error of its own, and none that is crashed', async () => {
    const world = new World(1);
    const failed: string[] = [];
    world.onFailure = (program, error) => failed.push(`${program}: ${(error as Error).message}`);
    world
      .machine('one')
      .start('crashed', () => sleep(50))
      .crash();
    world.machine('one').start('rejected', async () => {
      await sleep(10);
      throw new Error('no file');
    });
    world.machine('one').start('thrown', () => {
      setTimeout(() => {
        throw new Error('no field');
      }, 20);
    });
    await world.runUntil(() => false, 100);
    expect(failed).to.deep.equal(['rejected: no file', 'thrown: no field']);
  });

  it('World calls nothing of a program that has crashed', async () => {
    const world = new World(1);
    const seen: string[] = [];
    const program = world.machine('one').start('program', async () => {
      for (;;) {
        await sleep(10);
        seen.push('step');
      }
    });
    program.ended.addEventListener('abort', () => seen.push('ended'));
    await world.runUntil(() => seen.length === 3, 1_000);
    program.crash();
    await world.runUntil(() => false, 1_000);
    expect(seen).to.deep.equal(['step', 'step', 'step', 'ended']);
  });

  it('World delays all steps of a suspended program, in their order', async () => {
    const world = new World(1);
    const seen: string[] = [];
    const program = world.machine('one').start('program', () => {
      for (const ms of [30, 10, 20, 5_000])
        setTimeout(() => seen.push(`${ms} at ${Math.floor(world.now / 1_000)} s`), ms);
    });
    await world.runUntil(() => false, 5);
    program.pauseFor(2_000);
    await world.runUntil(() => seen.length === 4, 10_000);
    expect(seen).to.deep.equal(['10 at 2 s', '20 at 2 s', '30 at 2 s', '5000 at 5 s']);
  });

  it('World ends a program whose main rejects, with the reason', async () => {
    const world = new World(1);
    const program = world.machine('one').start('program', async () => {
      await sleep(10);
      throw new Error('no disk');
    });
    await world.runUntil(() => !program.isAlive, 1_000);
    expect(program.failure).to.have.property('message', 'no disk');
  });

  it('World ends a program that loops without a pause, because time would stand still', async () => {
    const world = new World(1);
    const program = world.machine('one').start('program', async () => {
      while (performance.now() > 0) await Promise.resolve();
    });
    await world.runUntil(() => !program.isAlive, 1_000);
    expect(program.failure).to.have.property('message', 'it loops without a pause');
  });

  it('World stops at the first violation', async () => {
    const world = new World(1);
    world.after(10, () => world.fail('order', 'b before a'));
    world.after(20, () => world.fail('order', 'c before b'));
    expect(await world.runUntil(() => false, 1_000)).to.equal(false);
    expect(world.violation).to.have.property('message', 'order: b before a');
    expect(world.now).to.equal(10);
  });
});

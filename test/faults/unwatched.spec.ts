/**
 * Pods that are created, deleted and completed while nobody watches: whoever watches next brings all of it to the ledger, and
 * asks for nothing that need not be.
 */
import { expect } from 'chai';
import { complete } from './api.ts';
import { awayWhile } from './away.ts';
import { expectCommands } from './commands.ts';
import { type Counter, openCounter } from './counting.ts';
import { begin, end, type Life, untilAllShown } from './crowd.ts';
import { type Dice, openDice } from './dice.ts';
import { scale } from './scale.ts';
import { openStage, type Stage } from './stage.ts';
import { expectAllRight } from './verdict.ts';

const atOnce = 32;

describe('faults: nobody watches', function () {
  this.timeout(scale.timeoutMs);
  let stage: Stage;
  let counter: Counter;
  let dice: Dice;
  const lives: Life[] = [];
  before(async () => {
    stage = await openStage({
      between: (run, link, target) => {
        counter ??= openCounter(run);
        return link === 'allocator' ? counter.before(target) : Promise.resolve(target);
      },
    });
    dice = openDice('nobody watches');
  });
  after(() => stage?.run.end());

  /** So many Pods of a kind. */
  async function make(kind: string, count: number): Promise<Life[]> {
    const wanted = Array.from({ length: count }, (_, index) => ({ name: `${kind}-${index}`, own: dice.fork() }));
    const made: Life[] = [];
    await each(wanted, async ({ name, own }) => void made.push(await begin(stage, name, own)));
    lives.push(...made);
    return made;
  }

  it(`${scale.completed} Pods complete, others come and go: each is seen to with one command`, async () => {
    const few = Math.ceil(scale.completed / 10);
    const [completed, deleted, replaced, kept] = [
      await make('completes', scale.completed),
      await make('goes', few),
      await make('is-replaced', few),
      await make('stays', few),
    ];
    await untilAllShown(stage, lives);
    await expectAllRight(stage, lives);

    let created: Life[] = [];
    await awayWhile(stage.watchers, 'killed', async () => {
      counter.reset();
      await each(completed, async (life) => {
        await complete(stage, life.name);
        life.fate = 'completed';
      });
      await each([...deleted, ...replaced], (life) => end(stage, life, { force: false }));
      created = [...(await make('is-replaced', few)), ...(await make('comes', few))];
      // Nobody ever knew of these.
      await each(await make('came-and-went', few), (life) => end(stage, life, { force: false }));
    });
    await expectAllRight(stage, lives);

    const release = [...completed, ...deleted];
    expectCommands(counter, { allocate: created, release, mayRelease: replaced }, lives);
    expect(kept.map(({ fate }) => fate)).to.not.include('deleted');
  });

  it('started once more, they ask for nothing', async () => {
    counter.reset();
    await Promise.all(stage.watchers.map((watcher) => watcher.restart()));
    // Once this one is served, one of them holds the Lease and has begun with all others, whose names come before.
    const signs = await make('watched-again', 1);
    await untilAllShown(stage, signs);
    await expectAllRight(stage, lives);
    expectCommands(counter, { allocate: signs }, lives);
    expect(counter.requestsOf('deleteSubnet')).to.deep.equal([]);
  });

  it('every Pod that there is goes: the API remembers that it deleted them, and all is given back', async () => {
    const left = lives.filter(({ fate }) => fate !== 'deleted');
    const held = left.filter(({ fate }) => fate === 'lives');
    await awayWhile(stage.watchers, 'killed', async () => {
      counter.reset();
      await each(left, (life) => end(stage, life, { force: false }));
    });
    const { tenures } = await expectAllRight(stage, lives);
    expect(tenures.filter((tenure) => tenure.end === undefined)).to.deep.equal([]);
    expectCommands(counter, { release: held }, lives);
  });

  async function each<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
    const left = [...items];
    await Promise.all(
      Array.from({ length: atOnce }, async () => {
        for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
      }),
    );
  }
});

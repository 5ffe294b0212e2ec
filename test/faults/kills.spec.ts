/** Any part may be killed at any moment: nothing is lost, nothing is given twice, and everything finds together again. */
import { say } from '../harness/say.ts';
import { breakThings } from './breakage.ts';
import { begin, comeAndGo, end, type Life, untilShown } from './crowd.ts';
import { openDice } from './dice.ts';
import { inRound, scale } from './scale.ts';
import { openStage, type Stage } from './stage.ts';
import { expectAllRight } from './verdict.ts';

describe('faults: kill -9 of any part', function () {
  this.timeout(scale.timeoutMs);
  let stage: Stage;
  let done: string[];
  beforeEach(async () => {
    stage = await openStage();
    done = [];
  });
  afterEach(async function () {
    if (this.currentTest?.state === 'failed') say(done.join('\n'));
    await stage?.run.end();
  });

  for (let round = 1; round <= scale.rounds; round++)
    it(`while ${scale.pods} Pods come and go${inRound(round)}`, async () => {
      const dice = openDice('kill -9', round);
      const startedAt = performance.now();
      const note = (what: string): void =>
        void done.push(`${((performance.now() - startedAt) / 1_000).toFixed(1)} s: ${what}`);
      const lives: Life[] = [];
      const progress = (): number => lives.length / scale.pods;
      await Promise.all([
        comeAndGo(stage, dice.fork(), { count: scale.pods, paceMs: 1_000 }, lives),
        breakThings(stage.servers, dice.fork(), { kills: scale.kills, progress }, note),
      ]);
      note(`${lives.length} Pods have come, ${lives.filter(({ fate }) => fate === 'deleted').length} have gone`);
      await expectAllRight(stage, lives);
      note('all is right');
      // That most Pods go while nobody watches is another story: of unwatched.spec.ts.
      const sign = await begin(stage, 'sign-of-a-watcher', dice);
      lives.push(sign);
      await untilShown(stage, sign);
      await Promise.all(
        lives.filter(({ fate }) => fate !== 'deleted').map((life) => end(stage, life, { force: false })),
      );
      note('the others have gone, too');
      await expectAllRight(stage, lives);
    });
});

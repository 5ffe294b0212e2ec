/** A part that is away for long, dead or silent: what needs it waits, what does not goes on, and afterwards all is right. */
import { expect } from 'chai';
import type { Server } from '../harness/server.ts';
import { type Absence, awayFor, awayWhile } from './away.ts';
import { attach, begin, detach, end, type Life, untilShown } from './crowd.ts';
import { type Dice, openDice } from './dice.ts';
import { plugin, setUp, tearDown } from './kubelet.ts';
import { inRound, scale } from './scale.ts';
import { openStage, type Stage } from './stage.ts';
import { expectAllRight } from './verdict.ts';

describe('faults: a part is away', function () {
  this.timeout(scale.timeoutMs);
  let stage: Stage;
  let dice: Dice;
  let lives: Life[];
  before(async () => {
    dice = openDice('away');
    stage = await openStage();
    lives = [];
  });
  after(() => stage?.run.end());

  /** A Pod that is there already and shows its addresses; `running`: with its sandboxes. */
  async function settled(name: string, { running }: { running: boolean }): Promise<Life> {
    const life = await begin(stage, name, dice);
    lives.push(life);
    await untilShown(stage, life);
    if (running) await attach(stage, life);
    return life;
  }

  const parts: [string, (stage: Stage) => readonly Server[]][] = [
    ['the allocators', ({ allocators }) => allocators],
    ['etcd', ({ stack }) => [stack.etcd]],
    ['the Kubernetes API', ({ stack }) => [stack.cluster.apiServer]],
    ['the pod-watchers', ({ watchers }) => watchers],
    ['the agent', ({ stack }) => stack.agents],
  ];
  const absences: readonly Absence[] = ['killed', 'frozen'];
  for (const [what, serversOf] of parts)
    for (let round = 1; round <= scale.rounds; round++)
      it(`${what}: Pods come and go meanwhile, or as soon as they can${inRound(round)}`, async () => {
        const names = (kind: string): string => `${what.replaceAll(' ', '-').toLowerCase()}-${round}-${kind}`;
        const [goes, forced, starts] = await Promise.all([
          settled(names('goes'), { running: true }),
          settled(names('forced'), { running: true }),
          settled(names('starts'), { running: false }),
          settled(names('stays'), { running: true }),
        ]);
        await awayFor(serversOf(stage), { absence: dice.pick(absences), ms: scale.awayMs }, async () => {
          const comes = begin(stage, names('comes'), dice).then(async (life) => {
            lives.push(life);
            await attach(stage, life);
          });
          await Promise.all([
            comes,
            attach(stage, starts),
            end(stage, goes, { force: false }),
            end(stage, forced, { force: true }),
          ]);
        });
        await expectAllRight(stage, lives);
      });

  it('the pod-watchers, for 20 s: the ADD that waits is refused, and the next one, in a new sandbox, succeeds', async () => {
    let late: Life | undefined;
    await awayWhile(stage.watchers, 'frozen', async () => {
      late = await begin(stage, 'late', dice);
      const { name: pod, uid, networks } = late;
      const first = { pod, uid, network: networks[0] as string, containerId: 'first-sandbox' };
      const answer = await plugin(stage, first);
      expect(answer.result).to.include({ code: 11, msg: 'RPC failed' });
      expect(answer.stdout).to.match(/no address allocated to pod default\/late .*Check that pod-watcher runs/);
      await tearDown(stage, first);
    });
    lives.push(late as Life);
    await attach(stage, late as Life);
    await expectAllRight(stage, lives);
  });

  it('the Kubernetes API: a Pod that has its addresses is set up all the same, since the runtime tells its uid', async () => {
    const life = await settled('without-api', { running: false });
    await awayWhile([stage.stack.cluster.apiServer], 'killed', async () => {
      for (const network of life.networks) life.sandboxes.push(await setUp(stage, life, network));
      await detach(stage, life);
      await attach(stage, life);
    });
    await expectAllRight(stage, lives);
  });
});

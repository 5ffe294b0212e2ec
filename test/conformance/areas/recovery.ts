/** recovery: what is found when the watcher starts again, and what is tidied up while it runs. */
import { IpamService } from '../../../proto/ipledger.ts';
import { type Case, notUnderstood, understandOnly } from '../case.ts';
import type { Seen } from '../compare.ts';
import { type Fields, says, textOf } from '../json.ts';
import type { Stage } from '../stage.ts';
import { lookAt, makePod, makeSetting } from '../world/cast.ts';
import { beginLife, fateOf, fateOfObject, type Life, removePod, sameAgain } from '../world/life.ts';
import { settingOf } from '../world/setting.ts';
import { recordOf, type Trial } from '../world/world.ts';
import { type Area, type Execute } from './area.ts';
import { fateIn } from './words.ts';

/** One situation at a restart. */
interface Situation {
  /** Each key of `given` with what it says. */
  readonly given: Readonly<Record<string, RegExp>>;
  readonly expect: readonly string[];
  /** Runs with the watcher stopped in between. */
  readonly perform: (the: Case, trial: Trial) => Promise<Seen>;
}

async function interrupted(trial: Trial, owner: string, meanwhile: (life: Life) => Promise<void>): Promise<Life> {
  const setting = settingOf({ owner });
  await makeSetting(trial, setting);
  await trial.startWatcher();
  const life = await beginLife(trial, setting);
  await trial.stopWatcher();
  await meanwhile(life);
  await trial.startWatcher();
  await trial.settle();
  return life;
}

const gone = (life: Life): Promise<void> => removePod(life.trial, life.pod);

/** Fates of the address and of its object, as far as they are expected. */
function fates({ expect }: Case, life: Life): Promise<Seen> {
  return life.trial.until(async () => {
    const address = await fateOf(life, life.pod);
    const got: Fields = { address, 'IP CR': await fateOfObject(life) };
    return { expected: Object.fromEntries(Object.entries(expect).map(([key, words]) => [key, fateIn(words)])), got };
  });
}

const situations: readonly Situation[] = [
  {
    given: { 'running pod': /^allocated annotation present/, 'IP CR': /^missing/ },
    expect: ['IP CR', 'address'],
    async perform(the, trial) {
      const life = await interrupted(trial, '', ({ ipName }) => trial.objects.remove({ kind: 'IP', name: ipName }));
      return trial.until(async () => {
        const recreated = (await fateOfObject(life)) === 'kept' ? 'recreated' : 'missing';
        const expected: Fields = {
          'IP CR': says(the.expect['IP CR'], 'recreated') ? 'recreated' : (the.expect['IP CR'] ?? null),
        };
        return { expected, got: { 'IP CR': recreated } };
      });
    },
  },
  {
    given: { 'running pod': /^allocated annotation present/, 'IP CR': /^present/ },
    expect: ['IP CR', 'address'],
    perform: async (the, trial) => fates(the, await interrupted(trial, '', () => Promise.resolve())),
  },
  {
    given: { 'StatefulSet IP CR': /^present/, pod: /^absent/ },
    expect: ['address'],
    async perform(the, trial) {
      const life = await interrupted(trial, 'StatefulSet web', gone);
      const kept = await fates({ ...the, expect: { address: the.expect['address'] ?? null } }, life);
      if (!/same ordinal gets it again/.test(textOf(the.expect['address']))) return kept;
      return { expected: [kept.expected, 'the same'], got: [kept.got, await sameAgain(life)] };
    },
  },
  {
    given: { 'VirtualMachine IP CR': /^present/, pod: /^absent/ },
    expect: ['address', 'IP CR'],
    perform: async (the, trial) => fates(the, await interrupted(trial, 'VirtualMachineInstance vm1', gone)),
  },
  {
    given: { 'ordinary IP CR': /^present/, pod: /^deleted while controller was down/ },
    expect: ['address', 'IP CR'],
    perform: async (the, trial) => fates(the, await interrupted(trial, '', gone)),
  },
  {
    given: { 'two running pods': /^both annotated with (\S+)/ },
    expect: ['first loaded wins', 'second'],
    perform: annotatedAlike,
  },
  {
    given: { pod: /^created while (?:the )?controller (?:is|was) down/ },
    expect: ['address', 'annotations', 'pod'],
    async perform(the, trial) {
      await makeSetting(trial, settingOf({}));
      const pod = await makePod(trial, 'default', 'p', { annotations: settingOf({}).annotations });
      await trial.startWatcher();
      await trial.settle();
      return trial.until(async () => {
        const given = (await lookAt(trial, pod)).allocations.length > 0 ? 'allocated' : 'nothing';
        const expected = Object.keys(the.expect).map((key) => [
          key,
          /^(?:gets|allocated)/.test(textOf(the.expect[key])) ? 'allocated' : 'not understood',
        ]);
        return {
          expected: Object.fromEntries(expected) as Fields,
          got: Object.fromEntries(Object.keys(the.expect).map((key) => [key, given])),
        };
      });
    },
  },
];

/** Annotations say that two Pods have one address, from the time of another controller. */
async function annotatedAlike(the: Case, trial: Trial): Promise<Seen> {
  const [, address = ''] = /^both annotated with ([0-9a-f.:]+)/.exec(textOf(the.given['two running pods'])) ?? [];
  const setting = settingOf({ annotations: { 'macvlan.default.kubernetes.io/ip_address': address } });
  await makeSetting(trial, setting);
  const annotations = { ...setting.annotations, 'macvlan.default.kubernetes.io/allocated': 'true' };
  const pods = [
    await makePod(trial, 'default', 'p1', { annotations }),
    await makePod(trial, 'default', 'p2', { annotations }),
  ];
  await trial.startWatcher();
  await trial.settle();
  return trial.until(async () => {
    const looks = await Promise.all(pods.map((pod) => lookAt(trial, pod)));
    const holders = looks.filter(({ allocations }) => allocations.length > 0);
    const refused = looks.find(({ allocations }) => allocations.length === 0);
    const told = refused?.error.includes(address) === true;
    return {
      expected: the.expect,
      got: {
        'first loaded wins': holders.length === 1,
        second: told ? 'an Event names the conflict' : 'logged only, not repaired',
      },
    };
  });
}

const restart: Execute = async (the, stage) => {
  const situation = situations.find(({ given }) => {
    const keys = Object.keys(the.given);
    return keys.length === Object.keys(given).length && keys.every((key) => given[key]?.test(textOf(the.given[key])));
  });
  if (!situation) throw notUnderstood('given', the.given);
  understandOnly('expectation', the.expect, situation.expect);
  await using trial = await (await stage.world()).begin();
  return await situation.perform(the, trial);
};

/** What nobody owns any more is found while the watcher runs. */
async function orphan(the: Case, stage: Stage): Promise<Seen> {
  understandOnly('given', the.given, ['orphan IP CR']);
  understandOnly('expectation', the.expect, ['wanted']);
  const periodically = says(the.expect['wanted'], 'collected periodically');
  if (!periodically || !says(the.given['orphan IP CR'], 'owner pod gone'))
    throw notUnderstood('expectation', the.expect);
  await using trial = await (await stage.world()).begin();
  await makeSetting(trial, settingOf({}));
  await trial.startWatcher();
  const pod = { namespace: 'default', name: 'ghost', uid: 'uid-of-ghost' };
  const attachments = [{ provider: 'macvlan.default', subnets: ['macvlan'] }];
  const { allocations } = await trial.served.call(IpamService.allocate, { pod, attachments });
  const address = allocations[0]?.addresses[0]?.address ?? '';
  await trial.settle();
  return await trial.until(async () => {
    const held = (await recordOf(trial, 'macvlan', address))?.allocation !== undefined;
    const shown = (await trial.objects.list('IP')).some(({ spec }) => spec?.['podName'] === 'ghost');
    return {
      expected: { address: 'released', 'IP CR': 'released' },
      got: { address: held ? 'kept' : 'released', 'IP CR': shown ? 'kept' : 'released' },
    };
  });
}

export const recoveryAreas: readonly Area[] = [
  {
    name: 'recovery',
    lane: 'cluster',
    forms: [
      { when: 'controller restart', execute: restart },
      { when: 'wait', execute: orphan },
    ],
  },
];

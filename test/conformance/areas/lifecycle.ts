/** lifecycle: what happens to a Pod, in words, and what becomes of its address. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Case, notUnderstood, understandOnly } from '../case.ts';
import type { Seen } from '../compare.ts';
import { type Json, says, textFieldsOf, textOf } from '../json.ts';
import type { Stage } from '../stage.ts';
import { lookAt, makePod, makeSetting } from '../world/cast.ts';
import {
  beginLife,
  type Beginning,
  fateOf,
  fateOfObject,
  type Life,
  recreate,
  removePod,
  sameAgain,
} from '../world/life.ts';
import { type Attached, type Setting, settingOf } from '../world/setting.ts';
import type { Trial } from '../world/world.ts';
import { type Area, type Execute } from './area.ts';
import { cni, happen } from './happenings.ts';
import { fateIn } from './words.ts';

/** What one expectation came to; for a key that is not understood, undefined. */
async function fateUnder(key: string, words: Json, life: Life): Promise<string | undefined> {
  const member = life.all.find(({ metadata }) => metadata.name === key.replace(/^address of /, ''));
  if (member) return fateOf(life, member);
  if (/^(?:address(?:es)?|ip)$/.test(key)) return fateOf(life, life.pod, { ofUid: /old uid/.test(textOf(words)) });
  return key === 'IP CR' ? fateOfObject(life) : undefined;
}

/** Looks at all that is expected; at last, if that is, at what a Pod gets that is made again under the name. */
async function fates({ expect }: Case, life: Life): Promise<Seen> {
  const again = Object.entries(expect).find(
    ([key, words]) => /recreat|new pod|same ordinal/i.test(key) || /^(?:gets )?(?:the )?same\b/i.test(textOf(words)),
  );
  const plain = Object.entries(expect).filter(([key]) => key !== again?.[0]);
  const settled = await life.trial.until(async () => {
    const [expected, got]: Record<string, Json>[] = [{}, {}];
    for (const [key, words] of plain) {
      const fate = await fateUnder(key, words, life);
      if (fate === undefined) throw notUnderstood('expectation', key);
      Object.assign(expected ?? {}, { [key]: fateIn(words) });
      Object.assign(got ?? {}, { [key]: fate });
    }
    return { expected: expected ?? {}, got: got ?? {} };
  });
  if (!again) return settled;
  if (!/same/.test(textOf(again[1]))) throw notUnderstood('expectation', again[1]);
  return { expected: [settled.expected, 'the same'], got: [settled.got, await sameAgain(life)] };
}

/** Runs a body on a Pod that has its address. */
async function living(
  stage: Stage,
  setting: Setting,
  beginning: Beginning,
  body: (life: Life, trial: Trial) => Promise<Seen>,
): Promise<Seen> {
  await using trial = await (await stage.world()).begin();
  await makeSetting(trial, setting);
  await trial.startWatcher();
  return await body(await beginLife(trial, setting, beginning), trial);
}

/** A grace period of a second, and that it is over by as much again, in times that are told in whole seconds. */
const overdueMs = 3_500;

const lived: Execute = (the, stage) => {
  const event = textOf(the.when['event']);
  const keys = Object.keys(the.given).join();
  const tale = tales.find(({ given, words }) => given.test(keys) && words.test(event));
  if (tale) return tale.perform(the, stage);
  understandOnly('given', the.given, ['owner', 'restartPolicy', 'CNI DEL']);
  const { owner = '', restartPolicy = 'Always' } = the.given;
  const setting = settingOf({ owner, restartPolicy });
  const [, from, to] = /^scale\D*?(?:from (\d+) )?to (\d+)/i.exec(event) ?? [];
  const replicas = to === undefined ? 1 : Number(from ?? Number(to) + 1);
  const grace = /grace|lost|terminating/i.test(event);
  return living(stage, setting, { replicas, ...(grace && { graceSeconds: 1 }) }, async (life, trial) => {
    await happen(life, event);
    if (grace) await sleep(overdueMs);
    await trial.settle();
    return fates(the, life);
  });
};

/** What takes more than one event to tell. */
interface Tale {
  /** Keys of `given`. */
  readonly given: RegExp;
  readonly words: RegExp;
  readonly perform: Execute;
}

/** A tale that begins with a Pod that has its address. */
const tale = (
  given: RegExp,
  words: RegExp,
  body: (the: Case, life: Life, trial: Trial) => Promise<Seen>,
  attached: (the: Case) => Attached = () => ({}),
): Tale => ({
  given,
  words,
  perform: (the, stage) =>
    living(stage, settingOf({ owner: the.given['owner'] ?? '' }, attached(the)), {}, (life, trial) =>
      body(the, life, trial),
    ),
});

/** A namesake is there before anybody has noticed that the old one went. */
const replaced = tale(/old pod.*new pod/, /^process delete of uid 1/, async (the, life, trial) => {
  await trial.stopWatcher();
  await removePod(trial, life.pod);
  await makePod(trial, 'default', life.pod.metadata.name, { annotations: life.setting.annotations });
  await trial.startWatcher();
  await trial.settle();
  return fates(the, life);
});

const networksGone = tale(
  /^pod$/,
  /^pods? deleted/,
  async (the, life, trial) => {
    for (const { namespace, name } of life.setting.networks)
      await trial.objects.remove({ kind: 'NetworkAttachmentDefinition', namespace, name });
    await trial.settle();
    await removePod(trial, life.pod);
    await trial.settle();
    return fates(the, life);
  },
  ({ given }) => {
    if (!says(given['pod'], 'two attachments, NADs deleted before the pod'))
      throw notUnderstood('given pod', given['pod']);
    return { networks: 'one,two' };
  },
);

const sandboxAgain = tale(/^pod$/, /^CNI DEL then ADD with another container id/, async (the, life) => {
  understandOnly('expectation', the.expect, ['ip', 'address']);
  const before = await cni(life, 'add', 'c1');
  await cni(life, 'del', 'c1');
  const after = await cni(life, 'add', 'c2');
  const fate = before !== '' && before === after ? 'kept' : 'released';
  const keys = Object.keys(the.expect);
  return {
    expected: Object.fromEntries(keys.map((key) => [key, fateIn(the.expect[key] ?? null)])),
    got: Object.fromEntries(keys.map((key) => [key, fate])),
  };
});

const movedByTemplate = tale(/template annotation/, /^pod recreated/, async (the, life, trial) => {
  understandOnly('expectation', the.expect, ['wanted']);
  const words = textOf(the.expect['wanted']);
  const changed = /logical_switch changed/.test(textOf(the.given['template annotation']));
  if (!changed || !words.startsWith('old address released, new subnet used')) throw notUnderstood('expectation', words);
  await trial.objects.create('Subnet', { name: 'changed' }, { spec: { provider: 'ovn', cidrBlock: '10.77.0.0/24' } });
  await trial.settle();
  await removePod(trial, life.pod);
  const again = await recreate(life, { 'macvlan.default.kubernetes.io/logical_switch': 'changed' });
  return trial.until(async () => {
    const subnet = (await lookAt(trial, again)).allocations[0]?.subnet ?? null;
    return { expected: { old: 'released', subnet: 'changed' }, got: { old: await fateOf(life, life.pod), subnet } };
  });
});

/** An address that was reserved, by hand, before its Pod came. */
const reserved: Tale = {
  given: /IP CR labels/,
  words: /^pod deleted/,
  async perform(the, stage) {
    const labels = textFieldsOf(the.given['IP CR labels']);
    if (labels['ovn.kubernetes.io/ip_reserved'] !== 'true') throw notUnderstood('given IP CR labels', labels);
    const setting = settingOf({});
    await using trial = await (await stage.world()).begin();
    await makeSetting(trial, setting);
    await trial.startWatcher();
    const spec = { podName: 'p', namespace: 'default', subnet: 'macvlan', v4IpAddress: '172.17.0.77' };
    await trial.objects.create('IP', { name: 'p.default.macvlan.default' }, { spec });
    await trial.settle();
    const life = await beginLife(trial, setting);
    await removePod(trial, life.pod);
    await trial.settle();
    return await fates(the, life);
  },
};

const tales: readonly Tale[] = [replaced, networksGone, sandboxAgain, movedByTemplate, reserved];

export const lifecycleAreas: readonly Area[] = [
  { name: 'lifecycle', lane: 'cluster', forms: [{ when: 'event', execute: lived }] },
];

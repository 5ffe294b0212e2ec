/**
 * allocate, ip_pool-annotation, subnet-select, nad, and whatever else makes Pods and looks at what they got: the watcher on a real
 * Kubernetes API, with an allocator behind it.
 */
import type { Allocation } from '../../../proto/ipledger.ts';
import { type Case, notUnderstood } from '../case.ts';
import type { Seen } from '../compare.ts';
import { type Fields, fieldsOf, isFields, type Json, listOf, says, textOf, textsOf } from '../json.ts';
import type { Stage } from '../stage.ts';
import { addressesOf, lookAt, makePods, makeSetting, type PodSeen, takeInUse, usualName } from '../world/cast.ts';
import type { KubeObject } from '../world/objects.ts';
import { type Attached, type Setting, settingOf } from '../world/setting.ts';
import type { Trial } from '../world/world.ts';
import { type Execute, type Form } from './area.ts';
import { tellStory } from './stories.ts';

/** A case's Pods, made and dealt with. */
export interface Play {
  readonly trial: Trial;
  readonly setting: Setting;
  /** In the order in which they were made. */
  readonly pods: readonly KubeObject[];
}

type Pair = readonly [expected: Json, got: Json];

/** How an expectation of this name is read. */
type Reading = (wanted: Json, play: Play, looks: readonly PodSeen[]) => Pair | Promise<Pair>;

/** The annotation prefix under which a Pod shows what it was given. */
function shownProvider({ attachment, interface: name }: Allocation, { annotations }: PodSeen): string {
  const provider = attachment?.provider ?? '';
  const withInterface = `${provider}.${name}`;
  return annotations[`${withInterface}.kubernetes.io/allocated`] === 'true' ? withInterface : provider;
}

/** What a Pod got, as its annotations show it; null for nothing. */
function ipOf(look: PodSeen | undefined): string | null {
  const [first] = look?.allocations ?? [];
  if (!look || !first) return null;
  return look.annotations[`${shownProvider(first, look)}.kubernetes.io/ip_address`] ?? null;
}

const same = (wanted: Json, got: Json): Pair => [wanted, got];
const first = (looks: readonly PodSeen[]): PodSeen =>
  looks[0] ?? { annotations: {}, allocations: [], reasons: [], error: '', ips: [] };

const subnetsOf = (looks: readonly PodSeen[]): string | null => first(looks).allocations[0]?.subnet ?? null;

export const readings: Readonly<Record<string, Reading>> = {
  ip: (wanted, _play, looks) => same(wanted, ipOf(looks[0])),
  ips: (wanted, { pods }, looks) => {
    const got = looks.map(ipOf);
    return isFields(wanted)
      ? same(wanted, Object.fromEntries(pods.map(({ metadata }, index) => [metadata.name, got[index] ?? null])))
      : same(wanted, got);
  },
  subnet: (wanted, _play, looks) => same(wanted, subnetsOf(looks)),
  provider: (wanted, _play, looks) => same(wanted, first(looks).allocations[0]?.attachment?.provider ?? null),
  networks: (wanted, _play, looks) =>
    same(
      wanted,
      first(looks).allocations.map((each) => ({ provider: shownProvider(each, first(looks)), subnet: each.subnet })),
    ),
  'pod annotations': (wanted, _play, looks) => same(wanted, first(looks).annotations),
  annotations: (wanted, _play, looks) => same(wanted, first(looks).annotations),
  'IP CR': (wanted, _play, looks) => same(wanted, first(looks).ips[0]?.spec ?? null),
  'IP CR spec.macAddress': (wanted, _play, looks) => same(wanted, first(looks).ips[0]?.spec?.['macAddress'] ?? null),
  'mac_address annotation': (wanted, { setting }, looks) => {
    const key = Object.keys(setting.annotations).find((each) => each.endsWith('/mac_address')) ?? '';
    const now = first(looks).annotations[key];
    const kept = now === setting.annotations[key] ? 'kept' : 'changed';
    return same(wanted, now === undefined ? 'deleted' : kept);
  },
  event: (wanted, _play, looks) =>
    same(wanted, looks.flatMap(({ reasons }) => reasons).find((each) => each === wanted) ?? null),
  'no fallback to': (wanted, _play, looks) => same(wanted, subnetsOf(looks) === wanted ? 'it was used' : wanted),
  'annotations written': (wanted, _play, looks) => {
    const written = looks
      .flatMap(({ annotations }) => Object.keys(annotations))
      .filter((key) => key.endsWith('/allocated'));
    return same(says(wanted, 'none') ? 'none' : wanted, written.length === 0 ? 'none' : written.join(','));
  },
  wanted: (wanted, play, looks) => distinct(wanted, play, looks),
  'released by': async (wanted, play) => {
    if (!says(wanted, 'pod key')) throw notUnderstood('expectation released by', wanted);
    return same('released', await releasedAfterDeletion(play));
  },
};

/** "one distinct IP per attachment" */
function distinct(wanted: Json, { setting }: Play, looks: readonly PodSeen[]): Pair {
  if (!says(wanted, 'one distinct IP per attachment')) throw notUnderstood('expectation wanted', wanted);
  const attached = setting.annotations['k8s.v1.cni.cncf.io/networks'] ?? '';
  const count = attached.startsWith('[') ? listOf(JSON.parse(attached) as Json).length : attached.split(',').length;
  return [count, new Set(first(looks).allocations.map(addressesOf)).size];
}

async function releasedAfterDeletion({ trial, pods }: Play): Promise<string> {
  for (const { metadata } of pods) {
    const { namespace = '', name } = metadata;
    await trial.objects.remove({ kind: 'Pod', namespace, name }, 0);
  }
  await trial.settle();
  const left = await Promise.all(pods.map((pod) => lookAt(trial, pod)));
  return left.every(({ allocations }) => allocations.length === 0) ? 'released' : 'kept';
}

const errorKeys = ['error', 'errorContains', 'errorMatches'];

/** Both sides of all expectations of a case. @throws CannotExecute for one that is not understood. */
export async function observe(expect: Fields, play: Play, more: Readonly<Record<string, Reading>> = {}): Promise<Seen> {
  const known = { ...readings, ...more };
  const looks = await Promise.all(play.pods.map((pod) => lookAt(play.trial, pod)));
  const names = play.pods.map(({ metadata }) => metadata.name);
  const expected: Record<string, Json> = {};
  const got: Record<string, Json> = {};
  for (const [key, wanted] of Object.entries(expect)) {
    const reading = known[key];
    if (errorKeys.includes(key)) expected[key] = wanted;
    else if (names.includes(key)) [expected[key], got[key]] = ofOne(wanted, looks[names.indexOf(key)]);
    else if (reading) [expected[key], got[key]] = await reading(wanted, play, looks);
    else throw notUnderstood('expectation', key);
  }
  // Of several Pods, or of one under its name, the case says itself which one is refused.
  const refusals = looks.map(({ error }) => error).filter((error) => error !== '');
  const isNamed = names.some((name) => name in expect);
  if ((play.pods.length === 1 && !isNamed) || errorKeys.some((key) => key in expect))
    got['error'] = refusals.join('; ');
  return { expected, got };
}

/** An expectation under a Pod's own name. */
function ofOne(wanted: Json, look: PodSeen | undefined): Pair {
  if (!isFields(wanted)) return [wanted, ipOf(look)];
  const { event } = wanted;
  const got = { error: look?.error ?? '', event: look?.reasons.find((each) => each === event) ?? null, ip: ipOf(look) };
  return [wanted, got];
}

/** Makes what the case gives and its Pods, and looks until all is as expected. */
async function perform(
  the: Case,
  stage: Stage,
  { names, attached }: { names?: readonly string[]; attached?: Attached },
): Promise<Seen> {
  const setting = settingOf(the.given, attached);
  await using trial = await (await stage.world()).begin();
  await makeSetting(trial, setting);
  await trial.startWatcher();
  await takeInUse(trial, setting);
  const pods = await makePods(trial, setting, names ?? [usualName(setting)]);
  const play = { trial, setting, pods };
  return await trial.until(() => observe(the.expect, play));
}

const reconcile: Execute = (the, stage) => {
  if (typeof the.given['pod'] === 'string') return tellStory(the, stage);
  const asked = textOf(the.when['attach']);
  return perform(the, stage, asked === '' ? {} : { attached: { networks: asked } });
};

/** The primary network is asked for by nothing but the Pod's being there. */
const primary: Execute = (the, stage) => {
  const networks = Object.keys(fieldsOf(the.given['pod annotations'])).some((key) => key.startsWith('k8s.v1'));
  return perform(the, stage, networks ? {} : { attached: { networks: '' } });
};

const inOrder: Execute = (the, stage) => perform(the, stage, { names: textsOf(the.when['create pods in order']) });

/** "create a", "delete a", one after the other. */
const scripted: Execute = async (the, stage) => {
  const setting = settingOf(the.given);
  await using trial = await (await stage.world()).begin();
  await makeSetting(trial, setting);
  await trial.startWatcher();
  const pods = new Map<string, KubeObject>();
  for (const step of textsOf(the.when['steps'])) {
    const [verb, name = ''] = step.split(' ');
    if (verb === 'create') pods.set(name, (await makePods(trial, setting, [name]))[0] as KubeObject);
    else if (verb === 'delete') await trial.objects.remove({ kind: 'Pod', namespace: setting.namespace, name }, 0);
    else throw notUnderstood('step', step);
    await trial.settle();
  }
  return await trial.until(() => observe(the.expect, { trial, setting, pods: [...pods.values()] }));
};

/**
 * What an attachment resolves to is seen by what the Pod is given. Of a Pod that is being deleted, by what is released: it had
 * its addresses when its network was still there.
 */
const resolve: Execute = async (the, stage) => {
  const deleting = fieldsOf(the.given['pod'])['deletionTimestamp'] !== undefined;
  if (!deleting) return perform(the, stage, {});
  const setting = settingOf(the.given);
  const vanished = setting.networks.filter(({ config }) => config === undefined);
  const networks = setting.networks.map((each) => ({ ...each, config: each.config ?? usualConfigOf(each) }));
  await using trial = await (await stage.world()).begin();
  await makeSetting(trial, { ...setting, networks });
  await trial.startWatcher();
  const pods = await makePods(trial, setting, [usualName(setting)]);
  const play = { trial, setting, pods };
  const [held] = await Promise.all(pods.map((pod) => lookAt(trial, pod)));
  for (const { namespace, name } of vanished)
    await trial.objects.remove({ kind: 'NetworkAttachmentDefinition', namespace, name });
  const released = await releasedAfterDeletion(play);
  const had = (held?.allocations ?? []).map(({ attachment, subnet }) => ({
    provider: attachment?.provider ?? '',
    subnet,
  }));
  return { expected: the.expect, got: { networks: released === 'released' ? had : 'not released' } };
};

const usualConfigOf = ({ name, namespace }: { name: string; namespace: string }): string =>
  JSON.stringify({ type: 'macvlan', ipam: { type: 'kube-ovn', provider: `${name}.${namespace}` } });

export const podActingForms: readonly Form[] = [
  { when: 'reconcile pod', execute: reconcile },
  { when: 'attach', execute: reconcile },
  { when: 'acquire', execute: primary },
  { when: 'choose default subnet', execute: primary },
  { when: 'create pods in order', execute: inOrder },
  { when: 'steps', execute: scripted },
  { when: 'resolve attachment', execute: resolve },
];

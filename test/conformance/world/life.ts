/** A Pod that has its address, for what may happen to it then. */
import type { Allocation } from '../../../proto/ipledger.ts';
import { asMachine } from '../../../services/pod-watcher/kubernetes/launchers.ts';
import { toPod } from '../../../services/pod-watcher/kubernetes/objects.ts';
import { fieldsOf } from '../json.ts';
import type { Fate } from '../areas/words.ts';
import { addressesOf, lookAt, makePod, untilHolding, usualName } from './cast.ts';
import type { KubeObject } from './objects.ts';
import { makeOwner, type Reference } from './owner.ts';
import type { Setting } from './setting.ts';
import { recordOf, type Trial } from './world.ts';

export interface Life {
  readonly trial: Trial;
  readonly setting: Setting;
  readonly owner: Reference | undefined;
  /** The one that it is about: the last of all. */
  readonly pod: KubeObject;
  readonly all: readonly KubeObject[];
  /** What each had before anything happened, by name. */
  readonly had: ReadonlyMap<string, readonly Allocation[]>;
  /** Name of the IP object. */
  readonly ipName: string;
}

export interface Beginning {
  /** How many Pods of the owner (default one). */
  readonly replicas?: number;
  readonly graceSeconds?: number;
}

/** Makes Pods of a setting's owner, each with its address and the object that shows it. */
export async function beginLife(
  trial: Trial,
  setting: Setting,
  { replicas = 1, graceSeconds }: Beginning = {},
): Promise<Life> {
  const owner = await makeOwner(trial.objects, setting.owner, 'default');
  const { restartPolicy, annotations } = setting;
  const options = { owner, restartPolicy, annotations, ...(graceSeconds !== undefined && { graceSeconds }) };
  const all: KubeObject[] = [];
  const had = new Map<string, readonly Allocation[]>();
  for (let index = 0; index < replicas; index++) {
    const pod = await makePod(trial, 'default', usualName(setting, index), options);
    await trial.settle();
    await untilHolding(trial, pod);
    had.set(pod.metadata.name, (await lookAt(trial, pod)).allocations);
    all.push(pod);
  }
  const pod = all.at(-1);
  if (!pod) throw new Error('no Pod is asked for');
  const shown = await trial.until(async () => {
    const { ips, allocations } = await lookAt(trial, pod);
    return {
      expected: { all: true },
      got: { all: ips.length === allocations.length, ip: ips[0]?.metadata.name ?? '' },
    };
  });
  const { all: allShown, ip } = fieldsOf(shown.got);
  if (allShown !== true) throw new Error(`no IP object shows what Pod ${pod.metadata.name} was given`);
  return { trial, setting, owner, pod, all, had, ipName: typeof ip === 'string' ? ip : '' };
}

/** Deletes a Pod at once, as a kubelet does at last. */
export function removePod({ objects }: Trial, { metadata }: KubeObject): Promise<void> {
  return objects.remove({ kind: 'Pod', namespace: metadata.namespace ?? '', name: metadata.name }, 0);
}

/**
 * What became of all that a Pod had: whether its name (or only its uid) has it still, or it is held for that name. What is kept in
 * part only is neither.
 */
export async function fateOf(
  { trial, had }: Life,
  pod: KubeObject,
  { ofUid = false } = {},
): Promise<Fate | 'kept in part'> {
  const { namespace, name, ledgerName, identity } = asMachine(toPod(pod));
  const places = (had.get(name) ?? []).flatMap(({ subnet, addresses }) =>
    addresses.map(({ address }) => ({ subnet, address })),
  );
  const kept = await Promise.all(
    places.map(async ({ subnet, address }) => {
      const record = await recordOf(trial, subnet, address);
      const reservedFor = record?.reservation?.reservedFor ?? '';
      if (!ofUid && reservedFor.startsWith(`pod/${namespace}/${ledgerName}/`)) return true;
      const holder = record?.allocation;
      return holder?.attachment?.pod === ledgerName && (!ofUid || holder.podUid === identity);
    }),
  );
  if (!kept.includes(true)) return 'released';
  return kept.includes(false) ? 'kept in part' : 'kept';
}

/** What became of the IP object of the Pod that it is about. */
export async function fateOfObject({ trial, ipName }: Life): Promise<Fate> {
  return (await trial.objects.find({ kind: 'IP', name: ipName })) ? 'kept' : 'released';
}

/** The Pod is made again under its name. */
export async function recreate(life: Life, more: Readonly<Record<string, string>> = {}): Promise<KubeObject> {
  const { trial, setting, owner, pod } = life;
  const annotations = { ...setting.annotations, ...more };
  const again = await makePod(trial, 'default', pod.metadata.name, { owner, annotations });
  await trial.settle();
  return again;
}

/** Whether it then gets what it had: "the same", or what else. */
export async function sameAgain(life: Life): Promise<string> {
  const again = await recreate(life);
  const [before] = life.had.get(life.pod.metadata.name) ?? [];
  const { got } = await life.trial.until(async () => {
    const [first] = (await lookAt(life.trial, again)).allocations;
    return { expected: before ? addressesOf(before) : null, got: first ? addressesOf(first) : null };
  });
  if (typeof got !== 'string' || !before) return 'nothing';
  return got === addressesOf(before) ? 'the same' : got;
}

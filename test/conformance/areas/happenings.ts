/** What may happen to a Pod that has its address, told in words. */
import { notUnderstood } from '../case.ts';
import { fieldsOf, textOf } from '../json.ts';
import { post, usualRequest } from '../world/daemon.ts';
import { type Life, removePod } from '../world/life.ts';
import { makeStatefulSet } from '../world/owner.ts';

type Happen = (life: Life, words: RegExpMatchArray) => Promise<void>;

const set = (name: string) => ({ kind: 'StatefulSet', namespace: 'default', name }) as const;
const remove: Happen = ({ trial, pod }) => removePod(trial, pod);
const ordinalOf = (name: string): number => Number(/-(\d+)$/.exec(name)?.[1] ?? -1);

const phase: Happen = async ({ trial, pod }, [, phaseName = '', reason]) => {
  const status = { phase: phaseName, ...(reason !== undefined && { reason }) };
  await trial.objects.patch({ kind: 'Pod', namespace: 'default', name: pod.metadata.name }, { status }, 'status');
};

/** Its Pods go highest ordinal first, as its controller has them go. */
const scale: Happen = async ({ trial, setting, all }, [, to]) => {
  await trial.objects.patch(set(setting.owner.name), { spec: { replicas: Number(to) } });
  const surplus = all.filter(({ metadata }) => ordinalOf(metadata.name) >= setting.owner.start + Number(to));
  for (const pod of surplus.toReversed()) await removePod(trial, pod);
};

const setGoesFirst: Happen = async ({ trial, setting, all }) => {
  await trial.objects.remove(set(setting.owner.name), 0);
  await trial.settle();
  for (const pod of all) await removePod(trial, pod);
};

const setIsReplaced: Happen = async ({ trial, setting, pod }) => {
  await trial.objects.remove(set(setting.owner.name), 0);
  await makeStatefulSet(trial.objects, setting.owner, 'default', 3);
  await removePod(trial, pod);
};

const machineGoes: Happen = async ({ trial, setting, pod }) => {
  const named = { namespace: 'default', name: setting.owner.name };
  for (const kind of ['VirtualMachineInstance', 'VirtualMachine'] as const)
    await trial.objects.remove({ kind, ...named }, 0);
  await removePod(trial, pod);
};

const addAndDelete: Happen = async (life) => {
  await cni(life, 'add', 'c1');
  await cni(life, 'del', 'c1');
};

/** Its node never says that it is gone. */
const terminates: Happen = ({ trial, pod }) =>
  trial.objects.remove({ kind: 'Pod', namespace: 'default', name: pod.metadata.name });

/** The first whose words match. */
const happenings: readonly (readonly [words: RegExp, happen: Happen])[] = [
  [
    /^(?:virt-launcher )?pods? (?:object )?deleted(?:[, (;]+(?:but )?(?:the )?(?:StatefulSet|VM|VirtualMachine|replicas|scale)\b[^,;]*\b(?:exists|stays|alive|unchanged|running|there)\)?)?$/i,
    remove,
  ],
  [/^pods? deleted and recreated$/i, remove],
  [/^phase (\w+)(?:,? (?:with )?reason (\w+))?$/i, phase],
  [/^StatefulSet deleted, then its pods$/i, setGoesFirst],
  [/^StatefulSet deleted and recreated with uid B, old pod deleted$/i, setIsReplaced],
  [/^scaled?(?: down)?(?: from \d+)? to (\d+)/i, scale],
  [/^VM deleted, (?:then )?(?:its )?pod deleted$/i, machineGoes],
  [/^(?:CNI )?DEL only/i, addAndDelete],
  [/terminating|deletionTimestamp|grace|node lost/i, terminates],
];

/** Lets it happen; resolves when it has. @throws CannotExecute */
export async function happen(life: Life, event: string): Promise<void> {
  for (const [words, what] of happenings) {
    const match = words.exec(event);
    if (match) return what(life, match);
  }
  throw notUnderstood('event', event);
}

/** ADD or DEL of the Pod's net1, as Kube-OVN's plugin sends it; gives the address that was answered. */
export async function cni({ trial, pod }: Life, verb: 'add' | 'del', containerId: string): Promise<string> {
  const { socket } = await trial.agent();
  const body = { ...usualRequest, pod_name: pod.metadata.name, container_id: containerId };
  const { json } = await post({ socket, path: `/api/v1/${verb}`, body });
  return textOf(fieldsOf(json)['address']);
}

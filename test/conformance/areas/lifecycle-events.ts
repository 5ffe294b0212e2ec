/** Events in the life of a Pod with an address, by the words of the cases. */
import { unsupportedError } from '../case.ts';
import { fieldsOf, textOf } from '../../harness/json.ts';
import { postToDaemon, defaultRequest } from '../environment/daemon-client.ts';
import { type AllocatedPod, deletePod } from '../environment/allocated-pod.ts';
import { createStatefulSet } from '../environment/pod-owner.ts';

type Perform = (life: AllocatedPod, words: RegExpMatchArray) => Promise<void>;

const remove: Perform = ({ caseEnvironment, pod }) => deletePod(caseEnvironment, pod);
const ordinalOf = (name: string): number => Number(/-(\d+)$/.exec(name)?.[1] ?? -1);

const phase: Perform = async ({ caseEnvironment, pod }, [, phaseName = '', reason]) => {
  const status = { phase: phaseName, ...(reason !== undefined && { reason }) };
  await caseEnvironment.kubernetes.patch('Pod', pod.metadata.name, { status }, 'status');
};

/** Deletes the Pods with the highest ordinals first, like the StatefulSet controller. */
const scale: Perform = async ({ caseEnvironment, setup, pods }, [, to]) => {
  await caseEnvironment.kubernetes.patch('StatefulSet', setup.owner.name, { spec: { replicas: Number(to) } });
  const surplus = pods.filter(({ metadata }) => ordinalOf(metadata.name) >= setup.owner.start + Number(to));
  for (const pod of surplus.toReversed()) await deletePod(caseEnvironment, pod);
};

const deleteSetThenPods: Perform = async ({ caseEnvironment, setup, pods }) => {
  await caseEnvironment.kubernetes.remove('StatefulSet', setup.owner.name);
  await caseEnvironment.waitUntilProcessed();
  for (const pod of pods) await deletePod(caseEnvironment, pod);
};

const replaceSet: Perform = async ({ caseEnvironment, setup, pod }) => {
  await caseEnvironment.kubernetes.remove('StatefulSet', setup.owner.name);
  await createStatefulSet(caseEnvironment.kubernetes, setup.owner, 'default', 3);
  await deletePod(caseEnvironment, pod);
};

const deleteMachine: Perform = async ({ caseEnvironment, setup, pod }) => {
  for (const kind of ['VirtualMachineInstance', 'VirtualMachine'] as const)
    await caseEnvironment.kubernetes.remove(kind, setup.owner.name);
  await deletePod(caseEnvironment, pod);
};

const addAndDelete: Perform = async (life) => {
  await callDaemon(life, 'add', 'c1');
  await callDaemon(life, 'del', 'c1');
};

/** Deletes the Pod while its node does not report that the Pod has ended. */
const deleteWithoutNode: Perform = ({ caseEnvironment, pod }) =>
  caseEnvironment.kubernetes.remove('Pod', pod.metadata.name, 'own');

/** The events by their words. The first that matches is performed. */
const events: readonly (readonly [words: RegExp, perform: Perform])[] = [
  [
    /^(?:virt-launcher )?pods? (?:object )?deleted(?:[, (;]+(?:but )?(?:the )?(?:StatefulSet|VM|VirtualMachine|replicas|scale)\b[^,;]*\b(?:exists|stays|alive|unchanged|running|there)\)?)?$/i,
    remove,
  ],
  [/^pods? deleted and recreated$/i, remove],
  [/^phase (\w+)(?:,? (?:with )?reason (\w+))?$/i, phase],
  [/^StatefulSet deleted, then its pods$/i, deleteSetThenPods],
  [/^StatefulSet deleted and recreated with uid B, old pod deleted$/i, replaceSet],
  [/^scaled?(?: down)?(?: from \d+)? to (\d+)/i, scale],
  [/^VM deleted, (?:then )?(?:its )?pod deleted$/i, deleteMachine],
  [/^(?:CNI )?DEL only/i, addAndDelete],
  [/terminating|deletionTimestamp|grace|node lost/i, deleteWithoutNode],
];

/** Performs an event. @throws UnsupportedCaseError */
export async function performEvent(life: AllocatedPod, event: string): Promise<void> {
  for (const [words, perform] of events) {
    const match = words.exec(event);
    if (match) return perform(life, match);
  }
  throw unsupportedError('event', event);
}

/**
 * Sends an ADD or DEL of the Pod's net1 like Kube-OVN's plugin; resolves to the address in the
 * response.
 */
export async function callDaemon(
  { caseEnvironment, pod }: AllocatedPod,
  verb: 'add' | 'del',
  containerId: string,
): Promise<string> {
  const { socket } = await caseEnvironment.agent();
  const body = { ...defaultRequest, pod_name: pod.metadata.name, container_id: containerId };
  const { json } = await postToDaemon({ socket, path: `/api/v1/${verb}`, body });
  return textOf(fieldsOf(json)['address']);
}

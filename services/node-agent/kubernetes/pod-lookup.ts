/** Reads a Pod: its name and uid in the ledger, and its OVN4NFV request. */
import * as z from 'zod';
import { IpledgerError } from '../../../lib/errors.ts';
import { podPath } from '../../../lib/kubernetes/client/object-requests.ts';
import {
  type Controller,
  podIdentityOf,
  assertedMachineOf,
  type MachineInstance,
  machineInstanceOf,
  type PodIdentity,
  launcherMismatch,
} from '../../../lib/kubernetes/pod-identity.ts';
import type { CniRequest } from '../daemon/plugin-request.ts';
import { type KubernetesGet, createObjectReader, type ObjectReader } from './object-reader.ts';
import { ovn4nfvAnnotations } from '../../../lib/ovn4nfv/annotations.ts';
import { type Ovn4nfvRequest, parseOvn4nfvRequest } from '../../../lib/ovn4nfv/request.ts';

type PodName = Pick<CniRequest, 'podNamespace' | 'podName'>;

/** @throws IpledgerError NOT_ALLOCATED without such a Pod; UNAVAILABLE without the API server */
export type PodLookup = (pod: PodName, signal: AbortSignal) => Promise<FoundPod>;

/** The owner of addresses in the ledger: the Pod, or the virtual machine that it runs. */
export interface FoundPod extends PodIdentity {
  /** The uid of the Pod itself. */
  readonly podUid: string;
}

const reference = z.object({
  apiVersion: z.string(),
  kind: z.string(),
  name: z.string(),
  uid: z.string(),
  controller: z.boolean().optional(),
});
const podSchema = z.object({
  metadata: z.object({
    uid: z.string().min(1),
    annotations: z.record(z.string(), z.string()).default({}),
    ownerReferences: z.array(reference).default([]),
  }),
});

/**
 * Reads the Pod at each call, because a recreated Pod of the same name has another uid. A Pod that
 * asserts that it runs a virtual machine gets the identity of that machine only if the machine's
 * object confirms that; without this check, any Pod could obtain the address of a machine.
 * pod-watcher applies the same rule.
 */
export function createPodLookup(get: KubernetesGet): PodLookup {
  const read = createObjectReader(get);
  return async ({ podNamespace, podName }, signal) => {
    const { uid, annotations, ownerReferences } = await readPod(read, { podNamespace, podName }, signal);
    const controller = ownerReferences.find((each) => each.controller === true);
    const asserted = assertedMachineOf({ name: podName, controller });
    if (!asserted) return { ...podIdentityOf({ name: podName, uid, annotations }), podUid: uid };
    const instance = await readInstance(podNamespace, asserted, read, signal);
    const mismatch = launcherMismatch(instance, asserted, { name: podName, uid });
    if (mismatch)
      throw new IpledgerError(mismatch.kind === 'unlisted' ? 'UNAVAILABLE' : 'NOT_ALLOCATED', mismatch.text);
    return { name: asserted.name, uid: asserted.uid, podUid: uid };
  };
}

async function readPod(read: ObjectReader, { podNamespace, podName }: PodName, signal: AbortSignal) {
  const action = `get pod ${podNamespace}/${podName}`;
  const pod = await read(podPath(podNamespace, podName), action, signal);
  if (pod === undefined) throw new IpledgerError('NOT_ALLOCATED', `${action} failed pod "${podName}" not found`);
  return podSchema.parse(pod).metadata;
}

/** Reads the VirtualMachineInstance; undefined when there is none. */
async function readInstance(
  namespace: string,
  { name }: Controller,
  read: ObjectReader,
  signal: AbortSignal,
): Promise<MachineInstance | undefined> {
  const collection = `/apis/kubevirt.io/v1/namespaces/${encodeURIComponent(namespace)}/virtualmachineinstances`;
  const object = await read(
    `${collection}/${encodeURIComponent(name)}`,
    `get virtualmachineinstance ${namespace}/${name}`,
    signal,
  );
  return object === undefined ? undefined : machineInstanceOf(object);
}

/**
 * Returns the request in a Pod's annotations; undefined if the Pod has none.
 * @throws IpledgerError NOT_ALLOCATED when the Pod does not exist; INVALID_REQUEST; UNAVAILABLE
 * when the API server cannot be read now
 */
export type Ovn4nfvLookup = (pod: PodName, signal: AbortSignal) => Promise<Ovn4nfvRequest | undefined>;

/** The limit of the pod-watcher, which refuses longer annotations. */
const maxAnnotationsLength = 65_536;

export function createOvn4nfvLookup(read: ObjectReader): Ovn4nfvLookup {
  return async ({ podNamespace, podName }, signal) => {
    const { annotations } = await readPod(read, { podNamespace, podName }, signal);
    const { own, length } = ownAnnotations(annotations);
    if (length > maxAnnotationsLength)
      throw new IpledgerError('INVALID_REQUEST', `Pod ${podNamespace}/${podName}: its request is too long: shorten it`);
    const parsed = parseOvn4nfvRequest({ annotations: own });
    if (parsed.ok) return parsed.value;
    throw new IpledgerError('INVALID_REQUEST', `Pod ${podNamespace}/${podName}: ${parsed.problem}`);
  };
}

function ownAnnotations(annotations: Readonly<Record<string, string>>) {
  const own = Object.fromEntries(
    ovn4nfvAnnotations.flatMap((key) => (key in annotations ? [[key, annotations[key] ?? '']] : [])),
  );
  const length = Object.values(own).reduce((sum, text) => sum + text.length, 0);
  return { own, length };
}

/** Looks up a Pod in the Kubernetes API, to find its name and uid in the ledger when the CNI request has no Pod uid. */
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
import type { CniRequest } from '../daemon/cni-request.ts';
import type { KubernetesGet } from './kubernetes-get.ts';
import { createObjectReader, type ObjectReader } from './object-reader.ts';

/** @throws IpledgerError NOT_ALLOCATED when there is no such Pod; UNAVAILABLE when the API server cannot be read now */
export type PodLookup = (pod: Pick<CniRequest, 'podNamespace' | 'podName'>, signal: AbortSignal) => Promise<FoundPod>;

/** The owner in the ledger: the Pod, or the virtual machine that it runs. */
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
 * Reads the Pod at each call, because a recreated Pod of the same name has another uid. A Pod that asserts that it runs a virtual machine
 * gets the identity of that machine only if the machine's object confirms that; without this check, any Pod could obtain the
 * address of a machine. pod-watcher applies the same rule.
 */
export function createPodLookup(get: KubernetesGet): PodLookup {
  const read = createObjectReader(get);
  return async ({ podNamespace, podName }, signal) => {
    const action = `get pod ${podNamespace}/${podName}`;
    const pod = await read(podPath(podNamespace, podName), action, signal);
    if (pod === undefined) throw new IpledgerError('NOT_ALLOCATED', `${action} failed pod "${podName}" not found`);
    const { uid, annotations, ownerReferences } = podSchema.parse(pod).metadata;
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

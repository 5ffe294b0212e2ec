/** Reads the OVN4NFV request of a Pod from the Kubernetes API. */
import * as z from 'zod';
import { IpledgerError } from '../../../lib/errors.ts';
import { podPath } from '../../../lib/kubernetes/client/object-requests.ts';
import { ovn4nfvAnnotations } from '../../../lib/ovn4nfv/annotations.ts';
import { type Ovn4nfvRequest, parseOvn4nfvRequest } from '../../../lib/ovn4nfv/request.ts';
import type { CniRequest } from '../daemon/cni-request.ts';
import type { ObjectReader } from './object-reader.ts';

/**
 * Returns the request in a Pod's annotations; undefined for a Pod without one.
 * @throws IpledgerError NOT_ALLOCATED when there is no such Pod; INVALID_REQUEST; UNAVAILABLE when the API server cannot be read now
 */
export type Ovn4nfvLookup = (
  pod: Pick<CniRequest, 'podNamespace' | 'podName'>,
  signal: AbortSignal,
) => Promise<Ovn4nfvRequest | undefined>;

const podSchema = z.object({ metadata: z.object({ annotations: z.record(z.string(), z.string()).default({}) }) });

/** The limit of the pod-watcher, which refuses a longer annotation. */
const maxAnnotationsLength = 65_536;

export function createOvn4nfvLookup(read: ObjectReader): Ovn4nfvLookup {
  return async ({ podNamespace, podName }, signal) => {
    const action = `get pod ${podNamespace}/${podName}`;
    const pod = await read(podPath(podNamespace, podName), action, signal);
    if (pod === undefined) throw new IpledgerError('NOT_ALLOCATED', `${action} failed pod "${podName}" not found`);
    const { annotations } = podSchema.parse(pod).metadata;
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

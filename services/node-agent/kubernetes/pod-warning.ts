/**
 * Reads why a Pod has no addresses, from the annotation that pod-watcher writes. Only pod-watcher
 * knows why it requested no address. The agent adds the reason to its CNI error. A tenant can write
 * the annotation of its own Pod.
 */
import * as z from 'zod';
import { podPath } from '../../../lib/kubernetes/client/object-requests.ts';
import { waitingAnnotation } from '../../../lib/kubernetes/kubernetes-metadata.ts';
import { escapeUnprintable } from '../../../lib/unprintable.ts';
import type { KubernetesGet } from './object-reader.ts';

const readTimeoutMs = 1_500;
const maxLength = 512;

const podSchema = z.object({
  metadata: z.object({ uid: z.string(), annotations: z.record(z.string(), z.string()).default({}) }),
});

/** Returns the warning of the Pod with this uid; '' if there is none. */
export type PodWarningReader = (
  pod: { readonly namespace: string; readonly name: string; readonly uid: string },
  signal: AbortSignal,
) => Promise<string>;

export function createPodWarningReader(get: KubernetesGet): PodWarningReader {
  return async ({ namespace, name, uid }, signal) => {
    try {
      const pod = podSchema.parse(await get(podPath(namespace, name), { timeoutMs: readTimeoutMs, signal }));
      const text = pod.metadata.uid === uid ? (pod.metadata.annotations[waitingAnnotation] ?? '') : '';
      return escapeUnprintable(text.slice(0, maxLength));
    } catch {
      // Ignores the failure: the warning only supplements another error.
      return '';
    }
  };
}

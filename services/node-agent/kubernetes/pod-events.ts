/**
 * Reads the Events that pod-watcher recorded for a Pod. Only an Event has the reason why pod-watcher requested no address; the
 * agent adds it to its CNI error.
 */
import * as z from 'zod';
import type { KubernetesGet } from './kubernetes-get.ts';

const readTimeoutMs = 1_500;
const watcher = 'ipledger-pod-watcher';

const eventsSchema = z.object({
  items: z.array(
    z.object({
      message: z.string().optional(),
      lastTimestamp: z.string().nullish(),
      source: z.object({ component: z.string().optional() }).optional(),
    }),
  ),
});

/**
 * Returns the latest warning about the Pod with this uid, preferring one that states why nothing is allocated; '' when there is
 * none, or it cannot be read now.
 */
export type PodWarningReader = (
  pod: { readonly namespace: string; readonly uid: string },
  signal: AbortSignal,
) => Promise<string>;

export function createPodWarningReader(get: KubernetesGet): PodWarningReader {
  return async ({ namespace, uid }, signal) => {
    const selector = encodeURIComponent(`involvedObject.uid=${uid},type=Warning`);
    const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/events?fieldSelector=${selector}`;
    try {
      return latestWarning(eventsSchema.parse(await get(path, { timeoutMs: readTimeoutMs, signal })));
    } catch {
      // The warning only supplements another error.
      return '';
    }
  };
}

function latestWarning({ items }: z.infer<typeof eventsSchema>): string {
  const own = items.filter(({ source }) => source?.component === watcher);
  own.sort((a, b) => ((a.lastTimestamp ?? '') < (b.lastTimestamp ?? '') ? 1 : -1));
  // Warnings without a stage are about networks that ipledger does not serve. They do not prevent an allocation.
  const latest = own.find(({ message }) => message?.startsWith('stage=')) ?? own[0];
  return latest?.message ?? '';
}

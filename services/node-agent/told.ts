/**
 * What pod-watcher told people about a Pod: why it was not even asked for an address stands in an Event of the Pod, and nowhere
 * else. Who reads the CNI error need not look for it.
 */
import { z } from 'zod';
import { within } from '../../lib/deadline.ts';
import type { ApiGet } from './pods.ts';

const readMs = 1_500;
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
 * The latest warning about the Pod of this uid, of those that state why nothing is allocated if there is one; '' when there is
 * none, or it can't be read now.
 */
export type Told = (pod: { readonly namespace: string; readonly uid: string }, signal: AbortSignal) => Promise<string>;

export function toldFrom(get: ApiGet): Told {
  return async ({ namespace, uid }, signal) => {
    const selector = encodeURIComponent(`involvedObject.uid=${uid},type=Warning`);
    const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/events?fieldSelector=${selector}`;
    try {
      const { status, body } = await get(path, within(readMs, signal));
      return status === 200 ? latestOf(eventsSchema.parse(JSON.parse(body))) : '';
    } catch {
      // It is said beside an error of its own.
      return '';
    }
  };
}

function latestOf({ items }: z.infer<typeof eventsSchema>): string {
  const own = items.filter(({ source }) => source?.component === watcher);
  own.sort((a, b) => ((a.lastTimestamp ?? '') < (b.lastTimestamp ?? '') ? 1 : -1));
  // Others are about parts of the request that are not served here, and keep nothing else from being served.
  const latest = own.find(({ message }) => message?.startsWith('stage=')) ?? own[0];
  return latest?.message ?? '';
}

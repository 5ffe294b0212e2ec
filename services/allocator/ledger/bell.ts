/** A bell on one key of etcd: it says "look", and never what there is to be seen. */
import type { Etcd3 } from 'etcd3';
import { pause } from '../../../lib/deadline.ts';
import { bytes } from './etcd-transaction.ts';

/** The bell also rings on this timer, in case a watch died silently. */
const pollMs = 1_000;
const reopenMs = 500;

/**
 * Rings at once, and whenever a key may have changed: at least once after each change, and now and then without. Ends with
 * the signal.
 */
export async function* bellOf(client: Etcd3, key: string, signal: AbortSignal): AsyncIterable<void> {
  const ringer = new AbortController();
  let wake = new AbortController();
  void ringOnWatch(client, key, () => wake.abort(), AbortSignal.any([signal, ringer.signal]));
  try {
    while (!signal.aborted) {
      yield;
      await pause(pollMs, AbortSignal.any([signal, wake.signal]));
      wake = new AbortController();
    }
  } finally {
    ringer.abort();
  }
}

/** A watch that only says "look": whatever happens to it, it is opened anew. */
async function ringOnWatch(client: Etcd3, key: string, ring: () => void, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const watch = await client.watchClient.watch();
      const ended = new Promise<void>((resolve) => {
        watch.on('data', ring);
        watch.on('end', () => resolve());
        watch.on('error', () => resolve());
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
      watch.write({ create_request: { key: bytes(key) } });
      await ended;
      // One that breaks while it can be written to passes for a host that fails, and takes every other call on its way with it.
      watch.end();
      watch.cancel();
    } catch {
      // not reachable now; the timer rings meanwhile
    }
    await pause(reopenMs, signal);
  }
}

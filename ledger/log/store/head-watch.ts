/** Reports that an etcd key may have changed. The consumer reads the key itself. */
import type { Duplex } from 'node:stream';
import type { Metadata } from '@grpc/grpc-js';
import type { Etcd3 } from 'etcd3';
import { pause } from '../../../lib/process/abortable.ts';
import { poolOf } from './connection-pool.ts';
import { toBytes } from './etcd-transaction.ts';

/** The longest time between two yields, in case a watch stops silently. */
const pollMs = 1_000;
const reopenMs = 500;

/** Yields immediately, after each change of the key, and every {@link pollMs}. */
export async function* watchKey(client: Etcd3, key: string, signal: AbortSignal): AsyncIterable<void> {
  const stopped = new AbortController();
  let wake = new AbortController();
  void wakeOnChange(client, key, () => wake.abort(), AbortSignal.any([signal, stopped.signal]));
  try {
    while (!signal.aborted) {
      yield;
      await pause(pollMs, AbortSignal.any([signal, wake.signal]));
      wake = new AbortController();
    }
  } finally {
    stopped.abort();
  }
}

/** Calls `wake` for each response of a watch. Opens the watch again when it ends. */
async function wakeOnChange(client: Etcd3, key: string, wake: () => void, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const { watch, lost } = await openWatch(client);
      const ended = new Promise<void>((resolve) => {
        watch.on('data', wake);
        watch.on('end', () => resolve());
        watch.on('error', () => resolve());
        AbortSignal.any([signal, lost]).addEventListener('abort', () => resolve(), { once: true });
      });
      watch.write({ create_request: { key: toBytes(key) } });
      await ended;
      watch.end();
      watch.cancel();
    } catch {
      // etcd is unreachable. The timer continues to yield.
    }
    await pause(reopenMs, signal);
  }
}

interface WatchStream extends Duplex {
  cancel(): void;
}

/** Opens a watch stream, and returns it with the signal of its member. */
async function openWatch(client: Etcd3): Promise<{ readonly watch: WatchStream; readonly lost: AbortSignal }> {
  return poolOf(client).withConnection('Watch', ({ resource, client: service, metadata }) => {
    const { lost } = resource.faultHandling;
    const { watch } = service as unknown as { watch(metadata: Metadata): WatchStream };
    return { watch: watch.call(service, metadata), lost };
  });
}

/** Builds a read model from a served allocator, up to the head of its ledger. */
import { pino } from 'pino';
import { stream } from '../../lib/grpc/client.ts';
import type { ServedAllocator } from '../../services/allocator/grpc/testing/served-allocator.ts';
import { storeEvents } from '../../services/read-model/store-events.ts';
import { ReadModel } from '../../services/read-model/read-model.ts';
import { watchWithBytes } from '../../services/read-model/watch-replies.ts';

export async function buildReadModel(served: ServedAllocator, file: string): Promise<ReadModel> {
  const model = new ReadModel(file);
  const following = new AbortController();
  const ended = storeEvents({
    model,
    firstEvent: () => Promise.resolve(1),
    watch: (fromSeq, signal) => stream(served.client, watchWithBytes, { fromSeq }, { silenceMs: 20_000, signal }),
    log: pino({ level: 'silent' }),
    signal: following.signal,
  });
  await model.waitForSeq(served.replica.head.seq, new AbortController().signal);
  following.abort();
  await ended;
  return model;
}

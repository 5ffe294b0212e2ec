/** Builds a read model from a served allocator, up to the head of its ledger. */
import { pino } from 'pino';
import { stream } from '../../lib/grpc/client.ts';
import { createLedgerClient } from '../../lib/ledger-client/ledger-client.ts';
import type { ServedAllocator } from '../../services/allocator/grpc/testing/served-allocator.ts';
import { readStartState } from '../../services/read-model/read-start-state.ts';
import { storeEvents } from '../../services/read-model/store-events.ts';
import { ReadModel } from '../../services/read-model/read-model.ts';
import { watchWithBytes } from '../../services/read-model/watch-replies.ts';

/** Builds the read model. @param first the first event that it reads */
export async function buildReadModel(served: ServedAllocator, file: string, first = 1): Promise<ReadModel> {
  const model = new ReadModel(file);
  const following = new AbortController();
  const ended = storeEvents({
    model,
    firstEvent: () => Promise.resolve(first),
    readState: (seq) => readStartState(createLedgerClient(served.client, following.signal), seq),
    watch: (fromSeq, signal) => stream(served.client, watchWithBytes, { fromSeq }, { silenceMs: 20_000, signal }),
    log: pino({ level: 'silent' }),
    signal: following.signal,
  });
  await model.waitForSeq(served.replica.head.seq, new AbortController().signal);
  following.abort();
  await ended;
  return model;
}

/** Loads the state of the ledger from etcd when an allocator starts. */
import { retryUntil } from '../../lib/process/retry.ts';
import type { Logger } from '../../lib/process/log.ts';
import type { Ledger } from '../../ledger/log/store/ledger.ts';
import { Replica } from '../../ledger/log/reader/replica.ts';

/** Retries until etcd is available. @throws what Replica.load throws, except for outages; AbortError with the signal. */
export function loadReplica(ledger: Ledger, log: Logger, signal: AbortSignal): Promise<Replica> {
  return retryUntil({ until: Infinity, signal }, () => Replica.load(ledger, signal, undefined, log), {
    firstBackoffMs: 100,
    maxBackoffMs: 2_000,
    onRetry: ({ message }) => log.warn({ reason: message }, 'the ledger cannot be loaded yet'),
  });
}

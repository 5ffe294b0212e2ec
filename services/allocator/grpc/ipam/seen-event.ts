/** Compares the latest event that a client has seen with the ledger. */
import { IpledgerError } from '../../../../lib/errors.ts';
import type { Seq } from '../../../../ledger/domain/values/ledger.ts';

/**
 * Refuses a request of a client that has seen an event which the ledger does not have. After a
 * restore of etcd, the next address may be one that a container uses since the backup. The stream
 * of a pod-watcher freezes the ledger, and this request may arrive before it. An agent has no
 * stream.
 * @throws IpledgerError UNAVAILABLE; for a moment also from a writer that does not know the outcome
 * of its last transaction
 */
export function refuseUnknownEvent(seenSeq: Seq, headSeq: Seq): void {
  if (seenSeq <= headSeq) return;
  throw new IpledgerError(
    'UNAVAILABLE',
    `the client has seen event ${seenSeq}, and the ledger is at event ${headSeq}: repeat the request. If it stays so, etcd was restored from a backup: run ipledger recover`,
  );
}

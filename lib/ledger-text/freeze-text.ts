/** States how it was noticed that etcd was restored from a backup. */
import type { Freeze } from '../../proto/generated/ipledger.ts';

/** The client and what it has seen. A reporter without a later event saw the restore itself. */
export function describeFreeze({ known, head, reportedBy }: Freeze): string {
  const isLater = !known || !head || known.epoch !== head.epoch || known.seq > head.seq;
  return isLater
    ? `${reportedBy} has seen event ${known?.seq ?? 0} of epoch ${known?.epoch ?? 0}, which the ledger lacks`
    : `${reportedBy} has noticed the restore, and no client has reported a later event yet`;
}

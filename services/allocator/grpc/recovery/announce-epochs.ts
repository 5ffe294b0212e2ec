/** Announces a new epoch of the ledger to clients that send no calls. */
import type { Replica } from '../../../../ledger/log/reader/replica.ts';

/**
 * Ends all connections when an epoch begins. Idle agents send no calls, and a stream to each of
 * them would cost the allocator too much. An agent whose connection ended connects again and reads
 * the epoch (services/node-agent/bindings/ledger-epoch.ts).
 */
export function announceEpochs(replica: Pick<Replica, 'head' | 'onCommitted'>, endConnections: () => void): void {
  let { epoch } = replica.head;
  replica.onCommitted(() => {
    if (replica.head.epoch === epoch) return;
    ({ epoch } = replica.head);
    endConnections();
  });
}

/**
 * Announces to the clients of an allocator that the ledger has begun an epoch, without a call of
 * theirs.
 */
import type { Replica } from '../../../../ledger/log/reader/replica.ts';

/**
 * Ends the connections when an epoch begins. Agents at rest call nothing, and a stream for each
 * would be work for the allocator. An agent whose connection has ended connects again and reads the
 * epoch (services/node-agent/bindings/ledger-epoch.ts).
 */
export function announceEpochs(replica: Pick<Replica, 'head' | 'onCommitted'>, endConnections: () => void): void {
  let { epoch } = replica.head;
  replica.onCommitted(() => {
    if (replica.head.epoch === epoch) return;
    ({ epoch } = replica.head);
    endConnections();
  });
}

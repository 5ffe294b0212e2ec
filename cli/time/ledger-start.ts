/** When the ledger starts. */
import { LedgerService } from '../../proto/generated/ipledger.ts';
import type { LedgerClient } from '../clients/ledger-client.ts';

/** The time of the ledger's first event if that is after `instant` (RFC 3339); else undefined. */
export async function ledgerStartAfter(allocator: LedgerClient, instant: string): Promise<string | undefined> {
  const { oldestSeq, oldestAt } = await allocator.call(LedgerService.getStatus, {});
  return oldestSeq === 1 && oldestAt > instant ? oldestAt : undefined;
}

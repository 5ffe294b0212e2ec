/**
 * Reads the state of the ledger after an event from an allocator, for a store that begins there.
 */
import type { LedgerClient } from '../../lib/ledger-client/ledger-client.ts';
import { LedgerService, type StateAtReply } from '../../proto/generated/ipledger.ts';
import type { StartState } from './store/start-state.ts';

/** @throws IpledgerError if the ledger does not reach back to the event */
export async function readStartState(allocator: LedgerClient, seq: number): Promise<StartState> {
  const pages: StateAtReply[] = [];
  for await (const page of allocator.stream(LedgerService.stateAt, { pointInTime: { seq } })) pages.push(page);
  return {
    seq,
    at: pages.find(({ at }) => at !== '')?.at ?? '',
    subnets: pages.flatMap(({ subnets }) => subnets),
    records: pages.flatMap(({ records }) => records),
  };
}

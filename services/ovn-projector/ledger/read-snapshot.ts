/**
 * Reads a snapshot of the ledger. Its pages may have different positions. The events after the
 * position of the first page follow, so the model is consistent only from the position of the last
 * page on, and must not be projected before.
 */
import { type LedgerClient, requirePosition } from '../../../lib/ledger-client/ledger-client.ts';
import { readPages } from '../../../lib/ledger-client/pages.ts';
import {
  type Allocation,
  IpamService,
  LedgerService,
  type Position,
  SubnetsService,
} from '../../../proto/generated/ipledger.ts';
import type { ModelSnapshot } from './ledger-model.ts';

export interface LedgerSnapshot extends ModelSnapshot {
  /** The id of the ledger. */
  readonly ledger: string;
  /** The position of the first page. */
  readonly first: Position;
  /** The number of the last event that a page contains. */
  readonly lastSeq: number;
}

export async function readSnapshot(allocator: LedgerClient, signal: AbortSignal): Promise<LedgerSnapshot> {
  const { ledger } = await allocator.call(LedgerService.getStatus, {}, signal);
  const allocations = new Map<number, Allocation>();
  const positions: Position[] = [];
  const read = (pageToken: string) => allocator.call(IpamService.listAllocations, { pageToken }, signal);
  for await (const page of readPages(read)) {
    positions.push(requirePosition(page.position));
    for (const allocation of page.allocations) allocations.set(allocation.seq, allocation);
  }
  const { subnets, position } = await allocator.call(SubnetsService.listSubnets, {}, signal);
  positions.push(requirePosition(position));
  const lastSeq = Math.max(...positions.map(({ seq }) => seq));
  return { ledger, subnets, allocations: [...allocations.values()], first: requirePosition(positions[0]), lastSeq };
}

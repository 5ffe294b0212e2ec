/** Reads the allocations and the bindings of the ledger. */
import { type Allocation, IpamService, type Position, type SandboxBinding } from '../../proto/generated/ipledger.ts';
import type { LedgerClient } from './ledger-client.ts';
import { readPages, readAll } from '../../lib/ledger-client/pages.ts';

/** Selects allocations. An absent field matches all allocations. */
export interface AllocationFilter {
  readonly subnet?: string;
  readonly namespace?: string;
  readonly pod?: string;
  readonly node?: string;
}

/** Reads all pages. `position` is that of the last page. */
export async function listAllocations(
  allocator: LedgerClient,
  filter: { [Name in keyof AllocationFilter]: AllocationFilter[Name] | undefined },
): Promise<{ position: Position | undefined; allocations: Allocation[] }> {
  const read = (pageToken: string) => allocator.call(IpamService.listAllocations, { ...filter, pageToken });
  const all: Allocation[] = [];
  let last: Position | undefined;
  for await (const { position, allocations } of readPages(read)) {
    for (const each of allocations) all.push(each);
    last = position;
  }
  return { position: last, allocations: all };
}

/** Reads all pages. @param node '' for all nodes */
export const listBindings = (allocator: LedgerClient, node = ''): Promise<SandboxBinding[]> =>
  readAll(
    (pageToken) => allocator.call(IpamService.listBindings, { node, pageToken }),
    ({ bindings }) => bindings,
  );

/** The bindings of the ledger. */
import { IpamService, type SandboxBinding } from '../../proto/generated/ipledger.ts';
import type { LedgerClient } from './ledger-client.ts';
import { readPages } from './pages.ts';

const pageSize = 1_000;

/** Reads all pages. */
export async function listBindings(allocator: LedgerClient): Promise<SandboxBinding[]> {
  const read = (pageToken: string) => allocator.call(IpamService.listBindings, { pageSize, pageToken });
  const all: SandboxBinding[] = [];
  for await (const { bindings } of readPages(read)) for (const each of bindings) all.push(each);
  return all;
}

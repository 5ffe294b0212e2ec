/** The bindings of the ledger. */
import { IpamService, type SandboxBinding } from '../../proto/generated/ipledger.ts';
import type { LedgerClient } from './ledger-client.ts';
import { readPages } from './pages.ts';

/** Reads all pages. */
export async function listBindings(allocator: LedgerClient): Promise<SandboxBinding[]> {
  const read = (pageToken: string) => allocator.call(IpamService.listBindings, { pageToken });
  const all: SandboxBinding[] = [];
  for await (const { bindings } of readPages(read)) for (const each of bindings) all.push(each);
  return all;
}

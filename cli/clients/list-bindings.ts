/** The bindings of the ledger. */
import { readAll } from '../../lib/ledger-client/pages.ts';
import { IpamService, type SandboxBinding } from '../../proto/generated/ipledger.ts';
import type { LedgerClient } from './ledger-client.ts';

/** Reads all pages. */
export const listBindings = (allocator: LedgerClient): Promise<SandboxBinding[]> =>
  readAll(
    (pageToken) => allocator.call(IpamService.listBindings, { pageToken }),
    ({ bindings }) => bindings,
  );

/** The bindings of the ledger. */
import { readAll } from '../../lib/ledger-client/pages.ts';
import { IpamService, type SandboxBinding } from '../../proto/generated/ipledger.ts';
import type { LedgerClient } from './ledger-client.ts';

/** Reads all pages. @param node '' for all nodes */
export const listBindings = (allocator: LedgerClient, node = ''): Promise<SandboxBinding[]> =>
  readAll(
    (pageToken) => allocator.call(IpamService.listBindings, { node, pageToken }),
    ({ bindings }) => bindings,
  );

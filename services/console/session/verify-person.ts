/**
 * Verifies with the allocator that a person may read what the console shows: each permission that
 * the shared reads and the shared stream need. The allocator permits or refuses each call first.
 * The console itself has no rights on Kubernetes, and reviews nothing.
 */
import { type ErrorCode, IpledgerError } from '../../../lib/errors.ts';
import type { LedgerClient } from '../../../lib/ledger-client/ledger-client.ts';
import { IpamService, LedgerService, SubnetsService } from '../../../proto/generated/ipledger.ts';

/** A name that no Subnet has, so that the lists are empty. */
const noSubnet = '-';

const local = { consistency: 'CONSISTENCY_LOCAL' } as const;

/** @throws IpledgerError UNAUTHENTICATED; PERMISSION_DENIED with the permission that is missing */
export async function verifyPerson(client: LedgerClient): Promise<string> {
  const [{ caller }] = await Promise.all([
    client.call(LedgerService.getStatus, {}),
    client.call(LedgerService.nextAllocations, { subnet: noSubnet, address: '0.0.0.0', after: '1970-01-01T00:00:00Z' }),
    permitted(
      client.call(IpamService.getAddress, { subnet: noSubnet, address: '0.0.0.0', ...local }),
      'SUBNET_UNKNOWN',
    ),
    client.call(IpamService.listAllocations, {
      subnet: noSubnet,
      namespace: noSubnet,
      pod: noSubnet,
      pageSize: 1,
      ...local,
    }),
    client.call(SubnetsService.listSubnets, local),
    client.call(SubnetsService.listPools, local),
    permitted(watchNothing(client), 'INVALID_REQUEST'),
  ]);
  if (caller === '') throw new IpledgerError('UNAUTHENTICATED', 'the allocator names no user: upgrade it');
  return caller;
}

/** Passes if the call is permitted: a permitted call fails with `refusal`. */
async function permitted(call: Promise<unknown>, refusal: ErrorCode): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (IpledgerError.from(error).code !== refusal) throw error;
  }
}

/** Opens a stream of an unknown type: the allocator checks the permission, then refuses. */
async function watchNothing(client: LedgerClient): Promise<void> {
  for await (const _reply of client.stream(LedgerService.watch, { types: ['-'] })) return;
}

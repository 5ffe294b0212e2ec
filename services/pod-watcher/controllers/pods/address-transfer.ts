/** Decides which allocations a Pod may take over from an earlier Pod of its name. */
import type { MessageInput } from '../../../../proto/codec.ts';
import type { AttachmentRequest } from '../../../../proto/generated/ipledger.ts';
import type { HeldAllocation } from '../../ledger/ledger-events.ts';

/**
 * Whether one of the requests could be served by this allocation of an earlier Pod. The allocator decides about the transfer; in
 * doubt this returns true, and an allocation that is retained too long is released later.
 */
export function canTransfer(held: HeldAllocation, requests: readonly MessageInput<AttachmentRequest>[]): boolean {
  const request = requests.find(({ provider, ordinal = 0 }) => provider === held.provider && ordinal === held.ordinal);
  if (!request?.subnets?.includes(held.subnet)) return false;
  const heldAddresses = new Set(held.addresses.map(({ address }) => address));
  const candidates = request.candidates ?? [];
  return (
    candidates.length === 0 ||
    candidates.some(({ addresses = [] }) => addresses.every((each) => heldAddresses.has(each)))
  );
}

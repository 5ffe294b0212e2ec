/** What a Pod may take over from an earlier one of its name. */
import type { Input } from '../../../proto/codec.ts';
import type { AttachmentRequest } from '../../../proto/ipledger.ts';
import type { Holding } from '../ledger/facts.ts';

/**
 * Whether what an earlier Pod of the name holds is what one of these requests would be given, were it asked again. The
 * allocator decides so, too; where it looks closer, this says yes: what is kept too long is released later.
 */
export function takesOver(holding: Holding, requests: readonly Input<AttachmentRequest>[]): boolean {
  const request = requests.find(
    ({ provider, ordinal = 0 }) => provider === holding.provider && ordinal === holding.ordinal,
  );
  if (!request?.subnets?.includes(holding.subnet)) return false;
  const held = new Set(holding.addresses.map(({ address }) => address));
  const candidates = request.candidates ?? [];
  return candidates.length === 0 || candidates.some(({ addresses = [] }) => addresses.every((each) => held.has(each)));
}

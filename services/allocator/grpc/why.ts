/** Ledger.Why: the story of a Pod's name. */
import type { Input } from '../../../proto/codec.ts';
import type * as api from '../../../proto/ipledger.ts';
import { withBindings } from '../domain/questions.ts';
import { heldBy } from '../domain/state.ts';
import { everything } from '../ledger/filter.ts';
import { type Allocator, question } from './allocator.ts';
import { lookBack } from './history.ts';
import { allocationMessage, positionOf } from './messages.ts';
import { pageSize, required } from '../../../lib/serving/read.ts';
import type { CallContext } from '../../../lib/serving/serve.ts';

/**
 * What a Pod of that name holds now, and a page of what happened to all of them.
 * @throws IpledgerError INVALID_REQUEST; what the ledger throws.
 */
export async function why(
  allocator: Allocator,
  request: api.WhyRequest,
  context: CallContext,
): Promise<Input<api.WhyReply>> {
  const namespace = required('namespace', request.namespace);
  const pod = required('pod', request.pod);
  const { answer: allocations, head } = await question(allocator, context, (state) =>
    heldBy(state, namespace, pod).map((allocation) => allocationMessage(withBindings(state, allocation))),
  );
  const found = await lookBack(
    allocator,
    head.seq,
    {
      filter: { ...everything, namespace, pod },
      period: { since: -Infinity, until: Infinity },
      page: { token: request.pageToken, size: pageSize(request.pageSize, 100, 1_000) },
    },
    context.signal,
  );
  return { position: positionOf(head), allocations, ...found };
}

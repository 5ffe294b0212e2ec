/** Ledger.Why: the allocations and the history of a Pod name. */
import type { MessageInput } from '../../../../proto/codec.ts';
import type * as api from '../../../../proto/generated/ipledger.ts';
import { withBindings } from '../../../../ledger/domain/queries/queries.ts';
import { allocationsOfPodName } from '../../../../ledger/domain/state/state.ts';
import { matchAllEvents } from '../../../../ledger/log/reader/event-filter.ts';
import type { AllocatorContext } from '../allocator-context.ts';
import { runQuery } from '../run-query.ts';
import { searchHistoryPage } from './history.ts';
import { allocationMessage, positionMessage } from '../messages.ts';
import { resolvePageSize, requireField } from '../../../../lib/grpc/server/read-request.ts';
import type { CallContext } from '../../../../lib/grpc/server/serve.ts';

/**
 * Returns the allocations of the Pod, and one page of the events of all Pods of that name.
 * @throws IpledgerError INVALID_REQUEST; what the ledger throws.
 */
export async function explainPod(
  allocator: AllocatorContext,
  request: api.WhyRequest,
  context: CallContext,
): Promise<MessageInput<api.WhyReply>> {
  const namespace = requireField('namespace', request.namespace);
  const pod = requireField('pod', request.pod);
  const { answer: allocations, head } = await runQuery(allocator, context, (state) =>
    allocationsOfPodName(state, namespace, pod).map((allocation) => allocationMessage(withBindings(state, allocation))),
  );
  const found = await searchHistoryPage(
    allocator,
    head.seq,
    {
      filter: { ...matchAllEvents, namespace, pod },
      period: { since: -Infinity, until: Infinity },
      page: { token: request.pageToken, size: resolvePageSize(request.pageSize, 100, 1_000) },
    },
    context.signal,
  );
  return { position: positionMessage(head), allocations, ...found };
}

/** The handlers of the Ipam service. */
import { IpledgerError } from '../../../../lib/errors.ts';
import type { CallContext, Handlers } from '../../../../lib/grpc/server/serve.ts';
import type * as api from '../../../../proto/generated/ipledger.ts';
import { type IpamService } from '../../../../proto/generated/ipledger.ts';
import {
  addressRecord,
  listAllocations as pageOfAllocations,
  maxClaimsPerPage,
} from '../../../../ledger/domain/queries/queries.ts';
import { listBindings as pageOfBindings, placeOf } from '../../../../ledger/domain/queries/list-bindings.ts';
import type { State } from '../../../../ledger/domain/state/state.ts';
import { allocate } from './allocate.ts';
import { attach, bind, reportConflict, unbind } from './bind.ts';
import type { AllocatorContext } from '../allocator-context.ts';
import { visibleTo } from '../agent-view.ts';
import { runList, runQuery, submitCommand } from '../run-query.ts';
import {
  allocationMessage,
  positionMessage,
  readReleaseCause,
  addressRecordMessage,
  sandboxBindingMessage,
} from '../messages.ts';
import { countFitting } from '../../../../lib/net/page-size.ts';
import { resolvePageSize, readSeqToken, requireField } from '../../../../lib/grpc/server/read-request.ts';
import { bindingToken, readBindingToken, readName } from '../read-request.ts';
import { escapeUnprintable } from '../../../../lib/unprintable.ts';
import { reservationHandlers } from './reservations.ts';
import { waitForAllocation } from './wait.ts';
import type { PodWaiters } from './pod-waiters.ts';

export function ipamHandlers(allocator: AllocatorContext, waiters: PodWaiters): Handlers<typeof IpamService> {
  return {
    allocate: (request, context) => allocate(allocator, request, context),
    release: (request, context) => release(allocator, request, context),
    wait: (request, context) => waitForAllocation(allocator, waiters, request, context),
    attach: (request, context) => attach(allocator, waiters, request, context),
    bind: (request, context) => bind(allocator, request, context),
    unbind: (request, context) => unbind(allocator, request, context),
    reportConflict: (request, context) => reportConflict(allocator, request, context),
    getAddress: (request, context) => getAddress(allocator, request, context),
    listAllocations: (request, context) => listAllocations(allocator, request, context),
    listBindings: (request, context) => listBindings(allocator, request, context),
    ...reservationHandlers(allocator),
  };
}

async function release(allocator: AllocatorContext, request: api.ReleaseRequest, context: CallContext) {
  const [namespace, pod] = [readName('namespace', request.namespace), readName('pod', request.pod)];
  const uid = readName('pod_uid', request.podUid);
  const cause = readReleaseCause(request.cause);
  if (!cause) throw new IpledgerError('INVALID_REQUEST', 'cause is missing: set the cause of the release');
  const evidence = escapeUnprintable(request.evidence);
  const alloc = request.allocationSeq || undefined;
  const { answer, head } = await submitCommand(
    allocator,
    context,
    (now) => ({ type: 'Release', now, namespace, pod, uid, cause, evidence, ...(alloc && { alloc }) }),
    (_state, events) => events.length,
  );
  return { position: positionMessage(head), released: answer };
}

async function getAddress(allocator: AllocatorContext, request: api.GetAddressRequest, context: CallContext) {
  const [subnet, address] = [requireField('subnet', request.subnet), requireField('address', request.address)];
  const record = (state: State, now: number) => addressRecord(state, subnet, address, now);
  const { answer, head } = await runQuery(allocator, context, record, request);
  return { position: positionMessage(head), record: addressRecordMessage(answer) };
}

async function listAllocations(allocator: AllocatorContext, request: api.ListAllocationsRequest, context: CallContext) {
  const filter = Object.fromEntries(
    (['subnet', 'namespace', 'pod', 'node'] as const).flatMap((field) =>
      request[field] ? [[field, request[field]]] : [],
    ),
  );
  const afterSeq = request.pageToken === '' ? 0 : readSeqToken(request.pageToken);
  const page = { afterSeq, size: resolvePageSize(request.pageSize, maxClaimsPerPage) };
  const { answer, head } = await runList(
    allocator,
    context,
    (state) => pageOfAllocations(state, filter, page),
    request,
  );
  const all = answer.allocations.map((allocation) => allocationMessage(visibleTo(context, allocation)));
  const allocations = all.slice(0, countFitting(all));
  const next = allocations.length < all.length ? allocations.at(-1)?.seq : answer.nextAfterSeq;
  return { position: positionMessage(head), allocations, nextPageToken: next === undefined ? '' : String(next) };
}

async function listBindings(allocator: AllocatorContext, request: api.ListBindingsRequest, context: CallContext) {
  const { node } = request;
  const page = {
    after: readBindingToken(request.pageToken),
    size: resolvePageSize(request.pageSize, maxClaimsPerPage),
  };
  const { answer, head } = await runList(allocator, context, (state) => pageOfBindings(state, node, page), request);
  const bindings = answer.bindings.slice(0, countFitting(answer.bindings));
  const last = bindings.at(-1);
  const next = last && bindings.length < answer.bindings.length ? placeOf(last) : answer.next;
  return {
    position: positionMessage(head),
    bindings: bindings.map(sandboxBindingMessage),
    nextPageToken: next ? bindingToken(next) : '',
  };
}

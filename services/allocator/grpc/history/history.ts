/**
 * Ledger.History returns the events of one address, Pod, owner, node or Subnet, newest first.
 * Ledger.Why returns those of a Pod name.
 */
import type { MessageInput } from '../../../../proto/codec.ts';
import type * as api from '../../../../proto/generated/ipledger.ts';
import type { Seq } from '../../../../ledger/domain/values/ledger.ts';
import { lastSeqBefore, scanReverse } from '../../../../ledger/log/reader/reverse-scan.ts';
import { type EventFilter, matchAllEvents } from '../../../../ledger/log/reader/event-filter.ts';
import type { SharedTurns } from '../../../../lib/process/shared-turns.ts';
import type { AllocatorContext } from '../allocator-context.ts';
import { runQuery } from '../run-query.ts';
import { eventMessage, positionMessage, estimateEventBytes, allocationMessage } from '../messages.ts';
import { countFitting } from '../../../../lib/net/page-size.ts';
import {
  type PageRequest,
  type Period,
  readHistory,
  readNewestSeq,
  readSeqToken,
  readHistoryPage,
  requireField,
} from '../../../../lib/grpc/server/read-request.ts';
import { readAddress } from '../read-request.ts';
import type { CallContext } from '../../../../lib/grpc/server/serve.ts';
import { getAddressHistory } from './address-history.ts';
import { withBindings } from '../../../../ledger/domain/queries/queries.ts';
import { allocationsOfPodName } from '../../../../ledger/domain/state/state.ts';

/** The ledger, and the turns of the event loop in which scanned events are parsed. */
export interface ScannedLog {
  readonly allocator: AllocatorContext;
  readonly turns: SharedTurns;
}

/**
 * Returns one page. The events of an address are linked. For all other subjects the log is scanned.
 * @throws IpledgerError INVALID_REQUEST, ADDRESS_UNKNOWN; what the ledger throws.
 */
export async function getHistory(
  log: ScannedLog,
  request: api.HistoryRequest,
  context: CallContext,
): Promise<MessageInput<api.HistoryReply>> {
  const { about, period, page } = readHistory(request);
  const newestSeq = readNewestSeq(request);
  const filter = { ...matchAllEvents, ...about, address: about.address === '' ? '' : readAddress(about.address) };
  return filter.address === ''
    ? scanLog(log, { filter, period, page }, context)
    : getAddressHistory(
        log.allocator,
        { address: filter.address, subnet: filter.subnet, newestSeq, period, page },
        context,
      );
}

interface ScanRequest {
  readonly filter: EventFilter;
  readonly period: Period;
  readonly page: PageRequest;
}

async function scanLog(
  log: ScannedLog,
  request: ScanRequest,
  context: CallContext,
): Promise<MessageInput<api.HistoryReply>> {
  const { head } = await runQuery(log.allocator, context, () => undefined);
  const found = await searchHistoryPage(log, head.seq, request, context.signal);
  return { position: positionMessage(head), ...found };
}

/**
 * Scans the log backwards from `newest` for one page. The page token is the event at which the next
 * page begins.
 */
async function searchHistoryPage(
  { allocator, turns }: ScannedLog,
  newest: Seq,
  { filter, period, page }: ScanRequest,
  signal: AbortSignal,
): Promise<Pick<MessageInput<api.HistoryReply>, 'events' | 'nextPageToken' | 'searchedDownToSeq'>> {
  const { ledger, state } = allocator.replica;
  const { until } = period;
  const sealed = { ledger, segments: state.segments };
  const first = until === Infinity ? newest : await lastSeqBefore(sealed, until, newest, signal);
  const from = page.token === '' ? first : Math.min(first, readSeqToken(page.token));
  const found = await scanReverse(ledger, { filter, from, since: period.since, maxEvents: page.size, turns }, signal);
  const events = found.events.slice(0, countFitting(found.events, estimateEventBytes));
  const isCut = events.length < found.events.length;
  const searched = isCut ? (events.at(-1)?.envelope.seq ?? found.scannedFrom) : found.scannedFrom;
  return {
    events: events.map(eventMessage),
    nextPageToken: isCut || found.hasMore ? String(searched - 1) : '',
    searchedDownToSeq: searched,
  };
}

/**
 * Returns the allocations of the Pod, and one page of the events of all Pods of that name.
 * @throws IpledgerError INVALID_REQUEST; what the ledger throws.
 */
export async function explainPod(
  log: ScannedLog,
  request: api.WhyRequest,
  context: CallContext,
): Promise<MessageInput<api.WhyReply>> {
  const namespace = requireField('namespace', request.namespace);
  const pod = requireField('pod', request.pod);
  const { answer: allocations, head } = await runQuery(log.allocator, context, (state) =>
    allocationsOfPodName(state, namespace, pod).map((allocation) => allocationMessage(withBindings(state, allocation))),
  );
  const found = await searchHistoryPage(
    log,
    head.seq,
    {
      filter: { ...matchAllEvents, namespace, pod },
      period: { since: -Infinity, until: Infinity },
      page: readHistoryPage(request),
    },
    context.signal,
  );
  return { position: positionMessage(head), allocations, ...found };
}

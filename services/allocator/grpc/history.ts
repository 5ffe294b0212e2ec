/** Ledger.History: what happened to one address, Pod, owner, node or subnet, newest first. */
import type { Input } from '../../../proto/codec.ts';
import type * as api from '../../../proto/ipledger.ts';
import type { Seq } from '../domain/event.ts';
import { lastBefore, searchBackwards } from '../ledger/backwards.ts';
import { type EventFilter, everything } from '../ledger/filter.ts';
import { type Allocator, question } from './allocator.ts';
import { eventMessage, positionOf, weightOfEvent } from './messages.ts';
import { countFitting } from '../../../lib/serving/page-bytes.ts';
import { type Page, type Period, readHistory, readSeqToken } from '../../../lib/serving/read.ts';
import { readAddress } from './read.ts';
import type { CallContext } from '../../../lib/serving/serve.ts';
import { walkOf } from './walk.ts';

/**
 * One page of it. An address is found by the walk along `before`; everything else by looking through the log.
 * @throws IpledgerError INVALID_REQUEST, ADDRESS_UNKNOWN; what the ledger throws.
 */
export async function history(
  allocator: Allocator,
  request: api.HistoryRequest,
  context: CallContext,
): Promise<Input<api.HistoryReply>> {
  const { about, period, page } = readHistory(request);
  const filter = { ...everything, ...about, address: about.address === '' ? '' : readAddress(about.address) };
  return filter.address === ''
    ? search(allocator, { filter, period, page }, context)
    : walkOf(allocator, { address: filter.address, subnet: filter.subnet, period, page }, context);
}

interface Search {
  readonly filter: EventFilter;
  readonly period: Period;
  readonly page: Page;
}

async function search(allocator: Allocator, asked: Search, context: CallContext): Promise<Input<api.HistoryReply>> {
  const { head } = await question(allocator, context, () => undefined);
  const found = await lookBack(allocator, head.seq, asked, context.signal);
  return { position: positionOf(head), ...found };
}

/** The page of a search that begins at an event of the log; its token is the event to go on at. */
export async function lookBack(
  { replica: { ledger } }: Allocator,
  newest: Seq,
  { filter, period, page }: Search,
  signal: AbortSignal,
): Promise<Pick<Input<api.HistoryReply>, 'events' | 'nextPageToken' | 'searchedSeq'>> {
  const first = period.until === Infinity ? newest : await lastBefore(ledger, period.until, newest, signal);
  const from = page.token === '' ? first : Math.min(first, readSeqToken(page.token));
  const found = await searchBackwards(ledger, { filter, from, since: period.since, most: page.size }, signal);
  const events = found.events.slice(0, countFitting(found.events, weightOfEvent));
  const isCut = events.length < found.events.length;
  const searched = isCut ? (events.at(-1)?.envelope.seq ?? found.searched) : found.searched;
  return {
    events: events.map(eventMessage),
    nextPageToken: isCut || found.more ? String(searched - 1) : '',
    searchedSeq: searched,
  };
}

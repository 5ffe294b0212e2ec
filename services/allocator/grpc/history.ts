/** Ledger.History: what happened to one address, Pod, owner, node or subnet, newest first. */
import { IpledgerError } from '../../../lib/errors.ts';
import type { Input } from '../../../proto/codec.ts';
import type * as api from '../../../proto/ipledger.ts';
import type { Seq } from '../domain/event.ts';
import { lastBefore, searchBackwards } from '../ledger/backwards.ts';
import { type EventFilter, everything } from '../ledger/filter.ts';
import { type Allocator, question } from './allocator.ts';
import { eventMessage, positionOf } from './messages.ts';
import { limited, pageSize, readAddress, readInstant } from './read.ts';
import type { CallContext } from '../../../lib/serving/serve.ts';
import { type Page, type Period, walkOf } from './walk.ts';

/**
 * One page of it. An address is found by the walk along `before`; everything else by looking through the log.
 * @throws IpledgerError INVALID_REQUEST, ADDRESS_UNKNOWN; what the ledger throws.
 */
export async function history(
  allocator: Allocator,
  request: api.HistoryRequest,
  context: CallContext,
): Promise<Input<api.HistoryReply>> {
  const filter = wanted(request);
  const period: Period = {
    since: readInstant('since', request.since) ?? -Infinity,
    until: readInstant('until', request.until) ?? Infinity,
  };
  const page = { token: request.pageToken, size: pageSize(request.pageSize, 100, 1_000) };
  return filter.address === ''
    ? search(allocator, { filter, period, page }, context)
    : walkOf(allocator, { address: filter.address, subnet: filter.subnet, period, page }, context);
}

/** What a request is about: one thing at most. */
function wanted({ address, subnet, namespace, pod, owner, node }: api.HistoryRequest): EventFilter {
  const things = { address, pod, owner: owner ? owner.uid + owner.kind + owner.name : '', node };
  const named = Object.entries(things).flatMap(([name, value]) => (value === '' ? [] : [name]));
  if (named.length > 1) throw invalid(`one thing at a time: it names ${named.join(' and ')}`);
  if (pod !== '' && namespace === '') throw invalid(`pod ${pod}: its namespace is missing`);
  if (namespace !== '' && pod === '' && !named.includes('owner'))
    throw invalid(`namespace ${namespace}: it goes with a pod or an owner`);
  return {
    ...everything,
    address: address === '' ? '' : readAddress(address),
    subnet: limited('subnet', subnet),
    namespace: limited('namespace', namespace),
    pod: limited('pod', pod),
    node: limited('node', node),
    ...(owner && {
      owner: {
        kind: limited('owner.kind', owner.kind),
        name: limited('owner.name', owner.name),
        uid: limited('owner.uid', owner.uid),
      },
    }),
  };
}

const invalid = (message: string): IpledgerError => new IpledgerError('INVALID_REQUEST', message);

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
  const from = page.token === '' ? first : Math.min(first, readToken(page.token));
  const { events, searched, more } = await searchBackwards(
    ledger,
    { filter, from, since: period.since, most: page.size },
    signal,
  );
  return {
    events: events.map(eventMessage),
    nextPageToken: more ? String(searched - 1) : '',
    searchedSeq: searched,
  };
}

function readToken(token: string): Seq {
  if (!/^[1-9]\d{0,15}$/.test(token)) throw invalid(`page_token "${token}" is not one that a reply gave`);
  return Number(token);
}

/**
 * The history of one address. Each event names the previous event of each of its addresses
 * (`before`). The query starts at the last event of the claim and follows these links, with one
 * read per event. Where the claim was dropped, it continues at the event that dropped it.
 */
import { IpledgerError, isPositionGone } from '../../../../lib/errors.ts';
import type { MessageInput } from '../../../../proto/codec.ts';
import type * as api from '../../../../proto/generated/ipledger.ts';
import type { Seq } from '../../../../ledger/domain/values/ledger.ts';
import { claimOf, type State } from '../../../../ledger/domain/state/state.ts';
import type { StoredEvent } from '../../../../ledger/log/chain/chain.ts';
import { DropChain } from '../../../../ledger/log/reader/drop-chain.ts';
import type { Ledger } from '../../../../ledger/log/store/ledger.ts';
import { parseLine } from '../../../../ledger/log/store/stored-line.ts';
import type { PageRequest, Period } from '../../../../lib/grpc/server/read-request.ts';
import type { AllocatorContext } from '../allocator-context.ts';
import { runQuery } from '../run-query.ts';
import { eventMessage, positionMessage, estimateEventBytes } from '../messages.ts';
import { maxPageBytes } from '../../../../lib/net/page-size.ts';
import type { CallContext } from '../../../../lib/grpc/server/serve.ts';

/** The most reads for a page. Events after the period are read, but not returned. */
const maxSteps = 1_000;
/** The most time for a page. A page ends early if etcd is slow, before the caller's deadline. */
const maxMs = 5_000;

export interface AddressHistoryQuery {
  readonly address: string;
  /** The Subnet; '' for all Subnets. */
  readonly subnet: string;
  /** The event in `subnet` with which the first page begins; 0 for the newest. */
  readonly newestSeq: Seq;
  readonly period: Period;
  readonly page: PageRequest;
}

/** The next event to read, by Subnet. −n means the last event before n that dropped the claim. */
type Cursors = Map<string, Seq>;

/**
 * Where the history begins in a Subnet: the last event of the claim (0 without a claim), and the
 * last events that dropped claims of the Subnet.
 */
interface HistoryStart {
  readonly last: Seq;
  readonly dropped: readonly Seq[];
}

/**
 * Returns one page.
 * @throws IpledgerError ADDRESS_UNKNOWN; LEDGER_DAMAGED if an event is missing; what the ledger
 * throws.
 */
export async function getAddressHistory(
  allocator: AllocatorContext,
  query: AddressHistoryQuery,
  context: CallContext,
): Promise<MessageInput<api.HistoryReply>> {
  const { address, subnet, page } = query;
  const { answer: starts, head } = await runQuery(allocator, context, (state) => startsOf(state, address, subnet));
  const { ledger } = allocator.replica;
  const chains = new Map(
    [...starts].map(([name, { dropped }]) => {
      const chain = new DropChain(ledger, { subnet: name, address }, dropped, context.signal);
      return [name, chain] as const;
    }),
  );
  const isFirst = page.token === '';
  const cursors = isFirst ? firstCursors(starts, query, head.seq) : readCursors(page.token, starts);
  await resolveDrops(cursors, chains);
  if (isFirst && cursors.size === 0)
    throw new IpledgerError(
      'ADDRESS_UNKNOWN',
      `${address} was never used${subnet ? ` in subnet ${subnet}` : ' in any subnet'}`,
    );
  const subnets = isFirst ? [...cursors.keys()].toSorted() : [];
  const events = await readPage({ ledger, chains, cursors }, query, context.signal);
  return {
    position: positionMessage(head),
    events: events.map(eventMessage),
    nextPageToken: writeCursors(cursors),
    searchedDownToSeq: Math.max(1, ...[...cursors.values()].map((cursor) => (cursor > 0 ? cursor + 1 : -cursor))),
    subnets,
  };
}

function startsOf(state: State, address: string, subnet: string): Map<string, HistoryStart> {
  const subnets = subnet === '' ? new Set([...state.claims.keys(), ...state.dropped.keys()]) : [subnet];
  return new Map(
    [...subnets].flatMap((name) => {
      const last = claimOf(state, name, address)?.last ?? 0;
      const dropped = state.dropped.get(name) ?? [];
      return last > 0 || dropped.length > 0 ? [[name, { last, dropped }] as const] : [];
    }),
  );
}

function firstCursors(starts: ReadonlyMap<string, HistoryStart>, query: AddressHistoryQuery, head: Seq): Cursors {
  const { newestSeq, subnet } = query;
  if (newestSeq === 0) return new Map([...starts].map(([name, { last }]) => [name, last || -(head + 1)] as const));
  if (newestSeq > lastOf(starts.get(subnet))) throw invalidStart(query);
  return new Map([[subnet, newestSeq]]);
}

/** The newest event that the state names for the address. */
const lastOf = ({ last, dropped: [lastDrop = 0] }: HistoryStart = { last: 0, dropped: [] }): Seq =>
  Math.max(last, lastDrop);

/** Replaces cursors below 0. The history of a Subnet ends if there is no older drop. */
async function resolveDrops(cursors: Cursors, chains: ReadonlyMap<string, DropChain>): Promise<void> {
  for (const [subnet, cursor] of cursors)
    if (cursor < 0) {
      const drop = (await chains.get(subnet)?.lastBefore(-cursor)) ?? 0;
      if (drop > 0) cursors.set(subnet, drop);
      else cursors.delete(subnet);
    }
}

interface Walk {
  readonly ledger: Ledger;
  readonly chains: ReadonlyMap<string, DropChain>;
  readonly cursors: Cursors;
}

/** Reads one page of all Subnets, newest first. The cursors then point to the next page. */
async function readPage(
  { ledger, chains, cursors }: Walk,
  query: AddressHistoryQuery,
  signal: AbortSignal,
): Promise<StoredEvent[]> {
  const { address, period, page } = query;
  const events: StoredEvent[] = [];
  const end = performance.now() + maxMs;
  let bytes = 0;
  const isOver = (step: number): boolean =>
    step >= maxSteps || bytes > maxPageBytes || (step > 0 && performance.now() > end);
  // The page ends at events that were dropped, or are sealed without an archive. The next page
  // throws the error.
  const unlessGone = (error: unknown): undefined => {
    if (!isPositionGone(error) || (events.length === 0 && page.token !== '')) throw error;
  };
  for (let step = 0; !isOver(step) && cursors.size > 0 && events.length < page.size; step++) {
    const [subnet, seq] = [...cursors].reduce((newest, cursor) => (cursor[1] > newest[1] ? cursor : newest));
    const event = await eventAt(ledger, seq, address, signal).catch(unlessGone);
    if (!event) break;
    const { before, subnet: about } = event.envelope;
    if (about !== subnet || before[address] === undefined) throw unexpectedEvent(query, seq);
    if (event.sequenced.at < period.since) {
      cursors.clear();
      break;
    }
    if (event.sequenced.at < period.until) {
      events.push(event);
      bytes += estimateEventBytes(event);
    }
    cursors.set(subnet, before[address] > 0 ? before[address] : -seq);
    if (!(await resolveDrops(cursors, chains).then(() => true, unlessGone))) break;
  }
  return events;
}

async function eventAt(ledger: Ledger, seq: Seq, address: string, signal: AbortSignal): Promise<StoredEvent> {
  const [line] = await ledger.readEach([seq], signal);
  if (line) return parseLine(line);
  throw new IpledgerError(
    'LEDGER_DAMAGED',
    `the history of ${address} contains event ${seq}, which is not in the log: run ipledger verify`,
  );
}

/** Thrown if the request, or an event of the log, names an event without the address. */
function unexpectedEvent(query: AddressHistoryQuery, seq: Seq): IpledgerError {
  const { address, page, newestSeq } = query;
  if (page.token === '' && seq === newestSeq) return invalidStart(query);
  const isOfToken = page.token.split(',').some((part) => part.endsWith(`=${seq}`));
  if (isOfToken) return invalidToken(page.token);
  return new IpledgerError(
    'LEDGER_DAMAGED',
    `the history of ${address} contains event ${seq}, which is not about that address: run ipledger verify`,
  );
}

const writeCursors = (cursors: Cursors): string => [...cursors].map(([subnet, seq]) => `${subnet}=${seq}`).join(',');

/** @throws IpledgerError INVALID_REQUEST for a token whose event or Subnet no reply can contain */
function readCursors(token: string, starts: ReadonlyMap<string, HistoryStart>): Cursors {
  return new Map(
    token.split(',').map((part) => {
      const [, subnet = '', digits = ''] = /^([^=]+)=(-?[1-9]\d{0,15})$/.exec(part) ?? [];
      if (digits === '' || Math.abs(Number(digits)) > lastOf(starts.get(subnet))) throw invalidToken(token);
      return [subnet, Number(digits)];
    }),
  );
}

const invalidStart = ({ address, subnet, newestSeq }: AddressHistoryQuery): IpledgerError =>
  new IpledgerError(
    'INVALID_REQUEST',
    `newest_seq ${newestSeq} is not an event of ${address} in subnet ${subnet}: omit it to begin with the newest event`,
  );

const invalidToken = (token: string): IpledgerError =>
  new IpledgerError(
    'INVALID_REQUEST',
    `page_token "${token}" is not from a reply to this request: omit it to read the first page`,
  );

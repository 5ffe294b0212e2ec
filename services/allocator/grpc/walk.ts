/** The story of one address: a walk along `before`, from the key's last event back through the log, one read an event. */
import { IpledgerError, isGone } from '../../../lib/errors.ts';
import type { Input } from '../../../proto/codec.ts';
import type * as api from '../../../proto/ipledger.ts';
import type { Seq } from '../domain/event.ts';
import { claimOf, type State } from '../domain/state.ts';
import { parseEvent, type StoredEvent } from '../ledger/chain.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Page, Period } from '../../../lib/serving/read.ts';
import { type Allocator, question } from './allocator.ts';
import { eventMessage, positionOf, weightOfEvent } from './messages.ts';
import { mostPageBytes } from '../../../lib/serving/page-bytes.ts';
import type { CallContext } from '../../../lib/serving/serve.ts';

/** Events that are younger than the period have to be walked over, and cost as much as those that are told. */
const mostSteps = 1_000;
/** However slow etcd is, a call ends long before its caller gives up: what was found by then is its page. */
const mostMs = 5_000;

export interface Walk {
  readonly address: string;
  /** '': all that know the address. */
  readonly subnet: string;
  readonly period: Period;
  readonly page: Page;
}

/** Where a walk stands: by subnet, the next event to read. */
type Cursors = Map<string, Seq>;

/**
 * One page of it.
 * @throws IpledgerError ADDRESS_UNKNOWN; LEDGER_DAMAGED where an event is missing; what the ledger throws.
 */
export async function walkOf(allocator: Allocator, walk: Walk, context: CallContext): Promise<Input<api.HistoryReply>> {
  const { address, subnet, page } = walk;
  const { answer: newest, head } = await question(allocator, context, (state) => lastEvents(state, address, subnet));
  if (newest.size === 0)
    throw new IpledgerError(
      'ADDRESS_UNKNOWN',
      `${address} was never used${subnet ? ` in subnet ${subnet}` : ' in any subnet'}`,
    );
  const isFirst = page.token === '';
  const subnets = isFirst ? [...newest.keys()].toSorted() : [];
  const cursors = isFirst ? newest : readCursors(page.token, newest);
  const events = await stepBack(allocator.replica.ledger, cursors, walk, context.signal);
  return {
    position: positionOf(head),
    events: events.map(eventMessage),
    nextPageToken: writeCursors(cursors),
    searchedSeq: Math.max(0, ...cursors.values()) + 1,
    subnets,
  };
}

function lastEvents(state: State, address: string, subnet: string): Cursors {
  const subnets = subnet === '' ? [...state.claims.keys()] : [subnet];
  return new Map(
    subnets.flatMap((name) => {
      const last = claimOf(state, name, address)?.last;
      return last ? [[name, last] as const] : [];
    }),
  );
}

/** Newest first over all subnets. Leaves the cursors at what comes next. */
async function stepBack(ledger: Ledger, cursors: Cursors, walk: Walk, signal: AbortSignal): Promise<StoredEvent[]> {
  const { address, period, page } = walk;
  const events: StoredEvent[] = [];
  const end = performance.now() + mostMs;
  let bytes = 0;
  const isOver = (step: number): boolean =>
    step >= mostSteps || bytes > mostPageBytes || (step > 0 && performance.now() > end);
  for (let step = 0; !isOver(step) && cursors.size > 0 && events.length < page.size; step++) {
    const [subnet, seq] = [...cursors].reduce((newest, cursor) => (cursor[1] > newest[1] ? cursor : newest));
    const event = await eventAt(ledger, seq, address, signal).catch((error: unknown) => {
      // What was found is told first; whoever goes on is told why there is no more.
      if (isGone(error) && events.length > 0) return undefined;
      throw error;
    });
    if (!event) break;
    const { before, subnet: about } = event.envelope;
    if (about !== subnet || before[address] === undefined) throw notOf(walk, seq);
    if (event.sequenced.at < period.since) {
      cursors.clear();
      break;
    }
    if (event.sequenced.at < period.until) {
      events.push(event);
      bytes += weightOfEvent(event);
    }
    if (before[address] > 0) cursors.set(subnet, before[address]);
    else cursors.delete(subnet);
  }
  return events;
}

async function eventAt(ledger: Ledger, seq: Seq, address: string, signal: AbortSignal): Promise<StoredEvent> {
  const [line] = await ledger.readEach([seq], signal);
  if (line) return parseEvent(line.text);
  throw new IpledgerError('LEDGER_DAMAGED', `event ${seq}, which the history of ${address} names, is not in the log`);
}

/** Either somebody made up a token, or the log names an event that is about something else. */
function notOf({ address, page }: Walk, seq: Seq): IpledgerError {
  const isOfToken = page.token.split(',').some((part) => part.endsWith(`=${seq}`));
  if (isOfToken) return notGiven(page.token);
  return new IpledgerError(
    'LEDGER_DAMAGED',
    `event ${seq}, which the history of ${address} names, is not about that address`,
  );
}

const writeCursors = (cursors: Cursors): string => [...cursors].map(([subnet, seq]) => `${subnet}=${seq}`).join(',');

/** @throws IpledgerError INVALID_REQUEST for a token that goes on behind the newest event, or in another subnet: no reply gave it. */
function readCursors(token: string, newest: Cursors): Cursors {
  return new Map(
    token.split(',').map((part) => {
      const [, subnet = '', digits = ''] = /^([^=]+)=([1-9]\d{0,15})$/.exec(part) ?? [];
      if (digits === '' || Number(digits) > (newest.get(subnet) ?? 0)) throw notGiven(token);
      return [subnet, Number(digits)];
    }),
  );
}

const notGiven = (token: string): IpledgerError =>
  new IpledgerError('INVALID_REQUEST', `page_token "${token}" is not one that a reply gave to this question`);

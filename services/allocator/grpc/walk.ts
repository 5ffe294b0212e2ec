/**
 * The story of one address: a walk along `before`, from the key's last event back through the log, one read an event. Where the
 * walk ends because the claim was dropped once, it goes on at the event that dropped it.
 */
import { IpledgerError, isGone } from '../../../lib/errors.ts';
import type { Input } from '../../../proto/codec.ts';
import type * as api from '../../../proto/ipledger.ts';
import type { Seq } from '../domain/event.ts';
import { claimOf, type State } from '../domain/state.ts';
import { parseEvent, type StoredEvent } from '../ledger/chain.ts';
import { DropChain } from '../ledger/drop-chain.ts';
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

/** Where a walk stands, by subnet: the next event to read; or below 0, if what is next is the drop before event −n. */
type Cursors = Map<string, Seq>;

/** What a subnet knows of the address: the last event about it that is not dropped (0: none), and its last drops. */
interface Known {
  readonly last: Seq;
  readonly dropped: readonly Seq[];
}

/**
 * One page of it.
 * @throws IpledgerError ADDRESS_UNKNOWN; LEDGER_DAMAGED where an event is missing; what the ledger throws.
 */
export async function walkOf(allocator: Allocator, walk: Walk, context: CallContext): Promise<Input<api.HistoryReply>> {
  const { address, subnet, page } = walk;
  const { answer: known, head } = await question(allocator, context, (state) => knownOf(state, address, subnet));
  const { ledger } = allocator.replica;
  const chains = new Map(
    [...known].map(([name, { dropped }]) => {
      const chain = new DropChain(ledger, { subnet: name, address }, dropped, context.signal);
      return [name, chain] as const;
    }),
  );
  const isFirst = page.token === '';
  const cursors = isFirst
    ? new Map([...known].map(([name, { last }]) => [name, last || -(head.seq + 1)] as const))
    : readCursors(page.token, known);
  await enterDrops(cursors, chains);
  if (isFirst && cursors.size === 0)
    throw new IpledgerError(
      'ADDRESS_UNKNOWN',
      `${address} was never used${subnet ? ` in subnet ${subnet}` : ' in any subnet'}`,
    );
  const subnets = isFirst ? [...cursors.keys()].toSorted() : [];
  const events = await stepBack({ ledger, chains, cursors }, walk, context.signal);
  return {
    position: positionOf(head),
    events: events.map(eventMessage),
    nextPageToken: writeCursors(cursors),
    searchedSeq: Math.max(1, ...[...cursors.values()].map((cursor) => (cursor > 0 ? cursor + 1 : -cursor))),
    subnets,
  };
}

function knownOf(state: State, address: string, subnet: string): Map<string, Known> {
  const subnets = subnet === '' ? new Set([...state.claims.keys(), ...state.dropped.keys()]) : [subnet];
  return new Map(
    [...subnets].flatMap((name) => {
      const last = claimOf(state, name, address)?.last ?? 0;
      const dropped = state.dropped.get(name) ?? [];
      return last > 0 || dropped.length > 0 ? [[name, { last, dropped }] as const] : [];
    }),
  );
}

/** Finds the drops that are next. A subnet that has no older one knows no more of the address. */
async function enterDrops(cursors: Cursors, chains: ReadonlyMap<string, DropChain>): Promise<void> {
  for (const [subnet, cursor] of cursors)
    if (cursor < 0) {
      const drop = (await chains.get(subnet)?.lastBefore(-cursor)) ?? 0;
      if (drop > 0) cursors.set(subnet, drop);
      else cursors.delete(subnet);
    }
}

interface Way {
  readonly ledger: Ledger;
  readonly chains: ReadonlyMap<string, DropChain>;
  readonly cursors: Cursors;
}

/** Newest first over all subnets. Leaves the cursors at what comes next. */
async function stepBack({ ledger, chains, cursors }: Way, walk: Walk, signal: AbortSignal): Promise<StoredEvent[]> {
  const { address, period, page } = walk;
  const events: StoredEvent[] = [];
  const end = performance.now() + mostMs;
  let bytes = 0;
  const isOver = (step: number): boolean =>
    step >= mostSteps || bytes > mostPageBytes || (step > 0 && performance.now() > end);
  // What was found is told first; whoever goes on is told why there is no more.
  const unlessGone = (error: unknown): undefined => {
    if (!isGone(error) || events.length === 0) throw error;
  };
  for (let step = 0; !isOver(step) && cursors.size > 0 && events.length < page.size; step++) {
    const [subnet, seq] = [...cursors].reduce((newest, cursor) => (cursor[1] > newest[1] ? cursor : newest));
    const event = await eventAt(ledger, seq, address, signal).catch(unlessGone);
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
    cursors.set(subnet, before[address] > 0 ? before[address] : -seq);
    if (!(await enterDrops(cursors, chains).then(() => true, unlessGone))) break;
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
function readCursors(token: string, known: ReadonlyMap<string, Known>): Cursors {
  return new Map(
    token.split(',').map((part) => {
      const [, subnet = '', digits = ''] = /^([^=]+)=(-?[1-9]\d{0,15})$/.exec(part) ?? [];
      const { last = 0, dropped: [lastDrop = 0] = [] } = known.get(subnet) ?? {};
      if (digits === '' || Math.abs(Number(digits)) > Math.max(last, lastDrop)) throw notGiven(token);
      return [subnet, Number(digits)];
    }),
  );
}

const notGiven = (token: string): IpledgerError =>
  new IpledgerError('INVALID_REQUEST', `page_token "${token}" is not one that a reply gave to this question`);

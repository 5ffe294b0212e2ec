/** The time whose events were lost when etcd was restored from a backup: of it the ledger tells less than happened. */
import { type Event, LedgerService, type Position } from '../proto/ipledger.ts';
import type { Allocator } from './allocator.ts';
import { type Moment, showTime, type Zone } from './times.ts';

/** How many events after one are searched for the restoration: on a frozen ledger containers still come and go. */
const mostWhileFrozen = 1_000;

export interface LostTime {
  /** When the last event happened that was not lost, and when the ledger went on. */
  readonly from: string;
  readonly until: string;
}

/** What was lost around an instant, RFC 3339, in a ledger that is at this position now; undefined: nothing. */
export async function lostAt(
  allocator: Allocator,
  position: Position | undefined,
  instant: string,
): Promise<LostTime | undefined> {
  if (!position || position.epoch <= 1) return undefined;
  const until = new Date(Date.parse(instant) + 1).toISOString();
  const { events } = await allocator.ask(LedgerService.history, { until, pageSize: 1 });
  return events[0] && lostAfter(allocator, events[0]);
}

/** What was lost behind an event, if that is where the backup ended, or one that was written before the ledger went on. */
async function lostAfter(allocator: Allocator, last: Pick<Event, 'seq' | 'at'>): Promise<LostTime | undefined> {
  const pageToken = String(last.seq + mostWhileFrozen);
  const { events } = await allocator.ask(LedgerService.history, { pageToken, pageSize: mostWhileFrozen });
  const restored = events.findLast(({ seq, ledgerRestored }) => ledgerRestored && seq > last.seq);
  const endSeq = restored?.ledgerRestored?.seq;
  if (!restored || endSeq === undefined || endSeq > last.seq) return undefined;
  const end = endSeq === last.seq ? last : await eventOf(allocator, endSeq);
  return { from: end?.at ?? last.at, until: restored.at };
}

/** The same around a moment that was asked for, and after the last event before it. */
export async function lostAtMoment(
  allocator: Allocator,
  moment: Moment | undefined,
  { position, at }: { readonly position?: Position | undefined; readonly at: string },
): Promise<LostTime | undefined> {
  if (!moment || !('at' in moment) || !position) return undefined;
  const now = await allocator.ask(LedgerService.history, { pageSize: 1 });
  return (now.position?.epoch ?? 1) > 1 ? lostAfter(allocator, { seq: position.seq, at }) : undefined;
}

async function eventOf(allocator: Allocator, seq: number): Promise<Event | undefined> {
  const { events } = await allocator.ask(LedgerService.history, { pageToken: String(seq), pageSize: 1 });
  return events.find((event) => event.seq === seq);
}

/** For a person. */
export const lostTimeText = ({ from, until }: LostTime, zone: Zone): string =>
  `what happened between ${showTime(from, zone)} and ${showTime(until, zone)} is lost: etcd was restored from a backup`;

/** Finds times without events: before the ledger's start, and lost by a restore of etcd. */
import { type Event, LedgerService, type Position } from '../../proto/generated/ipledger.ts';
import type { LedgerClient } from '../clients/ledger-client.ts';
import { type PointInTime, formatTime, type TimeZone } from './times.ts';

/** The most events that a frozen ledger records before LedgerRestored: binds and unbinds. */
const maxEventsWhileFrozen = 1_000;

export interface LostPeriod {
  /** Time of the last event in the backup. */
  readonly from: string;
  /** Time of LedgerRestored. */
  readonly until: string;
}

/** The lost period that contains `instant` (RFC 3339). @param position the current position */
export async function findLostPeriod(
  allocator: LedgerClient,
  position: Position | undefined,
  instant: string,
): Promise<LostPeriod | undefined> {
  if (!position || position.epoch <= 1) return undefined;
  const until = new Date(Date.parse(instant) + 1).toISOString();
  const { events } = await allocator.call(LedgerService.history, { until, pageSize: 1 });
  return events[0] && lostPeriodAfter(allocator, events[0]);
}

/** The lost period after an event that the backup or the frozen ledger recorded last. */
async function lostPeriodAfter(
  allocator: LedgerClient,
  last: Pick<Event, 'seq' | 'at'>,
): Promise<LostPeriod | undefined> {
  const pageToken = String(last.seq + maxEventsWhileFrozen);
  const { events } = await allocator.call(LedgerService.history, { pageToken, pageSize: maxEventsWhileFrozen });
  const restored = events.findLast(({ seq, ledgerRestored }) => ledgerRestored && seq > last.seq);
  const endSeq = restored?.ledgerRestored?.seq;
  if (!restored || endSeq === undefined || endSeq > last.seq) return undefined;
  const end = endSeq === last.seq ? last : await readEvent(allocator, endSeq);
  return { from: end?.at ?? last.at, until: restored.at };
}

/** Returns the lost period of `point`; `position` and `at` are of the last event before it. */
export async function lostEventsAt(
  allocator: LedgerClient,
  point: PointInTime | undefined,
  { position, at }: { readonly position?: Position | undefined; readonly at: string },
): Promise<LostPeriod | undefined> {
  if (!point || !('at' in point) || !position) return undefined;
  const now = await allocator.call(LedgerService.history, { pageSize: 1 });
  return (now.position?.epoch ?? 1) > 1 ? lostPeriodAfter(allocator, { seq: position.seq, at }) : undefined;
}

async function readEvent(allocator: LedgerClient, seq: number): Promise<Event | undefined> {
  const { events } = await allocator.call(LedgerService.history, { pageToken: String(seq), pageSize: 1 });
  return events.find((event) => event.seq === seq);
}

export const formatLostPeriod = ({ from, until }: LostPeriod, zone: TimeZone): string =>
  `events between ${formatTime(from, zone)} and ${formatTime(until, zone)} are lost: etcd was restored from a backup`;

/** The time of the ledger's first event if that is after `instant` (RFC 3339); else undefined. */
export async function ledgerStartAfter(allocator: LedgerClient, instant: string): Promise<string | undefined> {
  const { oldestSeq, oldestAt } = await allocator.call(LedgerService.getStatus, {});
  return oldestSeq === 1 && oldestAt > instant ? oldestAt : undefined;
}

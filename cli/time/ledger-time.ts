/** Compares ledger time with the clock of this machine, by which people give times. */
import { asRecord, asText, tryParseJson } from '../../lib/kubernetes/untyped-json.ts';
import { type Event, LedgerService } from '../../proto/generated/ipledger.ts';
import type { LedgerClient } from '../clients/ledger-client.ts';

/** The largest difference that is normal: an answer takes time, and clocks differ a little. */
const toleranceMs = 60_000;

/** `2 h 5 min ahead of`; undefined for less than a minute, and without ledger time. */
export function describeDifference(ledgerTime: string, now: number = Date.now()): string | undefined {
  const aheadMs = Date.parse(ledgerTime) - now;
  if (!(Math.abs(aheadMs) > toleranceMs)) return undefined;
  const minutes = Math.round(Math.abs(aheadMs) / 60_000);
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
  const text = [hours > 0 ? `${hours} h` : '', rest > 0 ? `${rest} min` : ''].filter((part) => part !== '').join(' ');
  return `${text} ${aheadMs > 0 ? 'ahead of' : 'behind'}`;
}

/** Ledger time now; "" if it cannot be read, and from an allocator that does not state it. */
export const readLedgerTime = async (allocator: LedgerClient): Promise<string> =>
  (await allocator.call(LedgerService.getStatus, {}).catch(() => undefined))?.ledgerTime ?? '';

const dayMs = 86_400_000;

/**
 * The time of an event for people: that of the machine's clock, which the event has beside its
 * ledger time, if ledger time differs now and differed then. A difference shrinks with each restart
 * of an allocator. After a much larger difference, or without a difference now, the clock of that
 * machine was wrong, and not ledger time.
 * @param ledgerTime ledger time now
 */
export function clockTimeOf(
  { at, stored }: Pick<Event, 'at' | 'stored'>,
  ledgerTime: string,
  now: number = Date.now(),
): string {
  if (describeDifference(ledgerTime, now) === undefined || !stored.includes('"clock":')) return at;
  const clock = asText(asRecord(tryParseJson(stored))['clock']);
  const [aheadNowMs, aheadMs] = [Date.parse(ledgerTime) - now, Date.parse(at) - Date.parse(clock)];
  const growthMs = Math.abs(aheadMs) - Math.abs(aheadNowMs);
  const isSame = Math.sign(aheadMs) === Math.sign(aheadNowMs) && growthMs >= -toleranceMs && growthMs <= dayMs;
  return isSame ? clock : at;
}

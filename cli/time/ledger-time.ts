/** Compares ledger time with the clock of this machine, by which people give times. */

/** An answer takes time, and clocks of machines differ a little. */
const toleranceMs = 60_000;

/** `2 h 5 min ahead of`, or undefined within a minute, and for an allocator that does not state ledger time. */
export function describeDifference(ledgerTime: string, now: number = Date.now()): string | undefined {
  const aheadMs = Date.parse(ledgerTime) - now;
  if (!(Math.abs(aheadMs) > toleranceMs)) return undefined;
  const minutes = Math.round(Math.abs(aheadMs) / 60_000);
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
  const text = [hours > 0 ? `${hours} h` : '', rest > 0 ? `${rest} min` : ''].filter((part) => part !== '').join(' ');
  return `${text} ${aheadMs > 0 ? 'ahead of' : 'behind'}`;
}

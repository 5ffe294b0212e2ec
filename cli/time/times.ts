/** Parses and formats times for people. Other formats keep the API's RFC 3339, in UTC. */
import { CliError } from '../cli-error.ts';

/** The zone of the times that the operator types and reads. */
export type TimeZone = 'local' | 'utc';

/** The accepted formats, for --help. */
export const timeFormats = "RFC 3339, '2026-11-17 14:05[:30]', '14:05' (today), '2h ago' or now";

/** The range of years with four digits. */
const firstMs = Date.parse('0000-01-01T00:00:00Z');
const lastMs = Date.parse('9999-12-31T23:59:59.999Z');

const unitMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** Parses a time. Returns RFC 3339 in UTC. @throws CliError for an invalid or ambiguous time. */
export function parseTime(text: string, zone: TimeZone, now: number = Date.now()): string {
  const found = findInstants(text.trim(), zone, now).map((at) => new Date(at));
  const [at, again] = found.filter((date) => date.getTime() >= firstMs && date.getTime() <= lastMs);
  if (!at) throw new CliError('usage', `"${text}" is not a time: use ${timeFormats}`);
  if (!again) return at.toISOString();
  const either = [at, again].map((date) => `'${formatTime(date.toISOString(), zone, true)}'`);
  throw new CliError('usage', `"${text}" is ambiguous, because clocks were set back: use ${either.join(' or ')}`);
}

/** A point in time of the ledger: after an event, or at an instant. */
export type PointInTime = { readonly seq: number } | { readonly at: string };

/** Parses a number as an event, and other texts as a time. @throws CliError for an invalid time. */
export const parsePointInTime = (text: string, zone: TimeZone): PointInTime =>
  /^[1-9]\d{0,15}$/.test(text) ? { seq: Number(text) } : { at: parseTime(text, zone) };

/** Returns two instants, earlier first, for a local time that occurred twice; none if invalid. */
function findInstants(text: string, zone: TimeZone, now: number): number[] {
  if (text === 'now') return [now];
  if (/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/i.test(text))
    return isDay(text.slice(0, 10)) ? [Date.parse(text.replace(' ', 'T'))] : [];
  const [, day, hour, minute, second = '00', part = ''] =
    /^(?:(\d{4}-\d\d-\d\d)[T ])?(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,3}))?)?$/.exec(text) ?? [];
  if (hour !== undefined)
    return findClockTimes(`${day ?? dayOf(now, zone)}T${hour}:${minute}:${second}.${part.padEnd(3, '0')}`, zone);
  if (/^\d{4}-\d\d-\d\d$/.test(text)) return findDayStart(text, zone);
  const at = parseAgo(text, now);
  return at === undefined ? [] : [at];
}

/** Parses "2h ago", "1h30m", "90 minutes ago". */
function parseAgo(text: string, now: number): number | undefined {
  const duration = text.replace(/\s*ago$/, '');
  const part = /(\d+)\s*(s|m|h|d|w)(?:ec(?:ond)?s?|in(?:ute)?s?|ours?|ays?|eeks?)?\s*/gy;
  let ms = 0;
  let end = 0;
  for (const [match, count, unit = ''] of duration.matchAll(part)) {
    ms += Number(count) * (unitMs[unit] ?? Number.NaN);
    end += match.length;
  }
  return end > 0 && end === duration.length ? now - ms : undefined;
}

const dayOf = (now: number, zone: TimeZone): string => formatClock(new Date(now), zone).slice(0, 10);

const minuteMs = 60_000;
const dayMs = 86_400_000;

/** Whether the calendar has this day. `Date` accepts 30 February as a day in March. */
function isDay(day: string): boolean {
  const date = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day);
}

/** The instants at which a clock shows a time: none or two where clocks were changed. */
function findClockTimes(clock: string, zone: TimeZone): number[] {
  if (!isDay(clock.slice(0, 10))) return [];
  const inUtc = Date.parse(`${clock}Z`);
  if (zone === 'utc') return [inUtc];
  const found = offsetsAround(inUtc).filter((minutes) => offsetAt(inUtc + minutes * minuteMs) === minutes);
  return found.map((minutes) => inUtc + minutes * minuteMs).toSorted((a, b) => a - b);
}

/** The first instant of a day. Where clocks change at midnight, a day may start later. */
function findDayStart(day: string, zone: TimeZone): number[] {
  const midnight = `${day}T00:00:00.000`;
  const [first] = findClockTimes(midnight, zone);
  if (first !== undefined) return [first];
  const inUtc = isDay(day) ? Date.parse(`${midnight}Z`) : Number.NaN;
  return [Math.max(...offsetsAround(inUtc).map((minutes) => inUtc + minutes * minuteMs))];
}

/** The minutes that the local clock is behind UTC, one day before and one day after. */
const offsetsAround = (at: number): number[] => [...new Set([offsetAt(at - dayMs), offsetAt(at + dayMs)])];
const offsetAt = (at: number): number => new Date(at).getTimezoneOffset();

/**
 * Formats an RFC 3339 time: '2026-11-17 14:05:00', with a Z in UTC. `exactly` adds milliseconds and
 * the UTC offset. '' stays ''.
 */
export function formatTime(instant: string, zone: TimeZone, exactly = false): string {
  const date = new Date(instant);
  if (Number.isNaN(date.getTime())) return instant;
  const ms = exactly ? `.${String(date.getUTCMilliseconds()).padStart(3, '0')}` : '';
  if (zone === 'utc') return `${formatClock(date, zone)}${ms}Z`;
  return `${formatClock(date, zone)}${ms}${exactly ? formatOffset(date) : ''}`;
}

function formatClock(date: Date, zone: TimeZone): string {
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return (zone === 'utc' ? date : local).toISOString().slice(0, 19).replace('T', ' ');
}

function formatOffset(date: Date): string {
  const minutes = -date.getTimezoneOffset();
  const twoDigits = (value: number): string => String(Math.floor(Math.abs(value))).padStart(2, '0');
  return `${minutes < 0 ? '-' : '+'}${twoDigits(minutes / 60)}:${twoDigits(minutes % 60)}`;
}

/** Instants as people write and read them. In JSON, YAML and CSV they stay what the API says: RFC 3339, in UTC. */
import { Failure } from './failure.ts';

/** Whose clock a person means, and is shown. */
export type Zone = 'local' | 'utc';

/** For --help. */
export const timeForms = "RFC 3339, '2026-11-17 14:05[:30]', '14:05' of today, '2h ago' or now";

const unitMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/**
 * The instant that a text means, as the API writes it.
 * @throws Failure for what is none.
 */
export function readTime(written: string, zone: Zone, now: number = Date.now()): string {
  const at = msOf(written.trim(), zone, now);
  if (at !== undefined && !Number.isNaN(at)) return new Date(at).toISOString();
  throw new Failure('usage', `"${written}" is no time: write ${timeForms}`);
}

/** A moment of the ledger: after an event, where it is a number, else an instant. @throws Failure for what is neither. */
export const readMoment = (written: string, zone: Zone): { seq: number } | { at: string } =>
  /^[1-9]\d{0,15}$/.test(written) ? { seq: Number(written) } : { at: readTime(written, zone) };

function msOf(text: string, zone: Zone, now: number): number | undefined {
  if (text === 'now') return now;
  if (/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i.test(text))
    return Date.parse(text.replace(' ', 'T'));
  const date = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,3}))?)?)?$/.exec(text);
  if (date)
    return instantOf(
      date.slice(1).map((part) => part ?? ''),
      zone,
    );
  const time = /^(\d\d):(\d\d)(?::(\d\d))?$/.exec(text);
  if (time) return instantOf([...dayOf(now, zone), ...time.slice(1).map((part) => part ?? '')], zone);
  return ago(text, now);
}

/** "2h ago", "1h30m", "90 minutes ago". */
function ago(text: string, now: number): number | undefined {
  const length = text.replace(/\s*ago$/, '');
  const part = /(\d+)\s*(s|m|h|d|w)(?:ec(?:ond)?s?|in(?:ute)?s?|ours?|ays?|eeks?)?\s*/gy;
  let ms = 0;
  let end = 0;
  for (const [whole, count, unit = ''] of length.matchAll(part)) {
    ms += Number(count) * (unitMs[unit] ?? Number.NaN);
    end += whole.length;
  }
  return end > 0 && end === length.length ? now - ms : undefined;
}

const dayOf = (now: number, zone: Zone): string[] => shown(new Date(now), zone).slice(0, 10).split('-');

/** NaN for what no calendar or clock has, as 30 February. */
function instantOf(parts: readonly string[], zone: Zone): number {
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = parts.slice(0, 6).map(Number);
  const ms = Number((parts[6] ?? '').padEnd(3, '0'));
  const date =
    zone === 'utc'
      ? new Date(Date.UTC(year, month - 1, day, hour, minute, second, ms))
      : new Date(year, month - 1, day, hour, minute, second, ms);
  const [y, mo, d] = shown(date, zone).slice(0, 10).split('-').map(Number);
  const exists = y === year && mo === month && d === day && hour < 24 && minute < 60 && second < 60;
  return exists ? date.getTime() : Number.NaN;
}

/**
 * An instant of the API for a person: '2026-11-17 14:05:00', in UTC with a Z behind it; exactly, with milliseconds and what the local
 * clock is ahead of UTC. '' stays ''.
 */
export function showTime(instant: string, zone: Zone, exactly = false): string {
  const date = new Date(instant);
  if (Number.isNaN(date.getTime())) return instant;
  const ms = exactly ? `.${String(date.getUTCMilliseconds()).padStart(3, '0')}` : '';
  if (zone === 'utc') return `${shown(date, zone)}${ms}Z`;
  return `${shown(date, zone)}${ms}${exactly ? offset(date) : ''}`;
}

function shown(date: Date, zone: Zone): string {
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return (zone === 'utc' ? date : local).toISOString().slice(0, 19).replace('T', ' ');
}

function offset(date: Date): string {
  const minutes = -date.getTimezoneOffset();
  const two = (value: number): string => String(Math.floor(Math.abs(value))).padStart(2, '0');
  return `${minutes < 0 ? '-' : '+'}${two(minutes / 60)}:${two(minutes % 60)}`;
}

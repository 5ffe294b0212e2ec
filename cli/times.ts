/** Instants as people write and read them. In JSON, YAML and CSV they stay what the API says: RFC 3339, in UTC. */
import { Failure } from './failure.ts';

/** Whose clock a person means, and is shown. */
export type Zone = 'local' | 'utc';

/** For --help. */
export const timeForms = "RFC 3339, '2026-11-17 14:05[:30]', '14:05' of today, '2h ago' or now";

/** What can be written with a year of four digits. */
const firstMs = Date.parse('0000-01-01T00:00:00Z');
const lastMs = Date.parse('9999-12-31T23:59:59.999Z');

const unitMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/**
 * The instant that a text means, as the API writes it.
 * @throws Failure for what is none.
 */
export function readTime(written: string, zone: Zone, now: number = Date.now()): string {
  const found = instantsOf(written.trim(), zone, now).map((at) => new Date(at));
  const [at, again] = found.filter((date) => date.getTime() >= firstMs && date.getTime() <= lastMs);
  if (!at) throw new Failure('usage', `"${written}" is no time: write ${timeForms}`);
  if (!again) return at.toISOString();
  const either = [at, again].map((date) => `'${showTime(date.toISOString(), zone, true)}'`);
  throw new Failure('usage', `"${written}" was twice, since clocks were set back: write ${either.join(' or ')}`);
}

/** A moment of the ledger: after an event, or an instant. */
export type Moment = { readonly seq: number } | { readonly at: string };

/** An event, where it is a number. @throws Failure for what is neither. */
export const readMoment = (written: string, zone: Zone): Moment =>
  /^[1-9]\d{0,15}$/.test(written) ? { seq: Number(written) } : { at: readTime(written, zone) };

/** None for what is no time; two, the earlier first, for what a local clock showed twice. */
function instantsOf(text: string, zone: Zone, now: number): number[] {
  if (text === 'now') return [now];
  if (/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/i.test(text))
    return isDay(text.slice(0, 10)) ? [Date.parse(text.replace(' ', 'T'))] : [];
  const [, day, hour, minute, second = '00', part = ''] =
    /^(?:(\d{4}-\d\d-\d\d)[T ])?(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,3}))?)?$/.exec(text) ?? [];
  if (hour !== undefined)
    return shownAt(`${day ?? dayOf(now, zone)}T${hour}:${minute}:${second}.${part.padEnd(3, '0')}`, zone);
  if (/^\d{4}-\d\d-\d\d$/.test(text)) return beginningOf(text, zone);
  const at = ago(text, now);
  return at === undefined ? [] : [at];
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

const dayOf = (now: number, zone: Zone): string => shown(new Date(now), zone).slice(0, 10);

const minuteMs = 60_000;
const dayMs = 86_400_000;

/** Whether the calendar has it: there is no 30 February, which `Date` takes for a day of March. */
function isDay(day: string): boolean {
  const date = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day);
}

/** When a clock shows this, `YYYY-MM-DDTHH:MM:SS.mmm`: never, where clocks were set forward over it, and twice where back. */
function shownAt(clock: string, zone: Zone): number[] {
  if (!isDay(clock.slice(0, 10))) return [];
  const inUtc = Date.parse(`${clock}Z`);
  if (zone === 'utc') return [inUtc];
  const found = offsetsAround(inUtc).filter((minutes) => offsetAt(inUtc + minutes * minuteMs) === minutes);
  return found.map((minutes) => inUtc + minutes * minuteMs).toSorted((a, b) => a - b);
}

/** The first instant of a day, which in some years of some places does not begin at midnight, or begins twice. */
function beginningOf(day: string, zone: Zone): number[] {
  const midnight = `${day}T00:00:00.000`;
  const [first] = shownAt(midnight, zone);
  if (first !== undefined) return [first];
  const inUtc = isDay(day) ? Date.parse(`${midnight}Z`) : Number.NaN;
  return [Math.max(...offsetsAround(inUtc).map((minutes) => inUtc + minutes * minuteMs))];
}

/** By how many minutes a local clock is behind UTC, a day before and a day after. */
const offsetsAround = (at: number): number[] => [...new Set([offsetAt(at - dayMs), offsetAt(at + dayMs)])];
const offsetAt = (at: number): number => new Date(at).getTimezoneOffset();

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

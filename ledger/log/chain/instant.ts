/** The times of events as text: RFC 3339 in UTC with milliseconds. */

const zero = 48;
const textLength = '2026-11-17T14:05:00.000Z'.length;
const dayLength = '2026-11-17'.length;

/** The last parsed day, because successive events are usually of the same day. */
let knownDay = '';
let knownDayAt = Number.NaN;

/** The last parsed text, because events of a batch have the same time. */
let lastParsed: { readonly text: string; readonly at: number | undefined } = { text: '', at: undefined };

/** Milliseconds since 1970; undefined for any text that `Date.toISOString` does not write. */
export function parseCanonicalInstant(text: string): number | undefined {
  if (text !== lastParsed.text) lastParsed = { text, at: parseOnKnownDay(text) ?? parseOnAnyDay(text) };
  return lastParsed.at;
}

function parseOnAnyDay(text: string): number | undefined {
  const at = typeof text === 'string' ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at) || new Date(at).toISOString() !== text) return undefined;
  if (text.length === textLength) {
    knownDay = text.slice(0, dayLength);
    knownDayAt = Date.parse(`${knownDay}T00:00:00.000Z`);
  }
  return at;
}

/** Returns undefined for another day, and for a text in another format. */
function parseOnKnownDay(text: string): number | undefined {
  if (typeof text !== 'string' || text.length !== textLength || !text.startsWith(knownDay) || knownDay === '')
    return undefined;
  if (text[10] !== 'T' || text[13] !== ':' || text[16] !== ':' || text[19] !== '.' || text[23] !== 'Z')
    return undefined;
  const [hour, minute, second] = [numberAt(text, 11, 13), numberAt(text, 14, 16), numberAt(text, 17, 19)];
  const ms = numberAt(text, 20, 23);
  const isTime = hour < 24 && minute < 60 && second < 60 && ms !== Infinity;
  return isTime ? knownDayAt + ((hour * 60 + minute) * 60 + second) * 1_000 + ms : undefined;
}

/** The number that the digits form; Infinity if one is not a digit. */
function numberAt(text: string, from: number, end: number): number {
  let number = 0;
  for (let index = from; index < end; index++) {
    const digit = text.charCodeAt(index) - zero;
    if (digit < 0 || digit > 9) return Infinity;
    number = number * 10 + digit;
  }
  return number;
}

let last = { at: Number.NaN, text: '' };

/** Formats milliseconds since 1970. Keeps the last text, because an event needs it twice. */
export function formatTime(at: number): string {
  if (at !== last.at) last = { at, text: new Date(at).toISOString() };
  return last.text;
}

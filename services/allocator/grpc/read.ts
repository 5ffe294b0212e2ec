/** Reading requests: what a message cannot say by its types alone. Each function throws INVALID_REQUEST. */
import { IpledgerError } from '../../../lib/errors.ts';

const mostTextBytes = 1024;

const invalid = (message: string): IpledgerError => new IpledgerError('INVALID_REQUEST', message);

/** A text that must be there. */
export function required(name: string, text: string | undefined): string {
  if (text === undefined || text === '') throw invalid(`${name} is missing`);
  return limited(name, text);
}

/** A text that may be empty. */
export function limited(name: string, text: string): string {
  if (Buffer.byteLength(text) > mostTextBytes) throw invalid(`${name} is longer than ${mostTextBytes} bytes`);
  return text;
}

/** A list that is not too long. */
export function atMost<Item>(name: string, most: number, items: readonly Item[]): readonly Item[] {
  if (items.length > most) throw invalid(`${name}: ${items.length} of them, at most ${most} are allowed`);
  return items;
}

/** RFC 3339 text as milliseconds since 1970; undefined for ''. */
export function instant(name: string, text: string): number | undefined {
  if (text === '') return undefined;
  const at = Date.parse(text);
  if (Number.isNaN(at) || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text))
    throw invalid(`${name} "${text}" is no RFC 3339 instant, as 2026-01-31T08:00:00.000Z`);
  return at;
}

/** A page size: 0 is the usual one, too large is cut to the largest. */
export const pageSize = (asked: number, usual: number, most: number): number =>
  asked === 0 ? usual : Math.min(asked, most);

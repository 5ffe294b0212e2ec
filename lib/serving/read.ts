/** Reading requests: what a message cannot say by its types alone. Each function throws INVALID_REQUEST. */
import type { HistoryRequest, Owner } from '../../proto/ipledger.ts';
import { IpledgerError } from '../errors.ts';

const invalid = (message: string): IpledgerError => new IpledgerError('INVALID_REQUEST', message);

/** A text that must be there. */
export function required(name: string, text: string | undefined): string {
  if (text === undefined || text === '') throw invalid(`${name} is missing`);
  return text;
}

/** A page size: 0 is the usual one, too large is cut to the largest. */
export const pageSize = (asked: number, usual: number, most: number): number =>
  asked === 0 ? usual : Math.min(asked, most);

/** An instant in RFC 3339, as milliseconds since 1970; undefined for ''. */
export function readInstant(name: string, text: string): number | undefined {
  if (text === '') return undefined;
  const at = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at))
    throw invalid(`${name} is no instant: ${JSON.stringify(text)}; write it as 2026-11-17T14:05:00Z`);
  return at;
}

/** What History is asked about: one thing at most, and a subnet. */
export interface HistoryAbout {
  readonly address: string;
  readonly subnet: string;
  readonly namespace: string;
  readonly pod: string;
  readonly node: string;
  /** All '' for none. */
  readonly owner: Owner;
}

/** Between these instants, milliseconds since 1970: not before the first, and before the second. */
export interface Period {
  readonly since: number;
  readonly until: number;
}

/** A page of what was asked for, and where it begins; '' at the newest. */
export interface Page {
  readonly token: string;
  readonly size: number;
}

/** Of a History request. */
export function readHistory(request: HistoryRequest): { about: HistoryAbout; period: Period; page: Page } {
  const { address, subnet, namespace, pod, node, owner = { kind: '', name: '', uid: '' } } = request;
  const things = { address, pod, owner: owner.uid + owner.kind + owner.name, node };
  const named = Object.entries(things).flatMap(([name, value]) => (value === '' ? [] : [name]));
  if (named.length > 1) throw invalid(`one thing at a time: it names ${named.join(' and ')}`);
  if (pod !== '' && namespace === '') throw invalid(`pod ${pod}: its namespace is missing`);
  if (namespace !== '' && pod === '' && !named.includes('owner'))
    throw invalid(`namespace ${namespace}: it goes with a pod or an owner`);
  return {
    about: { address, subnet, namespace, pod, node, owner },
    period: {
      since: readInstant('since', request.since) ?? -Infinity,
      until: readInstant('until', request.until) ?? Infinity,
    },
    page: { token: request.pageToken, size: pageSize(request.pageSize, 100, 1_000) },
  };
}

/** The number of an event, from the token of a page that begins there or behind it. */
export function readSeqToken(token: string): number {
  if (!/^[1-9]\d{0,15}$/.test(token)) throw invalid(`page_token "${token}" is not one that a reply gave`);
  return Number(token);
}

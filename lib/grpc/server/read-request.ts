/** Checks what the types of a request's fields do not. Each function throws INVALID_REQUEST. */
import type { HistoryRequest, Owner } from '../../../proto/generated/ipledger.ts';
import { IpledgerError } from '../../errors.ts';

const invalid = (message: string): IpledgerError => new IpledgerError('INVALID_REQUEST', message);

export function requireField(name: string, text: string | undefined): string {
  if (text === undefined || text === '') throw invalid(`${name} is missing`);
  return text;
}

/** Returns the page size: the default for 0, and at most `max`. */
export const resolvePageSize = (requested: number, max: number, byDefault = max): number =>
  requested === 0 ? byDefault : Math.min(requested, max);

/** Parses an RFC 3339 instant to milliseconds since 1970; undefined for ''. */
export function readInstant(name: string, text: string): number | undefined {
  if (text === '') return undefined;
  const at = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at))
    throw invalid(`${name} is no instant: ${JSON.stringify(text)}; write it as 2026-11-17T14:05:00Z`);
  return at;
}

/** The subject of a History request: at most one of these fields, and a subnet. */
export interface HistorySubject {
  readonly address: string;
  readonly subnet: string;
  readonly namespace: string;
  readonly pod: string;
  readonly node: string;
  /** The owner. All its fields are '' for none. */
  readonly owner: Owner;
}

/** A period in milliseconds since 1970: `since` is included, `until` is not. */
export interface Period {
  readonly since: number;
  readonly until: number;
}

/** A page, and the token from which it starts; '' for the newest events. */
export interface PageRequest {
  readonly token: string;
  readonly size: number;
}

/** Reads which page of events a request names. */
export const readHistoryPage = (request: { readonly pageToken: string; readonly pageSize: number }): PageRequest => ({
  token: request.pageToken,
  size: resolvePageSize(request.pageSize, 1_000, 100),
});

export function readHistory(request: HistoryRequest): { about: HistorySubject; period: Period; page: PageRequest } {
  const { address, subnet, namespace, pod, node, owner = { kind: '', name: '', uid: '' } } = request;
  const subjects = { address, pod, owner: owner.uid + owner.kind + owner.name, node };
  const named = Object.entries(subjects).flatMap(([name, value]) => (value === '' ? [] : [name]));
  if (named.length > 1) throw invalid(`one thing at a time: the request names ${named.join(' and ')}`);
  if (pod !== '' && namespace === '') throw invalid(`pod ${pod}: its namespace is missing`);
  if (namespace !== '' && pod === '' && !named.includes('owner'))
    throw invalid(`namespace ${namespace}: add a pod or an owner`);
  return {
    about: { address, subnet, namespace, pod, node, owner },
    period: {
      since: readInstant('since', request.since) ?? -Infinity,
      until: readInstant('until', request.until) ?? Infinity,
    },
    page: readHistoryPage(request),
  };
}

/** The event from which the history of an address goes back; 0: the newest event. */
export function readNewestSeq({ newestSeq, address, subnet }: HistoryRequest): number {
  if (newestSeq !== 0 && (address === '' || subnet === ''))
    throw invalid(`newest_seq ${newestSeq}: name the address and the subnet of that event`);
  return newestSeq;
}

/** Reads the event number from a page token. */
export function readSeqToken(token: string): number {
  if (!/^[1-9]\d{0,15}$/.test(token))
    throw invalid(`page_token "${token}" is not from a reply: omit it to read the first page`);
  return Number(token);
}

/** Positions in replies of the allocator. */
import type { Position } from '../../proto/generated/ipledger.ts';
import { IpledgerError } from '../errors.ts';

const maxPages = 100_000;

/** @throws IpledgerError BUG */
export function requirePosition(position: Position | undefined): Position {
  if (!position) throw new IpledgerError('BUG', 'a reply of the allocator has no position');
  return position;
}

/** @throws IpledgerError POSITION_GONE after a recovery, which requires a new snapshot */
export function assertSameEpoch(known: Position, head: Position): void {
  if (head.epoch !== known.epoch)
    throw new IpledgerError('POSITION_GONE', `the ledger is in epoch ${head.epoch}, and was in epoch ${known.epoch}`);
}

/** Reads all pages of a list. Returns the position of the first page. @throws IpledgerError OVERLOADED after 100,000 pages */
export async function eachPage<Page extends { readonly position?: Position; readonly nextPageToken: string }>(
  read: (token: string) => Promise<Page>,
  apply: (page: Page) => void,
): Promise<Position> {
  let position: Position | undefined;
  let token = '';
  for (let page = 0; page < maxPages; page++) {
    const reply = await read(token);
    position ??= requirePosition(reply.position);
    apply(reply);
    token = reply.nextPageToken;
    if (token === '') return position;
  }
  throw new IpledgerError('OVERLOADED', `a list of more than ${maxPages} pages`);
}

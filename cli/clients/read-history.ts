/** Reads a history page by page, and answers that arrive as a stream. */
import { IpledgerError } from '../../lib/errors.ts';
import type { MessageInput } from '../../proto/codec.ts';
import {
  type Event,
  type HistoryReply,
  type HistoryRequest,
  LedgerService,
  type Position,
} from '../../proto/generated/ipledger.ts';
import type { LedgerClient } from './ledger-client.ts';

const maxPageSize = 1_000;

export interface HistoryPage {
  readonly position: Position | undefined;
  /** The subnets that have a record of an address, on its first page. */
  readonly subnets: readonly string[];
  /** The oldest event that this page's search has reached. */
  readonly searchedDownToSeq: number;
  readonly events: readonly Event[];
  /** Whether older events follow. */
  readonly more: boolean;
}

/** The pages of a history, up to `limit` events. A page may be empty and not be the last. */
export async function* readHistory(
  allocator: LedgerClient,
  request: MessageInput<HistoryRequest>,
  limit: number,
): AsyncGenerator<HistoryPage> {
  let pageToken = '';
  let remaining = limit;
  do {
    const pageSize = Math.min(maxPageSize, remaining);
    const reply = await readHistoryPage(allocator, { ...request, pageSize, pageToken });
    pageToken = reply.nextPageToken;
    remaining -= reply.events.length;
    const { position, events, subnets, searchedDownToSeq } = reply;
    yield { position, events, subnets, searchedDownToSeq, more: pageToken !== '' };
  } while (pageToken !== '' && remaining > 0);
}

/** Reads one page. The history of a never-used address (ADDRESS_UNKNOWN) is empty. */
export async function readHistoryPage(
  allocator: LedgerClient,
  request: MessageInput<HistoryRequest>,
): Promise<HistoryReply> {
  try {
    return await allocator.call(LedgerService.history, request);
  } catch (error) {
    if (!(error instanceof IpledgerError && error.code === 'ADDRESS_UNKNOWN')) throw error;
    const { position } = await allocator.call(LedgerService.getStatus, {});
    return { ...(position && { position }), events: [], nextPageToken: '', searchedDownToSeq: 0, subnets: [] };
  }
}

/**
 * Collects the replies of a stream that carry content. A reply without `place` is a keep-alive of a
 * query in progress.
 * @throws IpledgerError CANCELLED after an abort, so that a partial answer is not taken for a
 * complete one; errors of the stream.
 */
export async function collectStream<Reply>(
  replies: AsyncIterable<Reply>,
  place: (reply: Reply) => object | undefined,
  signal: AbortSignal,
): Promise<Reply[]> {
  const parts: Reply[] = [];
  for await (const reply of replies) if (place(reply)) parts.push(reply);
  if (signal.aborted) throw new IpledgerError('CANCELLED', 'the request was cancelled before the answer was complete');
  return parts;
}

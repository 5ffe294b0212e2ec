/** Collects an answer that arrives as a stream. */
import { IpledgerError } from '../../lib/errors.ts';

/**
 * All replies of a stream that carry content. A reply without `place` is a keep-alive of a query in progress.
 * @throws IpledgerError CANCELLED after an abort, so that a partial answer is not taken for a complete one; errors of the stream.
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

/** Answers that come in parts. */
import { IpledgerError } from '../lib/errors.ts';

/**
 * All replies of a stream that say something; one without `place` only says that the question is being worked on.
 * @throws IpledgerError CANCELLED when the asking was ended first, so that half an answer is never taken for one; what the stream throws.
 */
export async function gathered<Reply>(
  replies: AsyncIterable<Reply>,
  place: (reply: Reply) => object | undefined,
  signal: AbortSignal,
): Promise<Reply[]> {
  const parts: Reply[] = [];
  for await (const reply of replies) if (place(reply)) parts.push(reply);
  if (signal.aborted) throw new IpledgerError('CANCELLED', 'the asking was ended before the answer was whole');
  return parts;
}

/** The log as lines for a file: the very bytes that stand in etcd or in the archive, checked to be dense and chained on the way. */
import { countFitting } from '../../../lib/serving/page-bytes.ts';
import { IpledgerError } from '../../../lib/errors.ts';
import type { Seq } from '../domain/event.ts';
import { type Head, parseEvent } from './chain.ts';
import type { Ledger } from './ledger.ts';

const linesAPiece = 500;

export interface ExportRange {
  /** The first event wanted; the ledger's first unless said otherwise. */
  readonly from?: Seq;
  /** The last; the present last one unless said otherwise. */
  readonly to?: Seq;
}

export interface Piece {
  /** Behind the last of the lines. */
  readonly position: Pick<Head, 'epoch' | 'seq' | 'hash'>;
  readonly lines: readonly string[];
}

/**
 * Gives the lines in pieces; they begin and end where they are asked to, also inside a command.
 * @throws IpledgerError INVALID_REQUEST for a range that ends before it begins, or beyond the ledger; POSITION_GONE when the log
 *   does not go back so far; LEDGER_DAMAGED when it is not dense or not chained; what the ledger throws.
 */
export async function* exportLines(
  ledger: Ledger,
  { from = 1, to }: ExportRange,
  signal: AbortSignal,
): AsyncGenerator<Piece> {
  const head = await ledger.head(signal);
  const end = to ?? head.seq;
  if (to !== undefined && to < from)
    throw new IpledgerError('INVALID_REQUEST', `events ${from} to ${to}: that ends before it begins`);
  // Whoever goes on behind the last event has missed none; who would go on further behind remembers what is not there
  if (from > head.seq + 1)
    throw new IpledgerError('INVALID_REQUEST', `there is no event ${from}: the ledger ends with event ${head.seq}`);
  if (end > head.seq)
    throw new IpledgerError('INVALID_REQUEST', `events ${from} to ${end}: the ledger ends with event ${head.seq}`);
  let last: Piece['position'] = { epoch: head.epoch, seq: from - 1, hash: '' };
  for await (const page of ledger.read(from, signal))
    for (let first = 0, count = 0; first < page.length; first += count) {
      const lines: string[] = [];
      const piece = page.slice(first, first + linesAPiece);
      count = countFitting(piece);
      for (const { text } of piece.slice(0, count)) {
        if (last.seq === end) break;
        last = next(last, text, from);
        lines.push(text);
      }
      if (lines.length > 0) yield { position: last, lines };
      if (last.seq >= end) return;
    }
  if (last.seq < end)
    throw new IpledgerError('LEDGER_DAMAGED', `event ${last.seq + 1} is not in the log, which ends with ${end}`);
}

function next(last: Piece['position'], text: string, from: Seq): Piece['position'] {
  const { envelope, hash } = parseEvent(text);
  const { seq, prev } = envelope;
  const isFirst = last.seq === from - 1;
  if (isFirst && seq > from)
    throw new IpledgerError(
      'POSITION_GONE',
      `event ${from} is not in the log (any more): the first live one is ${seq}`,
    );
  if (seq !== last.seq + 1)
    throw new IpledgerError('LEDGER_DAMAGED', `the log is not dense: event ${seq} follows ${last.seq}`);
  if (!isFirst && prev !== last.hash)
    throw new IpledgerError('LEDGER_DAMAGED', `the chain is broken at event ${seq}: ipledger verify says more`);
  return { epoch: last.epoch, seq, hash };
}

/** Exports the exact lines of the log, after checking their numbers and hash chain. */
import { countFitting } from '../../../lib/net/page-size.ts';
import { IpledgerError } from '../../../lib/errors.ts';
import type { Seq } from '../../domain/values/ledger.ts';
import { type Head, parseEvent } from '../chain/chain.ts';
import type { Ledger } from '../store/ledger.ts';

const linesPerPage = 500;

export interface ExportRange {
  /** The first event. Default: 1. */
  readonly from?: Seq;
  /** The last event. Default: the last one in the ledger. */
  readonly to?: Seq;
}

export interface ExportPage {
  /** The head after the last line. */
  readonly head: Pick<Head, 'epoch' | 'seq' | 'hash'>;
  readonly lines: readonly string[];
}

/**
 * Yields the lines in pages. The range may begin and end inside a command.
 * @throws IpledgerError INVALID_REQUEST for a range that ends before it begins, or goes beyond the
 * ledger; POSITION_GONE if the first event is no longer available; LEDGER_DAMAGED for a gap or a
 * broken chain; errors of the ledger.
 */
export async function* exportLines(
  ledger: Ledger,
  { from = 1, to }: ExportRange,
  signal: AbortSignal,
): AsyncGenerator<ExportPage> {
  const head = await ledger.head(signal);
  const end = to ?? head.seq;
  if (to !== undefined && to < from)
    throw new IpledgerError('INVALID_REQUEST', `the range from event ${from} to event ${to} ends before it begins`);
  // A client that continues directly after the last event is up to date. A later position means
  // that the client has events that the ledger lacks.
  if (from > head.seq + 1)
    throw new IpledgerError('INVALID_REQUEST', `event ${from} does not exist: the ledger ends with event ${head.seq}`);
  if (end > head.seq)
    throw new IpledgerError('INVALID_REQUEST', `event ${end} does not exist: the ledger ends with event ${head.seq}`);
  let last: ExportPage['head'] = { epoch: head.epoch, seq: from - 1, hash: '' };
  for await (const page of ledger.read(from, signal))
    for (let first = 0, count = 1; first < page.length; first += count) {
      const lines: string[] = [];
      const piece = page.slice(first, first + linesPerPage);
      count = countFitting(piece);
      for (const { text } of piece.slice(0, count)) {
        if (last.seq === end) break;
        last = next(last, text, from);
        lines.push(text);
      }
      if (lines.length > 0) yield { head: last, lines };
      if (last.seq >= end) return;
    }
  if (last.seq < end)
    throw new IpledgerError(
      'LEDGER_DAMAGED',
      `event ${last.seq + 1} is missing from the log, which ends with event ${end}. Run: ipledger verify`,
    );
}

function next(last: ExportPage['head'], text: string, from: Seq): ExportPage['head'] {
  const { envelope, hash } = parseEvent(text);
  const { seq, prev } = envelope;
  const isFirst = last.seq === from - 1;
  if (isFirst && seq > from)
    throw new IpledgerError(
      'POSITION_GONE',
      `event ${from} is no longer in the log: begin with event ${seq}, the first one in etcd`,
    );
  if (seq !== last.seq + 1)
    throw new IpledgerError(
      'LEDGER_DAMAGED',
      `the log has a gap: event ${seq} follows event ${last.seq}. Run: ipledger verify`,
    );
  if (!isFirst && prev !== last.hash)
    throw new IpledgerError('LEDGER_DAMAGED', `the hash chain is broken at event ${seq}. Run: ipledger verify`);
  return { epoch: last.epoch, seq, hash };
}

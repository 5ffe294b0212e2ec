/** Shows on stderr how far a verb is, and how a slow search of a long log would be faster. */
import type { Head } from '../../ledger/log/chain/chain.ts';
import type { Position } from '../../proto/generated/ipledger.ts';

/** Prints the number of events on stderr if stderr is a terminal. Undefined clears the line. */
export function showProgress(head: Pick<Head, 'seq'> | undefined): void {
  if (process.stderr.isTTY) process.stderr.write(head ? `\r${head.seq} events` : '\r\u001b[K');
}

/** The number of events that an allocator needs seconds to search. */
const longSearchEvents = 200_000;

/** Returns a function for each page: the ledger's position, and the oldest event searched. */
export function createSlowSearchHint({
  readModel,
}: {
  readonly readModel?: string;
}): (position: Position | undefined, searchedDownToSeq: number) => void {
  let isPrinted = readModel !== undefined;
  return (position, searchedDownToSeq) => {
    const searched = (position?.seq ?? 0) - searchedDownToSeq + 1;
    if (isPrinted || searched < longSearchEvents) return;
    isPrinted = true;
    process.stderr.write(
      `${searched} events searched so far; the read model (--read-model or IPLEDGER_READ_MODEL) has an index and answers immediately\n`,
    );
  };
}

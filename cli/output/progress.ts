/** Shows progress on a terminal. */
import type { Head } from '../../ledger/log/chain/chain.ts';

/** Prints the number of events on stderr if stderr is a terminal. Undefined clears the line. */
export function showProgress(head: Pick<Head, 'seq'> | undefined): void {
  if (process.stderr.isTTY) process.stderr.write(head ? `\r${head.seq} events` : '\r\u001b[K');
}

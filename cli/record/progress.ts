/** A person who waits sees how far it is; a script does not. */
import type { Head } from '../../services/allocator/ledger/chain.ts';

/** Says it on a terminal's stderr; undefined when it is over. */
export function showProgress(head: Pick<Head, 'seq'> | undefined): void {
  if (process.stderr.isTTY) process.stderr.write(head ? `\r${head.seq} events` : '\r\u001b[K');
}

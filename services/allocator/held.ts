/**
 * Before an allocator serves anybody, it holds the ledger to the last checkpoint that it kept. If all allocators were stopped while
 * etcd was restored from a backup, nobody else may remember that there was more.
 */
import { IpledgerError } from '../../lib/errors.ts';
import type { Logger } from '../../lib/log.ts';
import type { VerifierKey } from './checkpoint/key.ts';
import { type Kept, readKept } from './checkpoint/kept.ts';
import { freezeIfRewound } from './grpc/freeze.ts';
import { continuityOf } from './ledger/continuity.ts';
import type { Brake, Ledger } from './ledger/ledger.ts';

export interface Keeping {
  /** What checkpoints are signed with, and the file that they go to; '' for none. */
  readonly key: VerifierKey;
  readonly file: string;
  /** The ledger's id; '' before its first event. */
  readonly ledger: string;
  /** Who says so, when it is frozen. */
  readonly by: string;
  readonly log: Logger;
}

/**
 * Freezes a ledger that is behind the last checkpoint that was kept of it. If that cannot be looked at, it is an error in our log,
 * and nobody goes without an address for it.
 * @param live what is in etcd: no archive is asked for what is sealed by now.
 * @throws IpledgerError UNAVAILABLE; AbortError
 */
export async function holdToKept(live: Ledger & Brake, keeping: Keeping, signal: AbortSignal): Promise<void> {
  const { file, key, ledger, log } = keeping;
  if (file === '') return;
  try {
    const kept = readKept(file, ledger, key);
    for (const fault of kept.faults) log.error({ fault }, 'a checkpoint that was kept cannot be read');
    await hold(live, keeping, kept, signal);
  } catch (error) {
    const { kind, message } = IpledgerError.from(error);
    if (kind === 'transient') throw error;
    log.error({ file, reason: message }, 'the ledger cannot be held to the checkpoints that were kept of it');
  }
}

async function hold(
  live: Ledger & Brake,
  { file, ledger, by, log }: Keeping,
  { last, isSigned }: Kept,
  signal: AbortSignal,
): Promise<void> {
  if (!last) return;
  const { head } = last;
  const told = { file, kept: head };
  if (head.ledger !== ledger) {
    const what = ledger === '' ? 'and etcd holds none: was it emptied?' : 'and the one in etcd is another';
    log.error({ ...told, ledger }, `checkpoints of a ledger were kept, ${what}`);
  } else if (isSigned) {
    if (await freezeIfRewound(live, live, { head, by }, signal))
      log.error(told, 'the ledger lacks what was kept of it and is frozen: see ipledger recover');
  } else if ((await continuityOf(live, { known: head, head: await live.head(signal) }, signal)) === 'rewound')
    log.error(
      told,
      'the ledger lacks what was kept of it; but that is not signed by our key, so it goes on: see ipledger recover --unnoticed',
    );
}

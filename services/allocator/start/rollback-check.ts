/**
 * Compares the ledger with the last checkpoint in the checkpoint file, before an allocator serves
 * calls. If all allocators were stopped while etcd was restored from a backup, this file may be the
 * only record of the lost events.
 */
import { IpledgerError } from '../../../lib/errors.ts';
import type { Logger } from '../../../lib/process/log.ts';
import type { VerifierKey } from '../../../ledger/audit/checkpoints/signing-key.ts';
import { type LastCheckpoint, readLastCheckpoint } from '../../../ledger/audit/checkpoints/checkpoint-file.ts';
import { detectRollback, freezeIfRewound } from '../../../ledger/log/reader/rollback-detection.ts';
import type { FreezeStore, Ledger } from '../../../ledger/log/store/ledger.ts';

export interface RollbackCheckOptions {
  /** The key that verifies checkpoints. */
  readonly key: VerifierKey;
  /** The checkpoint file; '' skips the check. */
  readonly file: string;
  /** The id of the ledger in etcd; '' before its first event. */
  readonly ledger: string;
  /** The identity that the freeze names as its reporter. */
  readonly by: string;
  readonly log: Logger;
}

/**
 * Freezes the ledger if it lacks the last checkpoint of the file. An unreadable file is logged as
 * an error, an empty file as a warning; the allocator starts in both cases.
 * @param live the ledger in etcd. Sealed events are not compared.
 * @throws IpledgerError UNAVAILABLE; AbortError
 */
export async function checkLastCheckpoint(
  live: Ledger & FreezeStore,
  options: RollbackCheckOptions,
  signal: AbortSignal,
): Promise<void> {
  const { file, key, ledger, log } = options;
  if (file === '') return;
  try {
    const checkpoint = readLastCheckpoint(file, ledger, key);
    for (const fault of checkpoint.faults) log.error({ fault }, 'a checkpoint in the checkpoint file is not readable');
    await compareWithLedger(live, options, checkpoint, signal);
  } catch (error) {
    const { kind, message } = IpledgerError.from(error);
    if (kind === 'transient') throw error;
    log.error({ file, reason: message }, 'the ledger could not be compared with the checkpoint file');
  }
}

async function compareWithLedger(
  live: Ledger & FreezeStore,
  { file, ledger, by, log }: RollbackCheckOptions,
  { last, isSigned }: LastCheckpoint,
  signal: AbortSignal,
): Promise<void> {
  if (!last) {
    if (ledger !== '')
      log.warn(
        { file, ledger },
        'the checkpoint file has no checkpoint, so that this start would not notice a restored or emptied etcd. If it had checkpoints, another program removed them: compare the ledger with a copy, by ipledger verify --checkpoint',
      );
    return;
  }
  const { head } = last;
  const details = { file, checkpoint: head };
  if (head.ledger !== ledger) {
    const found = ledger === '' ? 'etcd contains no ledger. Was etcd emptied?' : 'etcd contains another ledger';
    log.error({ ...details, ledger }, `the checkpoint file is about a ledger that is not in etcd: ${found}`);
  } else if (isSigned) {
    if (await freezeIfRewound(live, live, { head, by }, signal))
      log.error(
        details,
        'the ledger lacks events of the last checkpoint and is frozen now: etcd was restored from a backup. Run ipledger recover',
      );
  } else if ((await detectRollback(live, { known: head, head: await live.head(signal) }, signal)) === 'rewound')
    log.error(
      details,
      'the ledger lacks events of the last checkpoint, but the signature of that checkpoint is not by the key of this allocator: the ledger is not frozen. If etcd was restored from a backup, run ipledger recover --undetected',
    );
}

/** Detects a rewound ledger from a position that a client has seen, and freezes it. */
import { IpledgerError } from '../../../../lib/errors.ts';
import type { CallContext } from '../../../../lib/grpc/server/serve.ts';
import type { MessageInput } from '../../../../proto/codec.ts';
import type * as api from '../../../../proto/generated/ipledger.ts';
import {
  createFreezeRecord,
  detectRollback,
  type KnownPosition,
} from '../../../../ledger/log/reader/rollback-detection.ts';
import type { AllocatorContext } from '../allocator-context.ts';

/**
 * Callers that may only read, and so do not freeze the ledger. The writer does not know the
 * permissions of Kubernetes users, so they are among them.
 */
const readOnlyCallers = /^(ipledger:\/\/(ovn-projector|read-model|viewer)(\/|$)|kubernetes:)/;

/** Each restore of a backup begins an epoch. A backup lacks those of the restores after it. */
const maxLostEpochs = 1_000;

/**
 * Checks that the ledger contains a position that the caller has seen.
 * @throws IpledgerError INVALID_REQUEST for a position that no ledger had; LEDGER_FROZEN if it does
 * not, after freezing the ledger; POSITION_GONE if the ledger was restored since.
 */
export async function assertNotRewound(
  { replica, freezeStore }: AllocatorContext,
  known: KnownPosition | undefined,
  { actor, signal }: CallContext,
): Promise<void> {
  if (!known) return;
  const found = await replica.ledger.head(signal);
  // The next epoch follows from the reported one, and must be a number that each reader can hold
  if (known.epoch > found.epoch + maxLostEpochs)
    throw new IpledgerError(
      'INVALID_REQUEST',
      `epoch ${known.epoch} is not one of this ledger, which is at epoch ${found.epoch}: the position of the client was changed. Delete it, and start the client again`,
    );
  const status = await detectRollback(replica.ledger, { known, head: found }, signal);
  if (status === 'holds') return;
  if (status === 'restored')
    throw new IpledgerError(
      'POSITION_GONE',
      `the ledger was restored from a backup and continues in a new epoch: it may not contain event ${known.seq} of epoch ${known.epoch}. Start again with a new snapshot`,
    );
  if (!readOnlyCallers.test(actor)) await freezeStore.freeze(createFreezeRecord(known, actor, found), found, signal);
  throw new IpledgerError(
    'LEDGER_FROZEN',
    `the ledger does not contain event ${known.seq} of epoch ${known.epoch}: etcd was restored from a backup. Run ipledger recover`,
  );
}

/** The `freeze` field of a reply; absent if the ledger is not frozen. */
export async function freezeMessage(
  { freezeStore }: AllocatorContext,
  signal: AbortSignal,
): Promise<{ freeze?: MessageInput<api.Freeze> }> {
  const frozen = await freezeStore.readFreeze(signal);
  if (!frozen) return {};
  const { by, at, epoch, seq, hash, found } = frozen;
  const headThen = found && { head: { epoch: found.epoch, seq: found.seq, hash: found.hash }, headAt: found.at };
  return { freeze: { known: { epoch, seq, hash }, reportedBy: by, reportedAt: at, ...headThen } };
}

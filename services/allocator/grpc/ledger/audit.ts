/** The RPCs of an auditor: Ledger.Checkpoint, Export and Verify. */
import { setImmediate } from 'node:timers/promises';
import { IpledgerError } from '../../../../lib/errors.ts';
import type { CallContext } from '../../../../lib/grpc/server/serve.ts';
import type { MessageInput } from '../../../../proto/codec.ts';
import type * as api from '../../../../proto/generated/ipledger.ts';
import { signCheckpoint, parseCheckpoints } from '../../../../ledger/audit/checkpoints/checkpoint.ts';
import { type AllocatorContext, requireWriter } from '../allocator-context.ts';
import { positionMessage } from '../messages.ts';
import { exportLines } from '../../../../ledger/log/reader/export.ts';
import type { Ledger } from '../../../../ledger/log/store/ledger.ts';
import { parseVerifierKey } from '../../../../ledger/audit/checkpoints/signing-key.ts';
import { emptyHead, type Head } from '../../../../ledger/log/chain/chain.ts';
import { CheckpointVerifier } from '../../../../ledger/audit/verification/checkpoint-verifier.ts';
import { verifyLedger } from '../../../../ledger/audit/verification/verify-ledger.ts';
import { keepaliveUntilSettled, type PointInTimeReader } from '../point-in-time/point-in-time.ts';

/**
 * Returns the current head, signed. Only the writer signs: a standby may not have applied the last key rotation.
 * @throws IpledgerError NO_CHECKPOINT_KEY; NOT_WRITER.
 */
export async function createCheckpoint(
  allocator: AllocatorContext,
  { actor, signal }: CallContext,
): Promise<MessageInput<api.CheckpointReply>> {
  // An empty query: its proof shows that this replica is the writer, and at which head.
  const { head } = await requireWriter(allocator).submit({ answer: () => undefined, actor, signal });
  const signer = allocator.signer();
  if (!signer)
    throw new IpledgerError(
      'NO_CHECKPOINT_KEY',
      'this allocator has no key for checkpoints, or the key is being replaced. Create a key with ipledger checkpoint-key, and set --checkpoint-key to its file',
    );
  return { position: positionMessage(head), note: signCheckpoint(head, signer), verifierKey: signer.verifier.text };
}

/** Streams the stored lines of the log, all or a range. @throws IpledgerError INVALID_REQUEST; POSITION_GONE; LEDGER_DAMAGED; UNAVAILABLE. */
export async function* streamExport(
  ledger: Ledger,
  { fromSeq, toSeq }: api.ExportRequest,
  { signal }: CallContext,
): AsyncGenerator<MessageInput<api.ExportReply>> {
  const range = { ...(fromSeq > 0 && { from: fromSeq }), ...(toSeq > 0 && { to: toSeq }) };
  for await (const { head, lines } of exportLines(ledger, range, signal))
    yield { position: positionMessage(head), lines };
}

/**
 * Compares the log, the keys beside it and checkpoints. Streams the progress, and at the end the findings.
 * @throws IpledgerError INVALID_REQUEST; OVERLOADED; UNAVAILABLE.
 */
export async function* streamVerification(
  pointInTime: PointInTimeReader,
  ledger: Ledger,
  { checkpoints, verifierKeys }: api.VerifyRequest,
  { signal }: CallContext,
): AsyncGenerator<MessageInput<api.VerifyReply>> {
  const checkpointVerifier =
    checkpoints !== '' || verifierKeys.length > 0
      ? new CheckpointVerifier(parseCheckpoints(checkpoints), verifierKeys.map(parseVerifierKey))
      : undefined;
  yield* pointInTime.runLimited(async function* () {
    let reached: Head = emptyHead;
    const onProgress = (head: Head): void => {
      reached = head;
    };
    const verification = verifyLedger(ledger, {
      signal,
      ...(checkpointVerifier && { checkpointVerifier }),
      onProgress,
      yieldTurn: () => setImmediate(),
    });
    yield* keepaliveUntilSettled(verification, () => ({ position: positionMessage(reached) }));
    const { head, comparedKeys, findings } = await verification;
    yield {
      position: positionMessage(head),
      done: true,
      ...(comparedKeys !== undefined && { comparedKeys }),
      findings,
    };
  });
}

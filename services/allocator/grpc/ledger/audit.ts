/** The RPCs of an auditor: Ledger.Checkpoint, Export and Verify. */
import { IpledgerError } from '../../../../lib/errors.ts';
import type { CallContext } from '../../../../lib/grpc/server/serve.ts';
import type { MessageInput } from '../../../../proto/codec.ts';
import type * as api from '../../../../proto/generated/ipledger.ts';
import { signCheckpoint } from '../../../../ledger/audit/checkpoints/checkpoint.ts';
import { type AllocatorContext, requireWriter } from '../allocator-context.ts';
import { positionMessage } from '../messages.ts';
import { exportLines } from '../../../../ledger/log/reader/export.ts';
import type { Ledger } from '../../../../ledger/log/store/ledger.ts';
import { emptyHead } from '../../../../ledger/log/chain/chain.ts';
import { checkpointVerifierOf, verifyTask } from '../../threads/verify-task.ts';
import type { PointInTimeReader } from '../point-in-time/point-in-time.ts';

/**
 * Returns the current head, signed. Only the writer signs, because a standby may not have applied
 * the last key rotation.
 * @throws IpledgerError NO_CHECKPOINT_KEY; NOT_WRITER.
 */
export async function createCheckpoint(
  allocator: AllocatorContext,
  { actor, signal }: CallContext,
): Promise<MessageInput<api.CheckpointReply>> {
  // Submits an empty query, whose proof shows that this replica is the writer, and at which head.
  const { head } = await requireWriter(allocator).submit({ answer: () => undefined, actor, signal });
  const signer = allocator.signer();
  if (!signer)
    throw new IpledgerError(
      'NO_CHECKPOINT_KEY',
      'this allocator has no key for checkpoints, or the key is being replaced. Create a key with ipledger checkpoint-key, and set --checkpoint-key to its file',
    );
  return { position: positionMessage(head), note: signCheckpoint(head, signer), verifierKey: signer.verifier.text };
}

/**
 * Streams the stored lines of the log, all or a range.
 * @throws IpledgerError INVALID_REQUEST; POSITION_GONE; LEDGER_DAMAGED; UNAVAILABLE.
 */
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
 * Verifies the log, the keys beside it and checkpoints. Streams the progress, and finally the
 * findings.
 * @throws IpledgerError INVALID_REQUEST; OVERLOADED; UNAVAILABLE.
 */
export async function* streamVerification(
  pointInTime: PointInTimeReader,
  { checkpoints, verifierKeys }: api.VerifyRequest,
  context: CallContext,
): AsyncGenerator<MessageInput<api.VerifyReply>> {
  const request = { checkpoints, verifierKeys };
  checkpointVerifierOf(request); // rejects an invalid request before a thread starts
  let reached = emptyHead;
  for await (const reply of pointInTime.run(verifyTask, request, context)) {
    if (reply && 'result' in reply) {
      const { head, start, comparedKeys, findings } = reply.result;
      const dropped = start && { droppedSeq: start.seq, droppedUntil: new Date(start.at).toISOString() };
      const compared = comparedKeys === undefined ? {} : { comparedKeys };
      yield { position: positionMessage(head), done: true, ...compared, ...dropped, findings };
    } else {
      reached = reply?.reached ?? reached;
      yield { position: positionMessage(reached) };
    }
  }
}

/** Ledger.Checkpoint: the current head, signed by the writer. */
import { IpledgerError } from '../../../../lib/errors.ts';
import type { CallContext } from '../../../../lib/grpc/server/serve.ts';
import type { MessageInput } from '../../../../proto/codec.ts';
import type * as api from '../../../../proto/generated/ipledger.ts';
import { signCheckpoint } from '../../../../ledger/audit/checkpoints/checkpoint.ts';
import { type AllocatorContext, requireWriter } from '../allocator-context.ts';
import { positionMessage } from '../messages.ts';

/**
 * Only the writer signs: a standby may not have applied the last key rotation.
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

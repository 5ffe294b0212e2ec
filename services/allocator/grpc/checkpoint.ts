/** Ledger.Checkpoint: the ledger as it is now, signed by the writer. */
import { IpledgerError } from '../../../lib/errors.ts';
import type { CallContext } from '../../../lib/serving/serve.ts';
import type { Input } from '../../../proto/codec.ts';
import type * as api from '../../../proto/ipledger.ts';
import { signCheckpoint } from '../checkpoint/checkpoint.ts';
import { type Allocator, writerOf } from './allocator.ts';
import { positionOf } from './messages.ts';

/**
 * Only the writer signs: it alone knows which key is in use.
 * @throws IpledgerError NO_CHECKPOINT_KEY; NOT_WRITER.
 */
export async function checkpoint(
  allocator: Allocator,
  { actor, signal }: CallContext,
): Promise<Input<api.CheckpointReply>> {
  // A question about nothing: its proof tells that we are the writer, and at which head.
  const { head } = await writerOf(allocator).submit({ answer: () => undefined, actor, signal });
  const signer = allocator.signer();
  if (!signer)
    throw new IpledgerError(
      'NO_CHECKPOINT_KEY',
      'this allocator signs no checkpoints now: its key is being replaced, or it has none. Make one by ipledger checkpoint-key, and name its file by --checkpoint-key',
    );
  return { position: positionOf(head), note: signCheckpoint(head, signer), verifierKey: signer.verifier.text };
}

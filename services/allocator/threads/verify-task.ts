/** The task that verifies the ledger, for the RPC Verify and for a standby. */
import { setImmediate } from 'node:timers/promises';
import { parseCheckpoints } from '../../../ledger/audit/checkpoints/checkpoint.ts';
import { parseVerifierKey } from '../../../ledger/audit/checkpoints/signing-key.ts';
import { CheckpointVerifier } from '../../../ledger/audit/verification/checkpoint-verifier.ts';
import { type VerificationResult, verifyLedger } from '../../../ledger/audit/verification/verify-ledger.ts';
import { undefinedIfGone } from '../../../lib/errors.ts';
import { emptyHead, type Head } from '../../../ledger/log/chain/chain.ts';
import { initialStateAtHead, type StateAtHead } from '../../../ledger/log/reader/fold.ts';
import type { Task, TaskTools } from './task.ts';

const progressMs = 1_000;

export interface VerifyRequest {
  /** The checkpoints to compare with, and the trusted keys. Both empty: no comparison. */
  readonly checkpoints: string;
  readonly verifierKeys: readonly string[];
  /**
   * A head that an earlier verification reached. This one begins with the last archived state
   * before it.
   */
  readonly verified?: Head | undefined;
}

/** The position in the log, about once a second, and finally the result. */
export type VerifyReply = { readonly reached: Head } | { readonly result: VerificationResult };

export const verifyTask: Task<VerifyRequest, VerifyReply> = {
  name: 'verify',
  async run(tools, request, send, signal) {
    const checkpointVerifier = checkpointVerifierOf(request);
    const begin = await beginningOf(tools, request.verified, signal);
    let [reached, sentAt] = [emptyHead, performance.now()];
    const yieldTurn = async (): Promise<void> => {
      if (performance.now() - sentAt < progressMs) return setImmediate();
      sentAt = performance.now();
      return send({ reached });
    };
    const onProgress = (head: Head): void => void (reached = head);
    const options = { signal, onProgress, yieldTurn, ...begin, ...(checkpointVerifier && { checkpointVerifier }) };
    await send({ result: await verifyLedger(tools.ledger, options) });
  },
};

/** Returns undefined if nothing is to be compared. @throws IpledgerError INVALID_REQUEST */
export const checkpointVerifierOf = ({ checkpoints, verifierKeys }: VerifyRequest): CheckpointVerifier | undefined =>
  checkpoints === '' && verifierKeys.length === 0
    ? undefined
    : new CheckpointVerifier(parseCheckpoints(checkpoints), verifierKeys.map(parseVerifierKey));

/**
 * The state to begin with. Its claims are bytes; a verification from the first event has objects,
 * which take four times the memory.
 */
async function beginningOf(
  { archived }: TaskTools,
  verified: Head | undefined,
  signal: AbortSignal,
): Promise<{ readonly start: StateAtHead; readonly verified?: Head }> {
  if (!archived || !verified) return { start: initialStateAtHead() };
  const start = await undefinedIfGone(archived.ledger.lastEndState({ seq: verified.seq }, signal, verified.seq));
  // After a restore of etcd, the archive may contain a state of events that were never verified.
  return !start || start.head.epoch > verified.epoch ? { start: initialStateAtHead() } : { start, verified };
}

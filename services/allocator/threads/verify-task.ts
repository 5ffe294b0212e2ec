/** The task of a verification: by the RPC Verify. */
import { setImmediate } from 'node:timers/promises';
import { parseCheckpoints } from '../../../ledger/audit/checkpoints/checkpoint.ts';
import { parseVerifierKey } from '../../../ledger/audit/checkpoints/signing-key.ts';
import { CheckpointVerifier } from '../../../ledger/audit/verification/checkpoint-verifier.ts';
import { type VerificationResult, verifyLedger } from '../../../ledger/audit/verification/verify-ledger.ts';
import { emptyHead, type Head } from '../../../ledger/log/chain/chain.ts';
import type { Task } from './task.ts';

const progressMs = 1_000;

export interface VerifyRequest {
  /** The text of checkpoints to compare with, and the trusted keys; both empty: no comparison. */
  readonly checkpoints: string;
  readonly verifierKeys: readonly string[];
}

/** The position in the log, about once a second; then the result. */
export type VerifyReply = { readonly reached: Head } | { readonly result: VerificationResult };

export const verifyTask: Task<VerifyRequest, VerifyReply> = {
  name: 'verify',
  async run({ ledger }, request, send, signal) {
    const checkpointVerifier = checkpointVerifierOf(request);
    let [reached, sentAt] = [emptyHead, performance.now()];
    const yieldTurn = async (): Promise<void> => {
      if (performance.now() - sentAt < progressMs) return setImmediate();
      sentAt = performance.now();
      return send({ reached });
    };
    const onProgress = (head: Head): void => void (reached = head);
    const options = { signal, onProgress, yieldTurn, ...(checkpointVerifier && { checkpointVerifier }) };
    await send({ result: await verifyLedger(ledger, options) });
  },
};

/** undefined if nothing is to be compared. @throws IpledgerError INVALID_REQUEST */
export const checkpointVerifierOf = ({ checkpoints, verifierKeys }: VerifyRequest): CheckpointVerifier | undefined =>
  checkpoints === '' && verifierKeys.length === 0
    ? undefined
    : new CheckpointVerifier(parseCheckpoints(checkpoints), verifierKeys.map(parseVerifierKey));

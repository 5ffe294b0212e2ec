/** Ledger.Verify: compares the log, the keys beside it and checkpoints. */
import { setImmediate } from 'node:timers/promises';
import type { MessageInput } from '../../../../proto/codec.ts';
import type * as api from '../../../../proto/generated/ipledger.ts';
import type { CallContext } from '../../../../lib/grpc/server/serve.ts';
import { parseCheckpoints } from '../../../../ledger/audit/checkpoints/checkpoint.ts';
import { parseVerifierKey } from '../../../../ledger/audit/checkpoints/signing-key.ts';
import { emptyHead, type Head } from '../../../../ledger/log/chain/chain.ts';
import type { Ledger } from '../../../../ledger/log/store/ledger.ts';
import { CheckpointVerifier } from '../../../../ledger/audit/verification/checkpoint-verifier.ts';
import { verifyLedger } from '../../../../ledger/audit/verification/verify-ledger.ts';
import { positionMessage } from '../messages.ts';
import { keepaliveUntilSettled, type PointInTimeReader } from '../point-in-time/point-in-time.ts';

/**
 * Streams the progress, and at the end the findings.
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

/** Ledger.Verify: whether the ledger is as it was written. */
import { setImmediate } from 'node:timers/promises';
import type { Input } from '../../../proto/codec.ts';
import type * as api from '../../../proto/ipledger.ts';
import type { CallContext } from '../../../lib/serving/serve.ts';
import { parseCheckpoints } from '../checkpoint/checkpoint.ts';
import { parseVerifierKey } from '../checkpoint/key.ts';
import { emptyHead, type Head } from '../ledger/chain.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { Attested } from '../verify/attested.ts';
import { verifyKeys } from '../verify/verify.ts';
import { positionOf } from './messages.ts';
import { patiently, type TimeTravel } from './time-travel.ts';

/**
 * Streams how far it is, and at last what was found.
 * @throws IpledgerError INVALID_REQUEST; OVERLOADED; UNAVAILABLE.
 */
export async function* verify(
  travel: TimeTravel,
  ledger: Ledger,
  { checkpoints, verifierKeys }: api.VerifyRequest,
  { signal }: CallContext,
): AsyncGenerator<Input<api.VerifyReply>> {
  const attested = new Attested(parseCheckpoints(checkpoints), verifierKeys.map(parseVerifierKey));
  yield* travel.run(async function* () {
    let reached: Head = emptyHead;
    const onProgress = (head: Head): void => {
      reached = head;
    };
    // Whoever else is served here has a turn between pieces of the log.
    const work = verifyKeys(ledger, { signal, attested, onProgress, breathe: () => setImmediate() });
    yield* patiently(work, () => ({ position: positionOf(reached) }));
    const { head, keys, findings } = await work;
    yield { position: positionOf(head), done: true, ...(keys !== undefined && { keys }), findings };
  });
}

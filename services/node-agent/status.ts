/** CNI STATUS: could an ADD be served now? */
import { IpledgerError } from '../../lib/errors.ts';
import type { Allocator } from './allocator.ts';
import { patience, persistently } from './patience.ts';

// The plugin gives up after 10 s. Longer than it takes until a standby writes: runtimes make the node NotReady of a failure.
const statusMs = 8_000;
const attemptMs = 2_000;

/**
 * Asks for the end of a binding that cannot be. That writes nothing, costs the allocator nothing, however large the ledger, and
 * is answered only as a Bind is: by the writer, and proven by etcd. A full subnet does not matter here: it must not take the
 * whole node out of service.
 * @throws IpledgerError when the allocator can't answer
 */
export async function status(allocator: Allocator, node: string, signal: AbortSignal): Promise<void> {
  const nobody = {
    namespace: 'none',
    pod: 'none',
    provider: 'none',
    containerId: `status-of-${node}`,
    interface: 'none',
  };
  try {
    await persistently(patience(statusMs, signal), (leftMs) =>
      allocator.unbind(nobody, { timeoutMs: Math.min(leftMs, attemptMs), signal }),
    );
  } catch (thrown) {
    const error = IpledgerError.from(thrown);
    throw new IpledgerError(error.code, `the allocator could not be asked: ${error.message}`, { cause: error });
  }
}

/** CNI STATUS: whether an ADD would be served now. */
import { IpledgerError } from '../../../lib/errors.ts';
import type { BindingClient } from '../bindings/binding-client.ts';
import { retryFor, retryUntil } from '../../../lib/process/retry.ts';

// The plugin times out after 10 s. A failover takes less than 8 s: a failure here makes the node NotReady.
const statusMs = 8_000;
const attemptMs = 2_000;

/**
 * Sends an Unbind of a binding that cannot exist. It writes nothing and costs little, and only the writer answers it, after a
 * read of etcd, like a Bind. A full Subnet does not matter, because it must not take the node out of service.
 * @throws IpledgerError when the allocator is unavailable
 */
export async function status(allocator: BindingClient, node: string, signal: AbortSignal): Promise<void> {
  const probe = {
    namespace: 'none',
    pod: 'none',
    provider: 'none',
    containerId: `status-of-${node}`,
    interface: 'none',
  };
  try {
    await retryUntil(retryFor(statusMs, signal), (remainingMs) =>
      allocator.unbind(probe, { timeoutMs: Math.min(remainingMs, attemptMs), signal }),
    );
  } catch (thrown) {
    const error = IpledgerError.from(thrown);
    throw new IpledgerError(error.code, `the allocator is unavailable: ${error.message}`, { cause: error });
  }
}

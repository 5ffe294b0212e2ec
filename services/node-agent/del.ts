/** CNI DEL: this container no longer has the address. The allocation itself goes with its Pod, never here. */
import { IpledgerError } from '../../lib/errors.ts';
import type { Allocator } from './allocator.ts';
import { patience, persistently } from './patience.ts';
import type { CniRequest } from './wire.ts';

// The plugin waits 10 s; what cannot be done by then is left to be done later.
const delMs = 4_000;

/**
 * Also late, repeated, for an unknown container, and without a network namespace (after a reboot there is none).
 * @throws IpledgerError when the allocator can't be told
 */
export async function del(allocator: Allocator, request: CniRequest, signal: AbortSignal): Promise<void> {
  const sandbox = {
    namespace: request.podNamespace,
    pod: request.podName,
    provider: request.provider,
    containerId: request.containerId,
    interface: request.interface,
  };
  try {
    await persistently(patience(delMs, signal), (leftMs) => allocator.unbind(sandbox, { timeoutMs: leftMs, signal }));
  } catch (thrown) {
    const error = IpledgerError.from(thrown);
    throw new IpledgerError(error.code, `del nic failed: the allocator could not be told: ${error.message}`, {
      cause: error,
    });
  }
}

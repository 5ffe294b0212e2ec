/** CNI DEL: ends the binding of a container. The allocation ends with its Pod, not here. */
import { IpledgerError } from '../../../lib/errors.ts';
import type { BindingClient } from '../bindings/binding-client.ts';
import { retryFor, retryUntil } from '../../../lib/process/retry.ts';
import type { AddDeps } from './add.ts';
import type { CniRequest } from '../daemon/plugin-request.ts';

// Leaves time to save a pending DEL: the plugin times out after 10 s.
const delMs = 4_000;

export type DelDeps = Pick<AddDeps, 'allocator' | 'dataPath' | 'files' | 'lingering'>;

/**
 * Removes a NIC that the agent made, and ends the binding even if the NIC cannot be removed now.
 * @throws IpledgerError when the allocator or the Open vSwitch database fails
 */
export async function del(
  { allocator, dataPath, files, lingering }: DelDeps,
  request: CniRequest,
  signal: AbortSignal,
): Promise<void> {
  const isOurs = request.cniType === 'kube-ovn';
  const detached = isOurs ? await Promise.allSettled([dataPath?.detach(request, signal)]) : [];
  const saved = files.get(request);
  const isKept = lingering.isKept(request) || (saved !== undefined && (await lingering.keep(saved)));
  if (!isKept) {
    await endBinding(allocator, { ...request, containerId: saved?.boundAs || request.containerId }, signal);
    await files.remove(request);
  }
  for (const outcome of detached) if (outcome.status === 'rejected') throw outcome.reason;
}

/**
 * Ends the binding. Succeeds also when it is late or repeated, for an unknown container, and
 * without a network namespace (absent after a reboot).
 * @throws IpledgerError when the allocator fails
 */
async function endBinding(allocator: BindingClient, request: CniRequest, signal: AbortSignal): Promise<void> {
  const binding = {
    namespace: request.podNamespace,
    pod: request.podName,
    provider: request.provider,
    containerId: request.containerId,
    interface: request.interface,
  };
  try {
    await retryUntil(retryFor(delMs, signal), (remainingMs) =>
      allocator.unbind(binding, { timeoutMs: remainingMs, signal }),
    );
  } catch (thrown) {
    const error = IpledgerError.from(thrown);
    throw new IpledgerError(error.code, `del nic failed: the allocator cannot end the binding: ${error.message}`, {
      cause: error,
    });
  }
}

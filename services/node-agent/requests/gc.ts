/**
 * CNI GC: the runtime sends the valid attachments of a network, and the agent ends the other
 * bindings of that network whose sandboxes are deleted.
 */
import { timeoutSignal } from '../../../lib/process/abortable.ts';
import { IpledgerError } from '../../../lib/errors.ts';
import { isOvnProvider } from '../../../lib/kubernetes/served-network.ts';
import type { Logger } from '../../../lib/process/log.ts';
import type { PluginRequest } from '../daemon/plugin-request.ts';
import type { BindingClient } from '../bindings/binding-client.ts';
import {
  type BindingFiles,
  type SavedBinding,
  type ContainerInterface,
  interfaceKey,
} from '../bindings/binding-files.ts';
import { endBindings } from '../bindings/node-bindings.ts';
import type { KeyedMutex } from '../concurrency/keyed-mutex.ts';
import { describeDeletion, namespaceState } from '../network-namespace.ts';

// The time limit of a GC: shorter than that of the plugin, 30 s.
const gcMs = 25_000;

export interface GcDeps {
  readonly allocator: BindingClient;
  readonly node: string;
  readonly runExclusive: KeyedMutex;
  readonly files: BindingFiles;
  /** Removes the OVS ports of deleted sandboxes; absent: the agent makes no NICs. */
  readonly sweepPorts?: ((signal: AbortSignal) => Promise<unknown>) | undefined;
  readonly log: Logger;
}

/**
 * Ends the bindings of a network that are not listed and whose sandbox is deleted. Releases no
 * address.
 *
 * Provider and list are no proof: a tenant writes the network configuration, and several networks
 * may share a provider, each with its own list. The proof is that the network namespace of the ADD
 * is deleted. If that namespace is unknown, the binding stays until DEL, reboot, or the end of the
 * Pod.
 * @throws IpledgerError when some bindings cannot be ended; the others are ended
 */
export async function gc(
  { allocator, node, runExclusive, files, sweepPorts, log }: GcDeps,
  { provider, valid }: Extract<PluginRequest, { verb: 'gc' }>,
  callerSignal: AbortSignal,
): Promise<void> {
  const signal = timeoutSignal(gcMs, callerSignal);
  const validKeys = new Set(valid.map(interfaceKey));
  const isStale = (container: ContainerInterface): boolean => {
    const saved = files.get(container);
    return saved !== undefined && namespaceState(saved) === 'deleted';
  };
  const stale = files
    .all()
    // Excludes bindings that lingering-bindings.ts ends.
    .filter(({ boundAs, isDeleted }) => boundAs === '' && !isDeleted)
    .filter((saved) => saved.provider === provider && !validKeys.has(interfaceKey(saved)) && isStale(saved));
  const errors = await endBindings(
    stale,
    {
      allocator,
      runExclusive,
      cause: 'UNBIND_CAUSE_GARBAGE_COLLECTED',
      evidence: describeDeletion,
      isStale,
      onEnded: (saved: SavedBinding) => files.remove(saved),
    },
    signal,
  );
  const ended = stale.length - errors.length;
  if (isOvnProvider(provider)) await sweepPorts?.(signal);
  log.info({ provider, node, ended, failed: errors.length, valid: valid.length }, 'gc: ended stale bindings');
  const [first] = errors;
  if (first)
    throw new IpledgerError(
      first.code,
      `${errors.length} of ${stale.length} stale bindings of provider ${provider} could not be ended: ${first.message}`,
      { cause: first },
    );
}

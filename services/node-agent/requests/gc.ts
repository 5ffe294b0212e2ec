/** CNI GC: the runtime sends the valid attachments of a network; the agent ends the node's other bindings of that network. */
import { timeoutSignal } from '../../../lib/process/abortable.ts';
import { IpledgerError } from '../../../lib/errors.ts';
import { isOvnProvider } from '../../../lib/kubernetes/provider.ts';
import { ovn4nfvProvider } from '../../../lib/ovn4nfv/names.ts';
import type { PluginRequest } from '../daemon/plugin-request.ts';
import type { NicDataPath } from './add.ts';
import type { BindingFiles } from '../bindings/binding-files.ts';
import { endBindings, listNodeBindings, type NodeBindingsDeps } from '../bindings/node-bindings.ts';
import { interfaceKey } from '../bindings/container-interface.ts';

// The plugin times out after 30 s.
const gcMs = 25_000;

export interface GcDeps extends NodeBindingsDeps {
  readonly files: BindingFiles;
  readonly dataPath?: Pick<NicDataPath, 'detachStale'> | undefined;
}

/**
 * Ends nothing for OVN4NFV: several networks share its provider, and the list has one network, with other names of interfaces. A DEL, a
 * reboot, and the end of the Pod end these bindings; and the ports of ended sandboxes are swept.
 *
 * Ends bindings of this node and provider only, and releases no address.
 * @throws IpledgerError when some bindings cannot be ended; the others are ended
 */
export async function gc(
  { allocator, node, runExclusive, files, dataPath, log }: GcDeps,
  { provider, valid }: Extract<PluginRequest, { verb: 'gc' }>,
  callerSignal: AbortSignal,
): Promise<void> {
  if (provider === ovn4nfvProvider) return;
  const signal = timeoutSignal(gcMs, callerSignal);
  const validKeys = new Set(valid.map(interfaceKey));
  // First the binding files: after a restore of the ledger the agent binds again what they contain.
  for (const saved of files.all())
    if (saved.provider === provider && !validKeys.has(interfaceKey(saved))) await files.remove(saved);
  const bindings = await listNodeBindings(node, allocator, signal);
  const stale = bindings.filter(
    ({ attachment, binding }) => attachment.provider === provider && !validKeys.has(interfaceKey(binding)),
  );
  const cause = 'UNBIND_CAUSE_GARBAGE_COLLECTED';
  // The runtime sends no ADD at the same time (CNI specification 1.1, section 3, "Lifecycle & Ordering"), so a stale binding stays stale.
  const errors = await endBindings(stale, { allocator, runExclusive, cause, isStale: () => true }, signal);
  const ended = stale.length - errors.length;
  if (isOvnProvider(provider)) await dataPath?.detachStale(provider, validKeys, signal);
  log.info({ provider, node, ended, failed: errors.length, valid: valid.length }, 'gc: ended stale bindings');
  const [first] = errors;
  if (first)
    throw new IpledgerError(
      first.code,
      `${errors.length} of ${stale.length} stale bindings of provider ${provider} could not be ended: ${first.message}`,
      { cause: first },
    );
}

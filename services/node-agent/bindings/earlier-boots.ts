/** Ends the bindings of earlier boots: a reboot ends all containers and sends no DELs. */
import { retryUntil } from '../../../lib/process/retry.ts';
import { endBindings, listNodeBindings, type NodeBindingsDeps } from './node-bindings.ts';
import { type ContainerInterface, interfaceKey } from './binding-files.ts';

const backoff = { firstBackoffMs: 500, maxBackoffMs: 60_000 };

export interface EarlierBoots {
  /** Ends the bindings; retries until the signal is aborted. ADDs do not wait for this. */
  endBindings(signal: AbortSignal): Promise<void>;
  /** Keeps the binding of an ADD, even if the container's ID was bound before the reboot. */
  exclude(container: ContainerInterface): void;
}

/** @param bootId the present boot of the node */
export function createEarlierBoots(
  { allocator, node, runExclusive, log }: NodeBindingsDeps,
  bootId: string,
): EarlierBoots {
  let excluded: Set<string> | undefined;

  async function endOnce(signal: AbortSignal): Promise<void> {
    const boundSince = (excluded = new Set()); // set before the list, so that no ADD during it is missed
    const bindings = await listNodeBindings(node, allocator, signal);
    const stale = bindings
      .filter(({ binding }) => binding.bootId !== bootId)
      .map(({ attachment, binding }) => ({ ...attachment, ...binding }));
    const isStale = (container: ContainerInterface): boolean => !boundSince.has(interfaceKey(container));
    const cause = 'UNBIND_CAUSE_NODE_REBOOTED';
    const [error] = await endBindings(stale, { allocator, runExclusive, cause, isStale }, signal);
    if (error) throw error;
    if (stale.length > 0) log.info({ node, ended: stale.length }, 'ended the bindings of earlier boots of this node');
  }

  return {
    exclude: (container) => void excluded?.add(interfaceKey(container)),
    async endBindings(signal) {
      const isRetryable = (): boolean => true;
      const onRetry = (err: Error): void =>
        log.warn({ err, node }, 'ending the bindings of earlier boots of this node failed; the agent retries');
      try {
        await retryUntil({ until: Infinity, signal }, () => endOnce(signal), { ...backoff, isRetryable, onRetry });
      } catch (error) {
        if (!signal.aborted) throw error;
      }
      excluded = undefined;
    },
  };
}

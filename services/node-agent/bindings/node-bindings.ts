/** Lists the ledger's bindings of this node, and ends the stale ones. */
import { IpledgerError } from '../../../lib/errors.ts';
import type { Logger } from '../../../lib/process/log.ts';
import type { Binding, SandboxBinding, UnbindCause } from '../../../proto/generated/ipledger.ts';
import type { BindingClient } from './binding-client.ts';
import { type ContainerInterface, interfaceKey } from './binding-files.ts';
import { createSemaphore } from '../../../lib/process/semaphore.ts';
import { readAll } from '../../../lib/ledger-client/pages.ts';
import { retryFor, retryUntil } from '../../../lib/process/retry.ts';
import type { KeyedMutex } from '../concurrency/keyed-mutex.ts';

const pageSize = 500;
const pageMs = 6_000;
const unbindMs = 6_000;
const attemptMs = 2_000;
const concurrentUnbinds = 16;

export interface NodeBinding {
  readonly attachment: { readonly namespace: string; readonly pod: string; readonly provider: string };
  readonly binding: Binding;
}

export interface NodeBindingsDeps {
  readonly allocator: BindingClient;
  readonly node: string;
  readonly runExclusive: KeyedMutex;
  readonly log: Logger;
}

/**
 * Lists all bindings of the node.
 * @throws IpledgerError when the allocator is unavailable
 */
export async function listNodeBindings(
  node: string,
  allocator: BindingClient,
  signal: AbortSignal,
): Promise<NodeBinding[]> {
  const readPage = (pageToken: string) =>
    retryUntil(retryFor(pageMs, signal), (remainingMs) =>
      allocator.listBindings({ node, pageSize, pageToken }, { timeoutMs: Math.min(remainingMs, attemptMs), signal }),
    );
  return readAll(readPage, ({ bindings }) => bindings.filter(isComplete));
}

const isComplete = (bound: SandboxBinding): bound is SandboxBinding & NodeBinding =>
  bound.attachment !== undefined && bound.binding !== undefined;

/** The fields that an Unbind names. */
export interface EndableBinding extends ContainerInterface {
  readonly namespace: string;
  readonly pod: string;
  readonly provider: string;
}

export interface EndBindingsOptions<T> {
  readonly allocator: BindingClient;
  readonly runExclusive: KeyedMutex;
  readonly cause: UnbindCause;
  /** Explains in the event how the agent knows that the container is deleted. */
  readonly evidence?: (bound: T) => string;
  /** Called after the container's earlier requests; returns whether to end the binding. */
  readonly isStale: (bound: T) => boolean;
  /** Called before the later requests of the container. */
  readonly onEnded?: (bound: T) => Promise<void>;
}

/** Ends bindings, each after its container's earlier requests. Resolves to the errors. */
export async function endBindings<T extends EndableBinding>(
  stale: readonly T[],
  { allocator, runExclusive, cause, evidence, isStale, onEnded }: EndBindingsOptions<T>,
  signal: AbortSignal,
): Promise<IpledgerError[]> {
  const semaphore = createSemaphore(concurrentUnbinds, stale.length);
  const ends = stale.map((bound) =>
    semaphore(signal, () =>
      runExclusive(interfaceKey(bound), signal, async () => {
        if (!isStale(bound)) return;
        const { namespace, pod, provider, containerId, interface: name } = bound;
        await retryUntil(retryFor(unbindMs, signal), (remainingMs) =>
          allocator.unbind(
            { namespace, pod, provider, containerId, interface: name, cause, evidence: evidence?.(bound) ?? '' },
            { timeoutMs: Math.min(remainingMs, attemptMs), signal },
          ),
        );
        await onEnded?.(bound);
      }),
    ),
  );
  const outcomes = await Promise.allSettled(ends);
  return outcomes.flatMap((end) => (end.status === 'rejected' ? IpledgerError.from(end.reason) : []));
}

/** Controller check: refuses to run while another controller renews its Lease. */
import { pause } from '../../lib/process/abortable.ts';
import { createLeaseObserver, type LeaseHolderStatus } from '../../lib/kubernetes/lease-observer.ts';
import { CliError } from '../cli-error.ts';
import type { KubernetesClient } from '../clients/kubernetes-client.ts';

const readAgainMs = 1_000;

/** The Lease of a controller, and the error message while its holder renews it. */
export interface ControllerLease {
  /** The API path. */
  readonly lease: string;
  readonly describeHolder: (holder: Exclude<LeaseHolderStatus, string>) => string;
}

/**
 * Resolves when the Lease has no active holder. For a stopped holder that takes the duration of the
 * Lease.
 * @throws CliError when the holder renews it.
 */
export async function assertControllerStopped(
  { get }: Pick<KubernetesClient, 'get'>,
  { lease, describeHolder }: ControllerLease,
  signal: AbortSignal,
): Promise<void> {
  const observe = createLeaseObserver();
  for (;;) {
    const status = observe(await get(lease));
    if (status === 'absent') return;
    if (status !== 'unknown') throw new CliError('refused', describeHolder(status));
    await pause(readAgainMs, signal);
    signal.throwIfAborted();
  }
}

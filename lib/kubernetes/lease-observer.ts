/**
 * Determines from repeated reads whether the holder of a Lease is alive. It is alive when it renews the Lease, and absent when the
 * Lease is unchanged for its duration by the local clock. Times in the Lease are ignored, so one read of a held Lease decides nothing.
 */

/** The fields of a Lease about its holder. */
export interface ObservedLease {
  readonly spec?: {
    readonly holderIdentity?: unknown;
    readonly renewTime?: unknown;
    readonly leaseDurationSeconds?: unknown;
  };
}

export type LeaseHolderStatus = 'absent' | 'unknown' | { readonly holder: string; readonly renewed: string };

/** The duration of a Lease without one: the default of Kubernetes' controllers. */
const defaultDurationSeconds = 15;

/** Returns a function that takes each read of a Lease (undefined if it does not exist) and returns the status of its holder. */
export function createLeaseObserver(): (lease: ObservedLease | undefined) => LeaseHolderStatus {
  let observed: { readonly renewal: string; readonly at: number } | undefined;
  return (lease) => {
    const { holderIdentity, renewTime, leaseDurationSeconds } = lease?.spec ?? {};
    const [holder, renewed] = [text(holderIdentity), text(renewTime)];
    if (holder === '') {
      observed = undefined;
      return 'absent';
    }
    const renewal = `${holder} ${renewed}`;
    observed ??= { renewal, at: performance.now() };
    if (observed.renewal !== renewal) return { holder, renewed };
    const durationMs = (Number(leaseDurationSeconds) || defaultDurationSeconds) * 1_000;
    return performance.now() - observed.at > durationMs ? 'absent' : 'unknown';
  };
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

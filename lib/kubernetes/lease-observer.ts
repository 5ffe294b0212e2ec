/**
 * Observes Leases that other programs hold. Repeated reads show whether a holder is alive: it is
 * alive if it renews the Lease, and absent if the Lease is unchanged for its duration by the local
 * clock. Times in the Lease are ignored, so a single read of a held Lease decides nothing.
 */
import { asText } from './untyped-json.ts';
import { leasesPath, objectPath } from './client/object-requests.ts';

export interface ObservedLease {
  readonly spec?: {
    readonly holderIdentity?: unknown;
    readonly renewTime?: unknown;
    readonly leaseDurationSeconds?: unknown;
  };
}

export type LeaseHolderStatus = 'absent' | 'unknown' | { readonly holder: string; readonly renewed: string };

/** The duration of a Lease that states none: the default of Kubernetes' controllers. */
const defaultDurationSeconds = 15;

/** Returns a function from each read of a Lease (undefined: absent) to its holder's status. */
export function createLeaseObserver(): (lease: ObservedLease | undefined) => LeaseHolderStatus {
  let observed: { readonly renewal: string; readonly at: number } | undefined;
  return (lease) => {
    const { holderIdentity, renewTime, leaseDurationSeconds } = lease?.spec ?? {};
    const [holder, renewed] = [asText(holderIdentity), asText(renewTime)];
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

/** The API path of the Lease of Kube-OVN's controller. */
export const kubeOvnLeasePath = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-ovn-controller';

/** The error while Kube-OVN's controller runs. @param then the next step, as an imperative */
export const kubeOvnRunningMessage = (
  { holder, renewed }: { readonly holder: string; readonly renewed: string },
  then: string,
): string =>
  `Kube-OVN's controller is running: ${holder} holds the Lease kube-system/kube-ovn-controller (renewed ${renewed}). ` +
  `Two controllers on the same Subnets and IPs corrupt both: stop kube-ovn-controller first, then ${then}`;

/** The Lease of the pod-watcher. CLI verbs that change the same objects need it to be stopped. */
export const podWatcherLease = 'ipledger-pod-watcher';

/** The API path of the pod-watcher's Lease. */
export const podWatcherLeasePath = (namespace: string): string => objectPath(leasesPath(namespace), podWatcherLease);

/** Checks whether Kube-OVN's own controller runs on this cluster. */
import {
  kubeOvnLeasePath,
  createLeaseObserver,
  type ObservedLease,
  type LeaseHolderStatus,
} from '../../../lib/kubernetes/lease-observer.ts';
import type { Api } from '../../../lib/kubernetes/client/kubernetes-api.ts';
import { ifPresent } from '../../../lib/kubernetes/client/api-error.ts';
import { readObject } from '../../../lib/kubernetes/client/object-requests.ts';

/** Compares the controller's Lease with earlier reads, at each call. Throws ApiError. */
export function kubeOvnControllerCheck(api: Api): (signal: AbortSignal) => Promise<LeaseHolderStatus> {
  const observe = createLeaseObserver();
  return async (signal) =>
    observe((await ifPresent(readObject(api, kubeOvnLeasePath, signal))) as ObservedLease | undefined);
}

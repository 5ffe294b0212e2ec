/** The Lease of the pod-watcher. Verbs that change what it manages require that it is stopped. */
import { leasesPath, objectPath } from './client/object-requests.ts';

export const podWatcherLease = 'ipledger-pod-watcher';

/** Its API path. */
export const podWatcherLeasePath = (namespace: string): string => objectPath(leasesPath(namespace), podWatcherLease);

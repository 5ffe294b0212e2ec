/** The Lease of the pod-watcher. Verbs that change what it manages require that it is stopped. */

export const podWatcherLease = 'ipledger-pod-watcher';

/** Its API path. */
export const podWatcherLeasePath = (namespace: string): string =>
  `/apis/coordination.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/leases/${podWatcherLease}`;

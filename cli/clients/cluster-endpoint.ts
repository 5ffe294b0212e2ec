/** Endpoints that name the allocators of a cluster. */

/** As the chart and docs/install.md name it. */
export const chartNamespace = 'ipledger-system';

/** The namespace of the endpoint "kubernetes" or "kubernetes/NAMESPACE"; undefined for another endpoint. */
export function namespaceOf(endpoint: string): string | undefined {
  const match = /^kubernetes(?:\/([a-z0-9-]{1,63}))?$/.exec(endpoint);
  return match ? (match[1] ?? chartNamespace) : undefined;
}

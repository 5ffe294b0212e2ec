/** Request counts of a kube-apiserver by verb and resource, from its own metrics. */
import type { Cluster } from '../harness/kubernetes/cluster.ts';

/** Counts by "VERB resource". A subresource follows a slash: "PATCH subnets/status". */
export type RequestCounts = ReadonlyMap<string, number>;

/** Reads the counts since the server started. */
export async function readRequestCounts({ kubectl }: Cluster): Promise<RequestCounts> {
  const counts = new Map<string, number>();
  for (const line of (await kubectl(['get', '--raw', '/metrics'])).split('\n')) {
    const labels = /^apiserver_request_total\{(.*)\} (\S+)$/.exec(line);
    if (!labels) continue;
    const label = (name: string): string => new RegExp(`\\b${name}="([^"]*)"`).exec(labels[1] ?? '')?.[1] ?? '';
    const subresource = label('subresource');
    const kind = `${label('verb')} ${label('resource')}${subresource === '' ? '' : `/${subresource}`}`;
    counts.set(kind, (counts.get(kind) ?? 0) + Number(labels[2]));
  }
  return counts;
}

/** Counts the requests of a kind between two readings. */
export const countSince = (before: RequestCounts, after: RequestCounts, kind: string): number =>
  (after.get(kind) ?? 0) - (before.get(kind) ?? 0);

/** How many requests of which kind a kube-apiserver has answered, as it counts them itself. */
import type { Cluster } from '../harness/cluster.ts';

/** "PATCH pods" → how many; a subresource is named behind a slash, as in "PATCH subnets/status". */
export type Requests = ReadonlyMap<string, number>;

/** All since the server began. */
export async function requestsSoFar({ kubectl }: Cluster): Promise<Requests> {
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

/** How many of one kind between two looks. */
export const between = (before: Requests, after: Requests, kind: string): number =>
  (after.get(kind) ?? 0) - (before.get(kind) ?? 0);

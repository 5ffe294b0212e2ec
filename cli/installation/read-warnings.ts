/** Reads the warning Events of ipledger's namespace: why Pods, claims and workloads fail. */
import { asRecord, asText, type UntypedJson } from '../../lib/kubernetes/untyped-json.ts';
import type { KubernetesClient } from '../clients/kubernetes-client.ts';
import type { Warning } from './facts.ts';
import { shorten } from './pod-problems.ts';

const maxWarnings = 500;

/** The newest one of each object and reason, newest first. @throws CliError */
export async function readWarnings({ list }: Pick<KubernetesClient, 'list'>, namespace: string): Promise<Warning[]> {
  const selector = encodeURIComponent('type=Warning');
  const items = await list(`/api/v1/namespaces/${namespace}/events?fieldSelector=${selector}`);
  const newestFirst = items
    .map(parseEvent)
    .toSorted((one, other) => (Date.parse(other.at) || 0) - (Date.parse(one.at) || 0));
  const byReason = Map.groupBy(newestFirst, ({ kind, name, reason }) => `${kind} ${name} ${reason}`);
  return [...byReason.values()].flatMap(([newest]) => newest ?? []).slice(0, maxWarnings);
}

/** An Event has its time in one of three fields: kubelet, the scheduler and controllers differ. */
export const timeOf = ({ series, lastTimestamp, eventTime }: UntypedJson): string =>
  asText(asRecord(series)['lastObservedTime']) || asText(lastTimestamp) || asText(eventTime);

function parseEvent(item: UntypedJson): Warning {
  const { kind, name } = asRecord(item['involvedObject']);
  const message = shorten(asText(item['message']));
  return { kind: asText(kind), name: asText(name), reason: asText(item['reason']), message, at: timeOf(item) };
}

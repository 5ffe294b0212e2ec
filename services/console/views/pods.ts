/** The page of a Pod: its allocations, why it has them, and the events of all Pods of its name. */
import { type Allocation, type Event, LedgerService, type WhyReply } from '../../../proto/generated/ipledger.ts';
import { formatCause, shortContainerId } from '../../../lib/ledger-text/texts.ts';
import type { PodPage } from '../api/pod.ts';
import type { View } from '../http/routes.ts';
import { type LedgerReads, positionOf } from '../ledger/ledger-reads.ts';
import { allocationRow } from '../rows/allocation-row.ts';
import { ipledger } from '../rows/command.ts';
import { eventRow } from '../rows/event-row.ts';

export function showPod(reads: LedgerReads): View {
  return async ({ params: { namespace = '', pod = '' }, query, signal }) => {
    const [pageToken, pageSize] = [query.page(), query.limit()];
    const reply = await reads.readModel.call(LedgerService.why, { namespace, pod, pageSize, pageToken }, signal);
    const isFirst = pageToken === '';
    const body: PodPage = {
      position: positionOf(reply),
      command: ipledger(['why', `${namespace}/${pod}`]),
      namespace,
      pod,
      allocations: isFirst ? reply.allocations.map(allocationRow) : [],
      why: isFirst ? explain(reply) : [],
      items: reply.events.map(eventRow),
      nextPage: reply.nextPageToken,
    };
    return { body };
  };
}

/** Explains the Pod from the ledger alone. `ipledger why` also reads the cluster. */
function explain({ allocations, events }: WhyReply): string[] {
  const held = allocations.map(explainAllocation);
  const granted = events.findIndex((event) => event.addressAllocated ?? event.addressTransferred);
  const refused = events.slice(0, granted < 0 ? undefined : granted).find((event) => event.allocationRefused);
  const waits = refused?.allocationRefused;
  const refusals = waits
    ? [`since ${inWords(refused.at)} it waits for an address of ${waits.attachment?.provider ?? ''}: ${waits.message}`]
    : [];
  if (held.length + refusals.length > 0) return [...refusals, ...held];
  return [explainEnd(events)];
}

function explainAllocation({ addresses, subnet, bindings, node }: Allocation): string {
  const has = `it has ${addresses.map(({ address }) => address).join(' and ')} of subnet ${subnet}`;
  const [binding] = bindings;
  if (binding) return `${has}, and container ${shortContainerId(binding.containerId)} on node ${binding.node} uses it`;
  return node === ''
    ? `${has}, and waits to be scheduled to a node`
    : `${has}, and no container on node ${node} uses it yet`;
}

function explainEnd(events: readonly Event[]): string {
  const last = events.find((event) => event.addressReleased);
  if (!last?.addressReleased) return 'the ledger has no request of a Pod with this name';
  return `it has no address: ${last.actor} released the last one at ${inWords(last.at)} (${formatCause(last.addressReleased.cause)})`;
}

/** Returns an instant of the ledger as the pages show it. */
const inWords = (at: string): string => at.replace('T', ' ').replace(/(\.\d+)?Z$/, ' UTC');

/** Lists of events: of a Subnet, a Pod, a node, an owner or an address; and one event. */
import { IpledgerError } from '../../../lib/errors.ts';
import type { MessageInput } from '../../../proto/codec.ts';
import { type HistoryReply, type HistoryRequest, LedgerService } from '../../../proto/generated/ipledger.ts';
import type { EventPage } from '../api/event.ts';
import type { Query } from '../http/query.ts';
import type { View } from '../http/routes.ts';
import { type LedgerReads, maxAddressEvents, positionOf } from '../ledger/ledger-reads.ts';
import { ipledger } from '../rows/command.ts';
import { eventDetail, eventRow } from '../rows/event-row.ts';

export function listEvents(reads: LedgerReads): View {
  return async ({ query, signal }) => {
    const request = readRequest(query);
    const reply = await readEvents(reads, request, signal);
    const body: EventPage = {
      position: positionOf(reply),
      command: commandOf(request),
      items: reply.events.map(eventRow),
      nextPage: reply.nextPageToken,
    };
    return { body };
  };
}

type EventRequest = MessageInput<HistoryRequest> & Readonly<Record<Subject, string>>;
type Subject = 'address' | 'subnet' | 'namespace' | 'pod' | 'node' | 'since' | 'until';

function readRequest(query: Query): EventRequest {
  const owner = { name: query.text('owner'), kind: query.text('ownerKind', 63), uid: '' };
  const address = query.address('address');
  return {
    address,
    subnet: query.text('subnet'),
    namespace: query.text('namespace', 63),
    pod: query.text('pod'),
    node: query.text('node'),
    since: query.instant('since'),
    until: query.instant('until'),
    ...(owner.name !== '' && { owner }),
    pageSize: query.limit(address === '' ? undefined : maxAddressEvents),
    pageToken: query.page(),
  };
}

/** Reads events of an address from the allocator: the read model has no index of addresses. */
function readEvents(reads: LedgerReads, request: EventRequest, signal: AbortSignal): Promise<HistoryReply> {
  if (request.address !== '') return reads.history(request, signal);
  return reads.readModel.call(LedgerService.history, request, signal);
}

function commandOf({ address, subnet, namespace, pod, node, owner, since, until }: EventRequest): string {
  const options = { since, until };
  if (address !== '') return ipledger(['history', address], { subnet, ...options });
  const ofSubnet = { subnet, ...options };
  if (pod !== '') return ipledger(['history', 'pod', `${namespace}/${pod}`], ofSubnet);
  if (node !== '') return ipledger(['history', 'node', node], ofSubnet);
  if (owner) {
    const name = [namespace, owner.kind ?? '', owner.name ?? ''].filter((part) => part !== '').join('/');
    return ipledger(['history', 'owner', name], ofSubnet);
  }
  return subnet === '' ? ipledger(['history', 'all'], options) : ipledger(['history', 'subnet', subnet], options);
}

/** Shows an event. The page token of a list is the number of the event that it begins with. */
export function showEvent(reads: LedgerReads): View {
  return async ({ params: { seq: text = '' }, signal }) => {
    if (!/^[1-9]\d{0,14}$/.test(text))
      throw new IpledgerError('INVALID_REQUEST', 'the number of an event is 1 or more');
    const reply = await reads.readModel.call(LedgerService.history, { pageSize: 1, pageToken: text }, signal);
    const [event] = reply.events;
    if (event?.seq !== Number(text)) throw new IpledgerError('POSITION_GONE', `the ledger has no event ${text}`);
    return { body: eventDetail(event) };
  };
}

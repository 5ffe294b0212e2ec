/** What the read model answers: Ledger.History of anything but addresses, and Ledger.Why. */
import { within } from '../../lib/deadline.ts';
import { IpledgerError } from '../../lib/errors.ts';
import {
  type HistoryAbout,
  type Page,
  pageSize,
  type Period,
  readHistory,
  readSeqToken,
  required,
} from '../../lib/serving/read.ts';
import type { CallContext, Handlers } from '../../lib/serving/serve.ts';
import type { Input } from '../../proto/codec.ts';
import type { Allocation, HistoryReply, LedgerService, Position, WhyReply, WhyRequest } from '../../proto/ipledger.ts';
import type { Model } from './model.ts';
import { firstSince, search, type Wanted } from './store/search.ts';
import type { Store } from './store/store.ts';

/** The events that happened so soon before a question that they are not here yet are waited for. */
const mostBehindMs = 10_000;
const mostOwners = 1_000;

/** What a Pod holds now is the allocator's to say. */
export type Holdings = (
  pod: { readonly namespace: string; readonly pod: string },
  signal: AbortSignal,
) => Promise<{ readonly allocations: readonly Allocation[]; readonly position: Position }>;

/** Handlers for the part of the API that is served here. */
export function answersOf(model: Model, holdings: Holdings): Handlers<typeof LedgerService> {
  return {
    history: (request) => {
      const { about, period, page } = readHistory(request);
      return history(model, { about, period, page });
    },
    why: (request, context) => why(model, holdings, request, context),
  };
}

interface Question {
  readonly about: HistoryAbout;
  readonly period: Period;
  readonly page: Page;
}

async function history(model: Model, { about, period, page }: Question): Promise<Input<HistoryReply>> {
  const { store } = model;
  const { position } = store;
  if (about.address !== '')
    throw new IpledgerError(
      'NOT_IMPLEMENTED',
      'the read model does not know addresses: ask an allocator, which goes from event to event',
    );
  const last = period.until === Infinity ? position.seq : firstSince(store, period.until) - 1;
  const first = period.since === -Infinity ? store.firstSeq : firstSince(store, period.since);
  return { position, ...(await turn(store, wantedBy(store, about), { last, first, page })) };
}

async function why(
  model: Model,
  holdings: Holdings,
  request: WhyRequest,
  { signal }: CallContext,
): Promise<Input<WhyReply>> {
  const namespace = required('namespace', request.namespace);
  const pod = required('pod', request.pod);
  const page = { token: request.pageToken, size: pageSize(request.pageSize, 100, 1_000) };
  const { allocations, position } = await holdings({ namespace, pod }, signal);
  await caughtUp(model, position.seq, signal);
  const { store } = model;
  const wanted = { leads: leadsBy('pod', store.keys('pods', { namespace, name: pod }, 1)) };
  const found = await turn(store, wanted, { last: position.seq, first: store.firstSeq, page });
  return { position, allocations, ...found };
}

async function caughtUp(model: Model, seq: number, signal: AbortSignal): Promise<void> {
  const { store } = model;
  try {
    await model.reached(seq, within(mostBehindMs, signal));
  } catch (error) {
    if (signal.aborted) throw error;
    const message = `the read model knows event ${store.position.seq} and not yet ${seq}: ask an allocator, or later`;
    throw new IpledgerError('UNAVAILABLE', message, { cause: error });
  }
}

interface Stretch {
  readonly last: number;
  readonly first: number;
  readonly page: Page;
}

/** One page. What was found is told first; whoever goes on behind the first event that is known here is told that there was more. */
async function turn(store: Store, wanted: Wanted, { last, first, page }: Stretch) {
  const from = page.token === '' ? last : Math.min(last, readSeqToken(page.token));
  const { firstSeq } = store;
  const isCut = firstSeq > 1 && first === firstSeq;
  if (isCut && from < firstSeq)
    throw new IpledgerError(
      'POSITION_GONE',
      `the read model begins with event ${firstSeq} and does not know event ${from}: ask an allocator`,
    );
  const { events, searched, more } = await search(store, wanted, { last: from, first, most: page.size });
  return { events, searchedSeq: searched, nextPageToken: more || isCut ? String(searched - 1) : '' };
}

/** What nobody has ever heard of has no events. */
function wantedBy(store: Store, { subnet, namespace, pod, node, owner }: HistoryAbout): Wanted {
  const subnets = subnet === '' ? undefined : store.keys('subnets', { name: subnet }, 1);
  const within = subnets && { subnet: subnets[0] ?? -1 };
  if (pod !== '') return { ...within, leads: leadsBy('pod', store.keys('pods', { namespace, name: pod }, 1)) };
  if (node !== '') return { ...within, leads: leadsBy('node', store.keys('nodes', { name: node }, 1)) };
  if (owner.uid + owner.kind + owner.name !== '') {
    const keys = store.keys('owners', { ...owner, namespace }, mostOwners + 1);
    if (keys.length <= mostOwners) return { ...within, leads: leadsBy('owner', keys) };
    throw new IpledgerError('INVALID_REQUEST', `more than ${mostOwners} owners are so: name one, or its uid`);
  }
  return subnets ? { leads: leadsBy('subnet', subnets) } : {};
}

const leadsBy = (column: 'pod' | 'node' | 'owner' | 'subnet', keys: readonly number[]) =>
  keys.map((key) => ({ column, key }));

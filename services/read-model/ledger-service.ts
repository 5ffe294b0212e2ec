/** The handlers of the read model: Ledger.Why, and Ledger.History without addresses. */
import { timeoutSignal } from '../../lib/process/abortable.ts';
import { IpledgerError } from '../../lib/errors.ts';
import {
  type HistorySubject,
  type PageRequest,
  readHistoryPage,
  type Period,
  readHistory,
  readInstant,
  readSeqToken,
  requireField,
} from '../../lib/grpc/server/read-request.ts';
import type { CallContext, Handlers } from '../../lib/grpc/server/serve.ts';
import type { MessageInput } from '../../proto/codec.ts';
import type {
  Allocation,
  HistoryReply,
  LedgerService,
  NextAllocationsReply,
  NextAllocationsRequest,
  Position,
  WhyReply,
  WhyRequest,
} from '../../proto/generated/ipledger.ts';
import type { ReadModel } from './read-model.ts';
import { firstSeqSince, searchEvents, type SearchCriteria } from './store/event-search.ts';
import type { EventStore } from './store/event-store.ts';

const maxOwners = 1_000;

/** The calls that the handlers send to the allocator. */
export interface LedgerQueries {
  /** Lists the present allocations of a Pod. */
  readonly listPodAllocations: (
    pod: { readonly namespace: string; readonly pod: string },
    signal: AbortSignal,
  ) => Promise<{ readonly allocations: readonly Allocation[]; readonly position: Position }>;
  /** Reads the ledger's head after the call. @throws IpledgerError without an answer */
  readonly readHead: () => Promise<Position>;
  /** How long a query waits until the newest events arrive. */
  readonly maxWaitMs: number;
}

export function ledgerHandlers(model: ReadModel, ledger: LedgerQueries): Partial<Handlers<typeof LedgerService>> {
  return {
    history: async (request, { signal }) => {
      const { about, period, page } = readHistory(request);
      if (about.address !== '')
        throw new IpledgerError('NOT_IMPLEMENTED', 'the read model does not index addresses: call an allocator');
      await waitUntilCurrent(model, ledger, signal);
      return history(model, { about, period, page }, signal);
    },
    nextAllocations: async (request, { signal }) => {
      await waitUntilCurrent(model, ledger, signal);
      return nextAllocations(model, request);
    },
    why: (request, context) => why(model, ledger, request, context),
  };
}

/** Compares the store with the ledger's head, because a silent stream may lack events. */
async function waitUntilCurrent(model: ReadModel, ledger: LedgerQueries, signal: AbortSignal): Promise<void> {
  assertReady(model);
  let head: Position;
  try {
    head = await ledger.readHead();
  } catch (error) {
    const { message } = IpledgerError.from(error);
    throw new IpledgerError('UNAVAILABLE', `the read model cannot compare its events with the ledger: ${message}`, {
      cause: error,
    });
  }
  await waitForPosition(model, head, ledger.maxWaitMs, signal);
}

/** @throws IpledgerError UNAVAILABLE */
const assertReady = (model: ReadModel): void => void model.store;

interface HistoryQuery {
  readonly about: HistorySubject;
  readonly period: Period;
  readonly page: PageRequest;
}

async function history(
  model: ReadModel,
  { about, period, page }: HistoryQuery,
  signal: AbortSignal,
): Promise<MessageInput<HistoryReply>> {
  const { store } = model;
  const { position } = store;
  const last = period.until === Infinity ? position.seq : firstSeqSince(store, period.until) - 1;
  const first = period.since === -Infinity ? store.firstSeq : firstSeqSince(store, period.since);
  return { position, ...(await searchPage(store, criteriaFor(store, about), { last, first, page, signal })) };
}

const maxNextAllocations = 2;

async function nextAllocations(
  { store }: ReadModel,
  request: NextAllocationsRequest,
): Promise<MessageInput<NextAllocationsReply>> {
  const [address, subnet] = [requireField('address', request.address), requireField('subnet', request.subnet)];
  const after = readInstant('after', requireField('after', request.after)) ?? 0;
  return { seqs: store.allocationsFrom({ subnet, address }, firstSeqSince(store, after + 1), maxNextAllocations) };
}

async function why(
  model: ReadModel,
  { listPodAllocations, maxWaitMs }: LedgerQueries,
  request: WhyRequest,
  { signal }: CallContext,
): Promise<MessageInput<WhyReply>> {
  const namespace = requireField('namespace', request.namespace);
  const pod = requireField('pod', request.pod);
  const page = readHistoryPage(request);
  const { allocations, position } = await listPodAllocations({ namespace, pod }, signal);
  await waitForPosition(model, position, maxWaitMs, signal);
  const { store } = model;
  const criteria = { anyOf: keysOf('pod', store.findKeys('pods', { namespace, name: pod }, 1)) };
  const found = await searchPage(store, criteria, { last: position.seq, first: store.firstSeq, page, signal });
  return { position, allocations, ...found };
}

/** @throws IpledgerError UNAVAILABLE if the position does not arrive */
async function waitForPosition(
  model: ReadModel,
  { seq, hash }: Position,
  maxWaitMs: number,
  signal: AbortSignal,
): Promise<void> {
  assertReady(model);
  try {
    await model.waitForSeq(seq, timeoutSignal(maxWaitMs, signal));
  } catch (error) {
    if (signal.aborted) throw error;
    const message = `the read model has read the events up to ${model.position.seq}, and event ${seq} did not arrive in time: call an allocator, or try again later`;
    throw new IpledgerError('UNAVAILABLE', message, { cause: error });
  }
  const { store } = model;
  if (seq >= store.firstSeq && seq > 0 && store.hashOf(seq) !== hash)
    throw new IpledgerError(
      'UNAVAILABLE',
      `event ${seq} of the read model is not that of the ledger, which was restored from a backup or replaced: call an allocator, or try again later`,
    );
}

interface PageRange {
  readonly last: number;
  readonly first: number;
  readonly page: PageRequest;
  /** Aborted when the caller has gone. */
  readonly signal: AbortSignal;
}

/** Searches one page. Rejects a page token before the store's first event. */
async function searchPage(store: EventStore, criteria: SearchCriteria, { last, first, page, signal }: PageRange) {
  const from = page.token === '' ? last : Math.min(last, readSeqToken(page.token));
  const { firstSeq } = store;
  const isCut = firstSeq > 1 && first === firstSeq;
  if (isCut && from < firstSeq)
    throw new IpledgerError(
      'POSITION_GONE',
      `the read model begins with event ${firstSeq} and does not contain event ${from}: call an allocator`,
    );
  const { events, searched, more } = await searchEvents(
    store,
    criteria,
    { last: from, first, limit: page.size },
    signal,
  );
  return { events, searchedDownToSeq: searched, nextPageToken: more || isCut ? String(searched - 1) : '' };
}

/** Converts a subject to criteria. An unknown Pod, node, owner or Subnet matches no event. */
function criteriaFor(store: EventStore, { subnet, namespace, pod, node, owner }: HistorySubject): SearchCriteria {
  const subnets = subnet === '' ? undefined : store.findKeys('subnets', { name: subnet }, 1);
  const inSubnet = subnets && { subnet: subnets[0] ?? -1 };
  if (pod !== '') return { ...inSubnet, anyOf: keysOf('pod', store.findKeys('pods', { namespace, name: pod }, 1)) };
  if (node !== '') return { ...inSubnet, anyOf: keysOf('node', store.findKeys('nodes', { name: node }, 1)) };
  if (owner.uid + owner.kind + owner.name !== '') {
    const keys = store.findKeys('owners', { ...owner, namespace }, maxOwners + 1);
    if (keys.length <= maxOwners) return { ...inSubnet, anyOf: keysOf('owner', keys) };
    throw new IpledgerError('INVALID_REQUEST', `more than ${maxOwners} owners match: name one, or set its uid`);
  }
  return subnets ? { anyOf: keysOf('subnet', subnets) } : {};
}

const keysOf = (column: 'pod' | 'node' | 'owner' | 'subnet', keys: readonly number[]) =>
  keys.map((key) => ({ column, key }));

/**
 * Shares calls. A caller only gets the result of a call that began after the request, because an
 * earlier one may be outdated. At most one call runs, and one waits.
 */
export function shareCalls<Value>(start: () => Promise<Value>): () => Promise<Value> {
  let running: Promise<Value> | undefined;
  let next: Promise<Value> | undefined;
  const begin = (): Promise<Value> => {
    const call = start().finally(() => {
      if (running === call) running = undefined;
    });
    running = call;
    return call;
  };
  const beginNext = (): Promise<Value> => {
    next = undefined;
    return begin();
  };
  return () => {
    if (!running) return begin();
    next ??= running.then(beginNext, beginNext);
    return next;
  };
}

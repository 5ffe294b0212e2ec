/** Streams new events as server-sent events: the shared subscription, filtered for a browser. */
import type { ServerResponse } from 'node:http';
import { IpledgerError } from '../../../lib/errors.ts';
import type { EventRow } from '../api/event.ts';
import type { StreamView, StreamViewer } from '../http/api.ts';
import { errorBody, HttpError } from '../http/http-error.ts';
import type { Query } from '../http/query.ts';
import { toJson } from '../http/reply.ts';
import type { LiveEvents } from '../ledger/live-events.ts';

const maxStreams = 200;
const maxStreamsOfPerson = 8;
/** The unsent bytes at which a browser is disconnected. It continues when it reconnects. */
const maxUnsentBytes = 1 << 20;
const rowsPerPiece = 100;
/** The most missed events of a browser, with those that happen until it has read them. */
const maxBacklog = 20_000;

const eventStream = 'text/event-stream';
const streamHeaders = { 'Content-Type': `${eventStream}; charset=utf-8`, 'X-Accel-Buffering': 'no' };

export interface StreamOptions {
  readonly events: LiveEvents;
  /** Aborts to end all streams. */
  readonly signal: AbortSignal;
  /** The time between two keepalives. */
  readonly keepaliveMs?: number;
}

export interface EventStreams {
  readonly stream: StreamView;
  readonly count: () => number;
}

export function createEventStreams({ events, signal, keepaliveMs = 10_000 }: StreamOptions): EventStreams {
  const open = new Set<ServerResponse>();
  const stream: StreamView = (viewer, query, request, response) => {
    const person = viewer.session?.person;
    if (open.size >= maxStreams || (person?.streams ?? 0) >= maxStreamsOfPerson)
      throw new HttpError(503, 'OVERLOADED', 'too many streams are open: close other pages of the console');
    if (person?.streamOpens.take(performance.now()) === false)
      throw new HttpError(429, 'RATE_LIMITED', 'too many streams were opened: try again in a second');
    const matches = filterOf(query);
    const lastId = request.headers['last-event-id'];
    const from = typeof lastId === 'string' && /^\d{1,15}$/.test(lastId) ? Number(lastId) : readFrom(query);
    let missed: readonly EventRow[];
    try {
      missed = from === undefined ? [] : events.after(from);
    } catch (thrown) {
      // An EventSource hides the status of an error from its page, and would try again
      if (request.headers.accept !== eventStream) throw thrown;
      response.writeHead(200, streamHeaders).end(endFrame(thrown));
      return;
    }
    open.add(response);
    if (person) person.streams++;
    response.socket?.setNoDelay(true);
    response.writeHead(200, streamHeaders);
    const unsubscribe = send({ events, viewer, response, matches, missed, keepaliveMs, signal });
    response.once('close', () => {
      unsubscribe();
      open.delete(response);
      if (person) person.streams--;
    });
  };
  return { stream, count: () => open.size };
}

const readFrom = (query: Query): number | undefined =>
  query.text('from', 15) === '' ? undefined : query.number('from', { min: 0, max: 1e15, byDefault: 0 });

interface Sending {
  readonly events: LiveEvents;
  readonly viewer: StreamViewer;
  readonly response: ServerResponse;
  readonly matches: (row: EventRow) => boolean;
  readonly missed: readonly EventRow[];
  readonly keepaliveMs: number;
  readonly signal: AbortSignal;
}

/** Returns a function that ends the sending. */
function send({ events, viewer, response, matches, missed, keepaliveMs, signal }: Sending): () => void {
  const backlog = missed.filter(matches);
  /** Returns false if the browser must read first: `drain` follows. */
  const write = (text: string): boolean => {
    const isRead = response.write(text);
    if (response.writableLength > maxUnsentBytes) response.destroy();
    return isRead;
  };
  const sendBacklog = (): void => {
    let isRead = true;
    while (isRead && backlog.length > 0) isRead = write(backlog.splice(0, rowsPerPiece).map(eventFrame).join(''));
  };
  const sendNew = (rows: readonly EventRow[]): void => {
    const found = rows.filter(matches);
    if (backlog.length > 0) backlog.push(...found);
    else if (found.length > 0) write(found.map(eventFrame).join(''));
    if (backlog.length > maxBacklog) response.destroy();
  };
  const sendPosition = (): void => {
    const { epoch = 0, seq = 0 } = events.position ?? {};
    write(`event: position\ndata: ${JSON.stringify({ epoch, seq })}\n\n`);
  };
  const end = (thrown: unknown): void => void response.end(endFrame(thrown));
  const keepAlive = (): void => void viewer.verify().then(sendPosition, end);
  const endWith = (cause: AbortSignal) => (): void => end(cause.reason);
  const [endProgram, endSession] = [endWith(signal), viewer.session && endWith(viewer.session.signal)];
  sendPosition();
  sendBacklog();
  response.on('drain', sendBacklog);
  const unsubscribe = events.subscribe(sendNew);
  const unsubscribeLost = events.subscribeLost(() =>
    end(new IpledgerError('POSITION_GONE', 'the ledger was restored from a backup: load the list again')),
  );
  const timer = setInterval(keepAlive, keepaliveMs);
  signal.addEventListener('abort', endProgram, { once: true });
  if (endSession) viewer.session?.signal.addEventListener('abort', endSession, { once: true });
  return () => {
    unsubscribe();
    unsubscribeLost();
    clearInterval(timer);
    signal.removeEventListener('abort', endProgram);
    if (endSession) viewer.session?.signal.removeEventListener('abort', endSession);
  };
}

const endFrame = (thrown: unknown): string => `event: end\ndata: ${toJson(errorBody(IpledgerError.from(thrown)))}\n\n`;

const frames = new WeakMap<EventRow, string>();

/** The frame of an event, encoded once for all browsers. A line of JSON contains no line feed. */
function eventFrame(row: EventRow): string {
  const frame = frames.get(row) ?? `id: ${row.seq}\nevent: event\ndata: ${toJson(row)}\n\n`;
  frames.set(row, frame);
  return frame;
}

/** Returns the filter of a query. All fields must match; '' matches everything. */
function filterOf(query: Query): (row: EventRow) => boolean {
  const [subnet, namespace, pod, node] = [
    query.text('subnet'),
    query.text('namespace', 63),
    query.text('pod'),
    query.text('node'),
  ];
  const [address, type, actor] = [query.address('address'), query.text('type', 63), query.text('actor', 600)];
  const is = (filter: string, value: string | undefined): boolean => filter === '' || filter === value;
  return (row) =>
    is(subnet, row.subnet) &&
    is(namespace, row.pod?.namespace) &&
    is(pod, row.pod?.name) &&
    is(node, row.node) &&
    is(type, row.type) &&
    is(actor, row.actor) &&
    (address === '' || row.addresses.includes(address));
}

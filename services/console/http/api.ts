/**
 * Requests below /api/v1: the session of the caller, and then the view, the stream or the action.
 */
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { IpledgerError } from '../../../lib/errors.ts';
import { createSemaphore } from '../../../lib/process/semaphore.ts';
import { sessionIdIn } from '../session/cookie.ts';
import type { PersonalSession, Sessions } from '../session/sessions.ts';
import { HttpError, methodNotAllowed } from './http-error.ts';
import { sessionRoutes } from './session-routes.ts';
import type { Query } from './query.ts';
import { type Reply, type Sending, sendReply } from './reply.ts';
import { readJson } from './request-body.ts';
import { type Action, matchRoute, type Routes, type View } from './routes.ts';
import { UnsentBytes } from './unsent-bytes.ts';
import { refuseOtherHosts, refuseOtherOrigins } from './same-origin.ts';

/** The requests in progress, and those that wait. More are rejected. */
const [maxInProgress, maxWaiting] = [32, 256];
/** The limit for the replies that are not sent yet, with the data that they hold. */
const maxUnsentBytes = 128 << 20;

/** Sends events to the browser until it has gone. */
export type StreamView = (
  viewer: StreamViewer,
  query: Query,
  request: IncomingMessage,
  response: ServerResponse,
) => void;

export interface StreamViewer {
  /** The session of a person; undefined without sign-in. */
  readonly session: PersonalSession | undefined;
  /** @throws IpledgerError when the session has ended */
  readonly verify: () => Promise<void>;
}

export interface ApiParts {
  /** The sessions; undefined without sign-in: read-only, on this machine. */
  readonly sessions: Sessions | undefined;
  readonly views: Routes<View>;
  readonly actions: Routes<Action>;
  readonly stream: StreamView;
  /** Whether browsers connect by TLS, here or at a proxy. */
  readonly isSecure: boolean;
}

type Handler = (request: IncomingMessage, response: ServerResponse, path: string, query: Query) => Promise<void>;

export function createApi(parts: ApiParts): Handler {
  const { sessions, views, actions, stream, isSecure } = parts;
  const handleSession = sessionRoutes(sessions, isSecure);
  const limited = createSemaphore(maxInProgress, maxWaiting);
  const limitedOpen = createSemaphore(maxInProgress, maxWaiting);
  const unsent = new UnsentBytes(maxUnsentBytes);

  const sessionOf = async (request: IncomingMessage): Promise<PersonalSession | undefined> => {
    if (!sessions) return undefined;
    const session = await sessions.find(sessionIdIn(request.headers, isSecure));
    if (session.bucket.take(performance.now())) return session;
    throw new HttpError(429, 'RATE_LIMITED', 'too many requests of this session: try again in a second');
  };
  /** Answers within the limits. A person's slot is free again when the browser has the reply. */
  const answer = async ({ request, response, session, format, work }: Answering): Promise<void> => {
    const signal = signalOf(response);
    await (session?.person.limited ?? limitedOpen)(signal, async () => {
      const reply = await limited(signal, () => work(signal));
      await sendReply(request, response, reply, { format, countUnsent: (bytes) => unsent.hold(bytes, signal) });
      if (!signal.aborted) await once(signal, 'abort');
    });
  };
  const read = async (
    request: IncomingMessage,
    response: ServerResponse,
    view: Handled<View>,
    query: Query,
  ): Promise<void> => {
    const session = await sessionOf(request);
    const format = query.text('format', 4) || 'json';
    if (format !== 'json' && format !== 'csv') throw new HttpError(400, 'INVALID_REQUEST', 'format: use json or csv');
    const work = (signal: AbortSignal): Promise<Reply> => view.target({ params: view.params, query, signal });
    await answer({ request, response, session, format, work });
  };
  const act = async (
    request: IncomingMessage,
    response: ServerResponse,
    { target }: Handled<Action>,
  ): Promise<void> => {
    const session = await sessionOf(request);
    if (!session) throw new HttpError(403, 'PERMISSION_DENIED', 'without sign-in the console is read-only');
    const body = await readJson(request);
    await answer({ request, response, session, format: 'json', work: (signal) => target(session, body, signal) });
  };

  return async (request, response, path, query) => {
    if (!sessions) refuseOtherHosts(request.headers);
    refuseOtherOrigins(request);
    const { method = 'GET' } = request;
    if (path === '/session') return handleSession(request, response);
    if (path === '/events/stream' && method === 'GET') {
      const session = await sessionOf(request);
      const id = sessionIdIn(request.headers, isSecure);
      const verify = async (): Promise<void> => sessions?.verify(id);
      return stream({ session, verify }, query, request, response);
    }
    const action = matchRoute(actions, path);
    if (action && method === 'POST') return act(request, response, action);
    const view = matchRoute(views, path);
    if (view && (method === 'GET' || method === 'HEAD')) return read(request, response, view, query);
    if (action ?? view) throw methodNotAllowed(response, action ? 'POST' : 'GET, HEAD');
    throw new HttpError(404, 'INVALID_REQUEST', 'the console has no such page of data');
  };
}

interface Answering {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly session: PersonalSession | undefined;
  readonly format: Sending['format'];
  readonly work: (signal: AbortSignal) => Promise<Reply>;
}

interface Handled<Target> {
  readonly target: Target;
  readonly params: Readonly<Record<string, string>>;
}

/** Returns a signal that aborts when the browser has the reply, or has gone before. */
function signalOf(response: ServerResponse): AbortSignal {
  const ending = new AbortController();
  const end = (): void => ending.abort(new IpledgerError('CANCELLED', 'the browser has disconnected'));
  if (response.closed || response.destroyed) end();
  else response.once('close', end);
  return ending.signal;
}

/** Signs people in and out, and shows who is signed in. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { IpledgerError } from '../../../lib/errors.ts';
import { TokenBucket } from '../../../lib/process/token-bucket.ts';
import { version } from '../../../lib/process/version.ts';
import type { Session } from '../api/session.ts';
import { sessionCookie, sessionIdIn } from '../session/cookie.ts';
import type { PersonalSession, Sessions } from '../session/sessions.ts';
import { ClientBuckets } from './client-buckets.ts';
import { HttpError, methodNotAllowed } from './http-error.ts';
import { sendReply } from './reply.ts';
import { readJson } from './request-body.ts';

/**
 * The rates of sign-ins, of one client and of all clients, because each sign-in is a review of a
 * token. All people behind a proxy are one client.
 */
const clientRate = { perSecond: 2, burst: 20 };
const signInRate = { perSecond: 20, burst: 200 };
const maxClients = 10_000;
const maxTokenLength = 16_384;

type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** @param sessions undefined: without sign-in */
export function sessionRoutes(sessions: Sessions | undefined, isSecure: boolean): Handler {
  const all = new TokenBucket(signInRate, performance.now());
  const clients = new ClientBuckets(clientRate, maxClients);
  const signIn: Handler = async (request, response) => {
    if (!sessions) throw new HttpError(404, 'INVALID_REQUEST', 'this console has no sign-in');
    const { token } = await readJson(request);
    if (typeof token !== 'string' || token.length > maxTokenLength || !/^[\w.~+/-]+=*$/.test(token))
      throw new IpledgerError('UNAUTHENTICATED', 'this is no token: paste the output of kubectl create token');
    if (!clients.take(request.socket) || !all.take(performance.now()))
      throw new HttpError(429, 'RATE_LIMITED', 'too many attempts to sign in: try again in a second');
    const { id, session } = await sessions.create(token);
    sessions.end(sessionIdIn(request.headers, isSecure));
    response.setHeader('Set-Cookie', sessionCookie(id, isSecure));
    await sendReply(request, response, { body: sessionBody(session, sessions) });
  };
  const signOut: Handler = async (request, response) => {
    sessions?.end(sessionIdIn(request.headers, isSecure));
    response.setHeader('Set-Cookie', sessionCookie('', isSecure));
    response.writeHead(204).end();
  };
  const showSession: Handler = async (request, response) => {
    const id = sessionIdIn(request.headers, isSecure);
    const session = sessions && id !== '' ? await sessions.find(id).catch(undefinedIfEnded) : undefined;
    await sendReply(request, response, { body: sessionBody(session, sessions) });
  };
  return (request, response) => {
    const handler = { GET: showSession, POST: signIn, DELETE: signOut }[request.method ?? 'GET'];
    if (!handler) throw methodNotAllowed(response, 'GET, POST, DELETE');
    return handler(request, response);
  };
}

/** Returns undefined for an ended session. @throws all other errors, as without an allocator */
function undefinedIfEnded(thrown: unknown): undefined {
  const { code } = IpledgerError.from(thrown);
  if (code !== 'UNAUTHENTICATED' && code !== 'PERMISSION_DENIED') throw thrown;
}

const sessionBody = (session: PersonalSession | undefined, sessions: Sessions | undefined): Session => ({
  signedIn: session !== undefined || sessions === undefined,
  mode: sessions ? 'token' : 'open',
  user: session?.user ?? '',
  expiresAt: session ? new Date(session.expiresAt).toISOString() : '',
  canAct: session !== undefined,
  version,
});

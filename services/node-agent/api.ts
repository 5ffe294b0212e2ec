/**
 * The HTTP side of the daemon socket: POST of JSON to /api/v1/add, del, check, gc and status. Statuses are Kube-OVN's: 200 with
 * the answer to ADD, 204 to all else, 400 and 500 with a body that says the error, 415 and 406 where the client can't speak JSON.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { IpledgerError } from '../../lib/errors.ts';
import type { Logger } from '../../lib/log.ts';
import { type Asked, parseAsked, type Verb, verbs } from './asked.ts';
import { answerError } from './wire.ts';

const mostBodyBytes = 1 << 20;
const mostConnections = 4096;
const closeDeadlineMs = 8_000;

/** Does what is asked; resolves to the body of the answer, '' for none. The signal is aborted when the caller hangs up. */
export type Serve = (asked: Asked, signal: AbortSignal) => Promise<string>;

export interface Api {
  readonly server: Server;
  /** Ends: what is under way is aborted and told to try again. Resolves when all have their answers. */
  close(): Promise<void>;
}

/** Makes the server; it listens where it is told to. */
export function createApi(serve: Serve, log: Logger): Api {
  const stopping = new AbortController();
  const server = createServer(
    // Kube-OVN's daemon gives a client 3 s for its headers.
    { headersTimeout: 3_000, requestTimeout: 10_000, keepAliveTimeout: 5_000, connectionsCheckingInterval: 1_000 },
    (request, response) => void handle(serve, { request, response, stopping: stopping.signal }, log),
  );
  server.maxConnections = mostConnections;
  return { server, close: () => close(server, stopping) };
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly stopping: AbortSignal;
}

async function handle(serve: Serve, exchange: Exchange, log: Logger): Promise<void> {
  const { request, response, stopping } = exchange;
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const verb = verbs.find((name) => request.url === `/api/v1/${name}`);
  const refusal = refusalOf(request, verb);
  if (refusal || !verb) return reply(exchange, refusal ?? 404, '');
  const startedAt = performance.now();
  let asked: Asked | undefined;
  try {
    asked = parseAsked(verb, await readBody(request));
    const body = await serve(asked, AbortSignal.any([gone.signal, stopping]));
    reply(exchange, body === '' ? 204 : 200, body);
    log[verb === 'status' ? 'debug' : 'info']({ verb, ...described(asked), ms: since(startedAt) }, `${verb}: done`);
  } catch (thrown) {
    const error = meaningOf(thrown, gone.signal, stopping);
    reply(exchange, error.httpStatus, answerError(error));
    const details = { verb, ...(asked && described(asked)), code: error.code, ms: since(startedAt) };
    if (error.kind === 'bug') log.error({ ...details, err: error }, `${verb} failed`);
    else log.warn(details, `${verb}: ${error.message}`);
  }
}

function meaningOf(thrown: unknown, gone: AbortSignal, stopping: AbortSignal): IpledgerError {
  if (gone.aborted) return new IpledgerError('CANCELLED', 'the caller hung up', { cause: thrown });
  if (stopping.aborted) return new IpledgerError('UNAVAILABLE', 'the node agent is being stopped: try again');
  return IpledgerError.from(thrown);
}

function described(asked: Asked): object {
  if (asked.verb === 'status') return {};
  if (asked.verb === 'gc') return { provider: asked.provider, valid: asked.valid.length };
  const { podNamespace, podName, provider, containerId, interface: name } = asked.request;
  return { pod: `${podNamespace}/${podName}`, provider, containerId, interface: name };
}

const since = (startedAt: number): number => Math.round(performance.now() - startedAt);

/** The status that turns a request away by its first lines; undefined for one that is to be read. */
function refusalOf({ method, headers }: IncomingMessage, verb: Verb | undefined): number | undefined {
  if (!verb) return 404;
  if (method !== 'POST') return 405;
  if (mediaType(headers['content-type'] ?? '') !== 'application/json') return 415;
  const accepted = (headers.accept ?? '*/*').split(',').map(mediaType);
  return accepted.some((type) => ['application/json', 'application/*', '*/*'].includes(type)) ? undefined : 406;
}

const mediaType = (value: string): string => (value.split(';', 1)[0] ?? '').trim().toLowerCase();

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > mostBodyBytes)
      throw new IpledgerError('INVALID_REQUEST', `the body is larger than ${mostBodyBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function reply({ request, response }: Exchange, status: number, body: string): void {
  if (response.destroyed) return;
  // What was not read of the request is not going to be: the connection can't be used again.
  const unread = request.complete ? {} : { connection: 'close' };
  if (body === '') response.writeHead(status, unread).end();
  else
    response
      .writeHead(status, { ...unread, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
      .end(body);
}

async function close(server: Server, stopping: AbortController): Promise<void> {
  stopping.abort();
  const cut = setTimeout(() => server.closeAllConnections(), closeDeadlineMs);
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeIdleConnections();
  await closed;
  clearTimeout(cut);
}

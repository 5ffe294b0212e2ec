/**
 * The HTTP side of the daemon socket: POST of JSON to /api/v1/add, del, check, gc and status. Statuses are Kube-OVN's: 200 with
 * the answer to ADD, 204 to all else, 400 and 500 with a body that says the error, 415 and 406 where the client can't speak JSON.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { IpledgerError } from '../../lib/errors.ts';
import type { Logger } from '../../lib/log.ts';
import { type Asked, parseAsked, type Verb, verbs } from './asked.ts';
import { answerError } from './wire.ts';

const mostConnections = 4096;
const mostHeaderBytes = 8 << 10;
/** The list of a GC is the only long one. */
const mostBodyBytes: Record<Verb, number> = {
  add: 64 << 10,
  del: 64 << 10,
  check: 64 << 10,
  gc: 2 << 20,
  status: 64 << 10,
};
/** The plugin gives up a second before. What each verb does has shorter deadlines; its turn may be long in coming. */
const deadlineMs: Record<Verb, number> = { add: 31_000, del: 11_000, check: 11_000, gc: 31_000, status: 11_000 };
const closeDeadlineMs = 8_000;

/** Does what is asked; resolves to the body of the answer, '' for none. The signal is aborted when the caller hangs up. */
export type Serve = (asked: Asked, signal: AbortSignal) => Promise<string>;

export interface Api {
  readonly server: Server;
  /** Ends: what is under way is aborted and told to try again. Resolves when all have their answers. */
  close(): Promise<void>;
}

/**
 * Makes the server; it listens where it is told to.
 * @param deadlines how long a request of each verb may take
 */
export function createApi(serve: Serve, log: Logger, deadlines = deadlineMs): Api {
  const stopping = new AbortController();
  const server = createServer(
    {
      // Kube-OVN's daemon gives a client 3 s for its headers.
      headersTimeout: 3_000,
      requestTimeout: 10_000,
      keepAliveTimeout: 5_000,
      connectionsCheckingInterval: 1_000,
      maxHeaderSize: mostHeaderBytes,
    },
    (request, response) => void handle(serve, { request, response, stopping: stopping.signal, deadlines }, log),
  );
  server.on('drop', () => log.warn({ mostConnections }, 'a connection was refused: too many are open'));
  server.maxConnections = mostConnections;
  return { server, close: () => close(server, stopping) };
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly stopping: AbortSignal;
  readonly deadlines: Readonly<Record<Verb, number>>;
}

async function handle(serve: Serve, exchange: Exchange, log: Logger): Promise<void> {
  const { request, response, stopping, deadlines } = exchange;
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const verb = verbs.find((name) => request.url === `/api/v1/${name}`);
  const refusal = refusalOf(request, verb);
  if (refusal || !verb) return reply(exchange, refusal ?? 404, '');
  const startedAt = performance.now();
  const late = AbortSignal.timeout(deadlines[verb]);
  let asked: Asked | undefined;
  try {
    asked = parseAsked(verb, await readBody(request, mostBodyBytes[verb]));
    const body = await serve(asked, AbortSignal.any([gone.signal, stopping, late]));
    reply(exchange, body === '' ? 204 : 200, body);
    log[verb === 'status' ? 'debug' : 'info']({ verb, ...described(asked), ms: since(startedAt) }, `${verb}: done`);
  } catch (thrown) {
    const error =
      late.aborted && !gone.signal.aborted ? tooLate(verb, deadlines) : meaningOf(thrown, gone.signal, stopping);
    reply(exchange, error.httpStatus, answerError(error));
    const details = { verb, ...(asked && described(asked)), code: error.code, ms: since(startedAt) };
    if (error.kind === 'bug') log.error({ ...details, err: error }, `${verb} failed`);
    else log.warn(details, `${verb}: ${error.message}`);
  }
}

const tooLate = (verb: Verb, deadlines: Exchange['deadlines']): IpledgerError =>
  new IpledgerError('DEADLINE_PASSED', `${verb} was not done within ${deadlines[verb]} ms: try again`);

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

async function readBody(request: IncomingMessage, mostBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > mostBytes) throw new IpledgerError('INVALID_REQUEST', `the body is larger than ${mostBytes} bytes`);
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

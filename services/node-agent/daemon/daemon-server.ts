/**
 * The HTTP server of the daemon socket: POST of JSON to /api/v1/add, del, check, gc and status. The
 * statuses are Kube-OVN's: 200 for ADD, 204 for the other verbs, 400 and 500 with the error in the
 * body, 415 and 406 if the client does not use JSON. In addition, 503 means that the agent is being
 * stopped, and that the next agent may take the request.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { IpledgerError } from '../../../lib/errors.ts';
import type { Logger } from '../../../lib/process/log.ts';
import { parseTraceparent, traceparentKey } from '../../../lib/tracing/trace-context.ts';
import { type PluginRequest, parsePluginRequest, type Verb, verbs } from './plugin-request.ts';
import { formatErrorResponse } from './cni-response.ts';

const maxConnections = 4096;
const maxHeaderBytes = 8 << 10;
/** A GC has a list of attachments, so its body may be longer. */
const maxBodyBytes: Record<Verb, number> = {
  add: 64 << 10,
  del: 64 << 10,
  check: 64 << 10,
  gc: 2 << 20,
  status: 64 << 10,
};
/** The plugin times out one second earlier. The time includes the wait for earlier requests. */
const deadlineMs: Record<Verb, number> = { add: 31_000, del: 11_000, check: 11_000, gc: 31_000, status: 11_000 };
/**
 * The time in which a client must send its request. Node.js also counts the time in which this
 * process is busy: at the first ADD it loads the Kubernetes client, which took more than 3 s on a
 * busy machine. Kube-OVN's daemon allows 3 s.
 */
const receiveTimeoutMs = 30_000;
const closeDeadlineMs = 8_000;
const stoppingStatus = 503;

/** Handles a request; resolves to the body, '' for none. A disconnect aborts the signal. */
export type RequestHandler = (pluginRequest: PluginRequest, signal: AbortSignal) => Promise<string>;

export interface DaemonServer {
  readonly server: Server;
  /** Aborts requests with an error after which the plugin retries. Resolves after the responses. */
  close(): Promise<void>;
}

/**
 * Makes the server; `publishSocket` makes it listen.
 * @param deadlines milliseconds that a request of each verb may take
 */
export function createDaemonServer(
  handleRequest: RequestHandler,
  log: Logger,
  deadlines: Readonly<Record<Verb, number>> = deadlineMs,
): DaemonServer {
  const stopping = new AbortController();
  const server = createServer(
    {
      headersTimeout: receiveTimeoutMs,
      requestTimeout: receiveTimeoutMs,
      keepAliveTimeout: 5_000,
      connectionsCheckingInterval: 1_000,
      maxHeaderSize: maxHeaderBytes,
    },
    (request, response) => void handle(handleRequest, { request, response, stopping: stopping.signal, deadlines }, log),
  );
  server.on('drop', () => log.warn({ maxConnections }, 'a connection was rejected: too many are open'));
  server.maxConnections = maxConnections;
  return { server, close: () => close(server, stopping) };
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly stopping: AbortSignal;
  readonly deadlines: Readonly<Record<Verb, number>>;
}

async function handle(handleRequest: RequestHandler, exchange: Exchange, log: Logger): Promise<void> {
  const { request, response, stopping, deadlines } = exchange;
  const disconnect = new AbortController();
  // An abort makes an exception, which a request that was answered does not need.
  response.once('close', () => {
    if (!response.writableFinished) disconnect.abort();
  });
  const disconnected = disconnect.signal;
  const verb = verbs.find((name) => request.url === `/api/v1/${name}`);
  const rejected = rejectedStatus(request, verb);
  if (rejected || !verb) return respond(exchange, rejected ?? 404, '');
  const startedAt = performance.now();
  const timeout = AbortSignal.timeout(deadlines[verb]);
  let pluginRequest: PluginRequest | undefined;
  try {
    pluginRequest = parsePluginRequest(verb, await readBody(request, maxBodyBytes[verb]));
    if (pluginRequest.verb === 'add')
      pluginRequest = { ...pluginRequest, runtimeTrace: parseTraceparent(request.headers[traceparentKey]) };
    const body = await handleRequest(pluginRequest, AbortSignal.any([disconnected, stopping, timeout]));
    respond(exchange, body === '' ? 204 : 200, body);
    const details = { verb, ...logFieldsOf(pluginRequest), ms: elapsedMs(startedAt) };
    log[verb === 'status' ? 'debug' : 'info'](details, `${verb}: done`);
  } catch (thrown) {
    const error =
      timeout.aborted && !disconnected.aborted
        ? new IpledgerError('DEADLINE_PASSED', `${verb} timed out after ${deadlines[verb]} ms: try again`)
        : toIpledgerError(thrown, disconnected, stopping);
    const isStopping = stopping.aborted && error.code === 'UNAVAILABLE';
    respond(exchange, isStopping ? stoppingStatus : error.httpStatus, formatErrorResponse(error));
    const details = {
      verb,
      ...(pluginRequest && logFieldsOf(pluginRequest)),
      code: error.code,
      ms: elapsedMs(startedAt),
    };
    if (error.kind === 'bug') log.error({ ...details, err: error }, `${verb} failed`);
    else log.warn(details, `${verb}: ${error.message}`);
  }
}

function toIpledgerError(thrown: unknown, disconnected: AbortSignal, stopping: AbortSignal): IpledgerError {
  if (disconnected.aborted) return new IpledgerError('CANCELLED', 'the caller disconnected', { cause: thrown });
  if (stopping.aborted) return new IpledgerError('UNAVAILABLE', 'the node agent is being stopped: try again');
  return IpledgerError.from(thrown);
}

function logFieldsOf(pluginRequest: PluginRequest): object {
  if (pluginRequest.verb === 'status') return {};
  if (pluginRequest.verb === 'gc') return { provider: pluginRequest.provider, valid: pluginRequest.valid.length };
  const { podNamespace, podName, provider, containerId, interface: name } = pluginRequest.request;
  return { pod: `${podNamespace}/${podName}`, provider, containerId, interface: name };
}

const elapsedMs = (startedAt: number): number => Math.round(performance.now() - startedAt);

/** Returns the HTTP status of a request that is rejected before its body is read. */
function rejectedStatus({ method, headers }: IncomingMessage, verb: Verb | undefined): number | undefined {
  if (!verb) return 404;
  if (method !== 'POST') return 405;
  if (mediaType(headers['content-type'] ?? '') !== 'application/json') return 415;
  const accepted = (headers.accept ?? '*/*').split(',').map(mediaType);
  return accepted.some((type) => ['application/json', 'application/*', '*/*'].includes(type)) ? undefined : 406;
}

const mediaType = (value: string): string => (value.split(';', 1)[0] ?? '').trim().toLowerCase();

async function readBody(request: IncomingMessage, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw new IpledgerError('INVALID_REQUEST', `the body is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function respond({ request, response }: Exchange, status: number, body: string): void {
  if (response.destroyed) return;
  // Closes the connection: the rest of an unread request makes it unusable.
  const unread = request.complete ? {} : { connection: 'close' };
  if (body === '') response.writeHead(status, unread).end();
  else
    response
      .writeHead(status, { ...unread, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
      .end(body);
}

async function close(server: Server, stopping: AbortController): Promise<void> {
  stopping.abort();
  const deadline = setTimeout(() => server.closeAllConnections(), closeDeadlineMs);
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeIdleConnections();
  await closed;
  clearTimeout(deadline);
}

/**
 * The HTTP server of the console. Limits come first: of connections, headers, the request line, the
 * rate of a client, and the work in progress; then the session; then the route.
 */
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer, type Server as SecureServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { IpledgerError } from '../../../lib/errors.ts';
import { ConnectionSlots } from '../../../lib/net/connection-slots.ts';
import type { Logger } from '../../../lib/process/log.ts';
import type { BucketLimit } from '../../../lib/process/token-bucket.ts';
import { limitHandshakes, noRenegotiation } from '../../../lib/tls/handshake-limits.ts';
import { ClientBuckets } from './client-buckets.ts';
import { HttpError } from './http-error.ts';
import { sendError, setCommonHeaders } from './reply.ts';
import type { ServerCertificates } from './server-certificates.ts';

const maxUrlLength = 2_048;
const maxHeaderBytes = 16_384;
const headersTimeoutMs = 5_000;
/** The time within which a request with its body must arrive. */
const requestTimeoutMs = 10_000;
/** The time after which an idle connection is closed. Streams send every few seconds. */
const idleTimeoutMs = 60_000;
const maxClients = 10_000;

export interface ServerLimits {
  readonly maxConnections: number;
  /** The rate of one address, before any session is known. All people behind a proxy share it. */
  readonly clientRate: BucketLimit;
}

const defaultLimits: ServerLimits = { maxConnections: 1_024, clientRate: { perSecond: 500, burst: 2_000 } };

export interface ConsoleServerOptions {
  /** Handles a request within the limits. */
  readonly handle: (request: IncomingMessage, response: ServerResponse, url: URL) => Promise<void>;
  /** The certificate of each new connection; undefined for HTTP. */
  readonly tls: ServerCertificates | undefined;
  readonly log: Logger;
  readonly onRequest?: (status: number) => void;
  readonly limits?: ServerLimits;
}

const timeouts = {
  maxHeaderSize: maxHeaderBytes,
  headersTimeout: headersTimeoutMs,
  requestTimeout: requestTimeoutMs,
  keepAliveTimeout: 15_000,
  connectionsCheckingInterval: 1_000,
};

export function createConsoleServer(options: ConsoleServerOptions): Server | SecureServer {
  const { handle, tls, log, onRequest, limits = defaultLimits } = options;
  const rates = new ClientBuckets(limits.clientRate, maxClients);
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    setCommonHeaders(response, tls !== undefined);
    try {
      if (!rates.take(request.socket))
        throw new HttpError(429, 'RATE_LIMITED', 'too many requests of this address: try again in a second');
      await handle(request, response, readUrl(request));
    } catch (thrown) {
      const error = IpledgerError.from(thrown);
      if (error.code === 'BUG') log.error({ err: thrown, path: request.url?.slice(0, 200) }, 'a request failed');
      sendError(response, error);
    }
  };
  const listener: RequestListener = (request, response) => {
    response.once('close', () => onRequest?.(response.statusCode));
    void answer(request, response).finally(() => request.resume());
  };
  const server = tls
    ? createSecureServer(
        { ...timeouts, handshakeTimeout: headersTimeoutMs, ...noRenegotiation, ...tls.current },
        listener,
      )
    : createServer(timeouts, listener);
  if (tls && 'setSecureContext' in server) {
    limitHandshakes(server);
    const stop = tls.onRenewed((renewed) => server.setSecureContext({ ...noRenegotiation, ...renewed }));
    server.once('close', stop);
  }
  server.setTimeout(idleTimeoutMs);
  const slots = new ConnectionSlots(limits.maxConnections);
  server.on('connection', (socket: Socket) => slots.hold(socket));
  server.on('tlsClientError', (_error: Error, socket: Socket) => socket.destroy());
  return server;
}

/** @throws HttpError for a URL that is too long or invalid */
function readUrl({ url = '/' }: IncomingMessage): URL {
  if (url.length > maxUrlLength)
    throw new HttpError(414, 'INVALID_REQUEST', `the URL has more than ${maxUrlLength} characters, which is the limit`);
  const base = 'http://console';
  if (!url.startsWith('/') || !URL.canParse(url, base) || new URL(url, base).host !== 'console')
    throw new HttpError(400, 'INVALID_REQUEST', 'the URL is invalid');
  return new URL(url, base);
}

/** Resolves to "host:port" when the server listens. */
export async function listenOn(server: Server | SecureServer, listen: string): Promise<string> {
  const [, host = '', port = ''] = /^\[?([^\]]*)\]?:(\d{1,5})$/.exec(listen) ?? [];
  if (host === '' || Number(port) > 65_535) throw new Error(`--listen ${listen}: use host:port, as 127.0.0.1:7480`);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(Number(port), host, resolve);
  });
  const { address, family, port: actual } = server.address() as AddressInfo;
  return `${family === 'IPv6' ? `[${address}]` : address}:${actual}`;
}

/** Ends the requests in progress within a second. */
export async function closeConsoleServer(server: Server | SecureServer): Promise<void> {
  const cut = setTimeout(() => server.closeAllConnections(), 1_000);
  server.closeIdleConnections();
  await new Promise((resolve) => server.close(resolve));
  clearTimeout(cut);
}

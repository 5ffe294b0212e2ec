/**
 * An HTTP server for liveness, readiness and metrics. `GET /livez` returns 200 while the event loop
 * runs, `GET /readyz` returns 200 or 503, and `GET /metrics` returns the metrics. Other paths
 * return 404. Request bodies are ignored.
 *
 * Every client of the network may reach it, and a probe without an answer restarts the program. So
 * a connection serves one request, within seconds. If there are too many connections, the client
 * that has most of them loses its oldest one.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ConnectionSlots } from '../net/connection-slots.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { Logger } from './log.ts';
import type { Registry } from './metrics.ts';

const closeDeadlineMs = 1_000;
/** The most connections at each address. */
const maxConnections = 256;
const headersTimeoutMs = 3_000;
/** The time limit of a request, which also applies to a client that does not read the answer. */
const requestTimeoutMs = 5_000;
/** The longest time for which collected metrics are used again. */
const metricsMaxAgeMs = 500;

export interface HealthServerOptions {
  /** Addresses "host:port", joined by commas; IPv6 in brackets; port 0: any port; '': no server. */
  readonly listen: string;
  /** Called at each request. Must be fast and not throw. A text is the reason for "not ready". */
  readonly ready: () => boolean | string;
  readonly metrics: Registry;
  readonly log: Logger;
}

/**
 * Starts the server, and stops it with the program. Resolves when it listens, with the actual port
 * of each "host:port".
 * @throws Error for an invalid `listen`; the system's error if it cannot listen there
 */
export async function startHealthServer(
  { listen, ready, metrics, log }: HealthServerOptions,
  life: Pick<Lifecycle, 'onStop'>,
): Promise<readonly string[]> {
  if (listen === '') return [];
  const respond = responder(ready, collectedAtMostEvery(metricsMaxAgeMs, metrics));
  const addresses: string[] = [];
  for (const place of listen.split(',').map(parseListen)) {
    const server = await startServer(place, respond, log);
    life.onStop(() => closeServer(server));
    addresses.push(addressOf(server));
  }
  log.info({ addresses }, 'health: listening');
  return addresses;
}

type Respond = (url: string) => Promise<HealthResponse>;

async function startServer({ host, port }: Place, respond: Respond, log: Logger): Promise<Server> {
  const timeouts = { headersTimeout: headersTimeoutMs, requestTimeout: requestTimeoutMs };
  const server = createServer({ ...timeouts, connectionsCheckingInterval: 1_000 }, (request, response) => {
    request.resume();
    response.shouldKeepAlive = false;
    respond(request.url ?? '').then(
      ({ code, text, type = plain }) => response.writeHead(code, { 'content-type': type }).end(text),
      (error: unknown) => {
        log.warn({ err: error }, 'health: the request failed');
        response.writeHead(500).end();
      },
    );
  });
  server.timeout = requestTimeoutMs;
  const slots = new ConnectionSlots(maxConnections);
  server.on('connection', (socket) => slots.hold(socket));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  server.on('error', (error) => log.warn({ err: error }, 'health: the listener failed'));
  return server;
}

function addressOf(server: Server): string {
  const { family, address, port } = server.address() as AddressInfo;
  return `${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

interface HealthResponse {
  readonly code: number;
  readonly text: string | Buffer;
  readonly type?: string;
}

const plain = 'text/plain; charset=utf-8';

function responder(ready: HealthServerOptions['ready'], metrics: () => Promise<HealthResponse>): Respond {
  return async (url) => {
    switch (url.split('?', 1)[0]) {
      case '/livez':
        return { code: 200, text: 'ok\n' };
      case '/readyz':
        return readiness(ready());
      case '/metrics':
        return metrics();
      default:
        return { code: 404, text: 'only /livez, /readyz and /metrics are served here\n' };
    }
  };
}

/** Shares collected metrics among the requests of a short time. */
function collectedAtMostEvery(maxAgeMs: number, metrics: Registry): () => Promise<HealthResponse> {
  let collected: Promise<HealthResponse> | undefined;
  let startedAt = -Infinity;
  const collect = async (): Promise<HealthResponse> => ({
    code: 200,
    text: Buffer.from(`${await metrics.metrics()}\n`),
    type: metrics.contentType,
  });
  return () => {
    if (collected && performance.now() - startedAt < maxAgeMs) return collected;
    startedAt = performance.now();
    return (collected = collect());
  };
}

function readiness(ready: boolean | string): HealthResponse {
  if (typeof ready === 'string') return { code: 503, text: `not ready: ${ready}\n` };
  return ready ? { code: 200, text: 'ok\n' } : { code: 503, text: 'not ready\n' };
}

interface Place {
  readonly host: string;
  readonly port: number;
}

function parseListen(listen: string): Place {
  const match = /^(?:\[(?<six>[0-9a-fA-F:]+)\]|(?<host>[^:[\]]+)):(?<port>\d{1,5})$/.exec(listen);
  const port = Number(match?.groups?.['port']);
  if (!match || port > 65_535)
    throw new Error(`health address ${JSON.stringify(listen)}: use host:port, as 127.0.0.1:8081`);
  return { host: match.groups?.['six'] ?? match.groups?.['host'] ?? '', port };
}

/** Closes all connections after a second, because clients may keep them open. */
async function closeServer(server: Server): Promise<void> {
  const cut = setTimeout(() => server.closeAllConnections(), closeDeadlineMs);
  server.closeIdleConnections();
  await new Promise((resolve) => server.close(resolve));
  clearTimeout(cut);
}

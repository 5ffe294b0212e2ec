/**
 * HTTP server for liveness, readiness and metrics. `GET /livez` returns 200 while the event loop runs, `GET /readyz` 200 or 503, and
 * `GET /metrics` the metrics. Other paths return 404, and request bodies are ignored.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from './log.ts';
import type { Registry } from './metrics.ts';

const closeDeadlineMs = 1_000;

export interface HealthServerOptions {
  /** "host:port"; an IPv6 host in brackets; port 0 for any free one. */
  readonly listen: string;
  /** Called at each request; must be fast and must not throw. A text is the reason why it is not ready. */
  readonly ready: () => boolean | string;
  readonly metrics: Registry;
  readonly log: Logger;
}

export interface HealthServer {
  /** "host:port" with the actual port. */
  readonly address: string;
  close(): Promise<void>;
}

/**
 * Starts the server; resolves when it listens.
 * @throws Error for an invalid `listen`; the system's error when it cannot listen there
 */
export async function startHealthServer({ listen, ready, metrics, log }: HealthServerOptions): Promise<HealthServer> {
  const { host, port } = parseListen(listen);
  const server = createServer({ requestTimeout: 5_000, headersTimeout: 3_000 }, (request, response) => {
    request.resume();
    respond(request.url ?? '', { ready, metrics }).then(
      ({ code, text, type = plain }) => response.writeHead(code, { 'content-type': type }).end(`${text}\n`),
      (error: unknown) => {
        log.warn({ err: error }, 'health: the request failed');
        response.writeHead(500).end();
      },
    );
  });
  server.maxConnections = 64;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  server.on('error', (error) => log.warn({ err: error }, 'health: the listener failed'));
  const bound = server.address() as AddressInfo;
  const address = `${bound.family === 'IPv6' ? `[${bound.address}]` : bound.address}:${bound.port}`;
  log.info({ address }, 'health: listening');
  return { address, close: () => close(server) };
}

interface HealthResponse {
  readonly code: number;
  readonly text: string;
  readonly type?: string;
}

const plain = 'text/plain; charset=utf-8';

async function respond(
  url: string,
  { ready, metrics }: Pick<HealthServerOptions, 'ready' | 'metrics'>,
): Promise<HealthResponse> {
  switch (url.split('?', 1)[0]) {
    case '/livez':
      return { code: 200, text: 'ok' };
    case '/readyz':
      return readiness(ready());
    case '/metrics':
      return { code: 200, text: await metrics.metrics(), type: metrics.contentType };
    default:
      return { code: 404, text: 'only /livez, /readyz and /metrics are served here' };
  }
}

function readiness(ready: boolean | string): HealthResponse {
  if (typeof ready === 'string') return { code: 503, text: `not ready: ${ready}` };
  return ready ? { code: 200, text: 'ok' } : { code: 503, text: 'not ready' };
}

function parseListen(listen: string): { host: string; port: number } {
  const match = /^(?:\[(?<six>[0-9a-fA-F:]+)\]|(?<host>[^:[\]]+)):(?<port>\d{1,5})$/.exec(listen);
  const port = Number(match?.groups?.['port']);
  if (!match || port > 65_535)
    throw new Error(`health address ${JSON.stringify(listen)}: use host:port, as 127.0.0.1:8081`);
  return { host: match.groups?.['six'] ?? match.groups?.['host'] ?? '', port };
}

/** Clients may keep connections open, so they are closed after a second. */
async function close(server: ReturnType<typeof createServer>): Promise<void> {
  const cut = setTimeout(() => server.closeAllConnections(), closeDeadlineMs);
  server.closeIdleConnections();
  await new Promise((resolve) => server.close(resolve));
  clearTimeout(cut);
}

/**
 * Liveness and readiness over HTTP: `GET /livez` is 200 while the process turns its event loop, `GET /readyz` is 200 when it
 * can do its work and 503 when not; `GET /metrics` is what it counts. Nothing else is served and nothing is read.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from './log.ts';
import type { Registry } from './metrics.ts';

const closeDeadlineMs = 1_000;

export interface HealthOptions {
  /** "host:port"; an IPv6 host in brackets; port 0 for any free one. */
  readonly listen: string;
  /** Asked at each request; must be quick and must not throw. A text is no, and says what is missing. */
  readonly ready: () => boolean | string;
  readonly metrics: Registry;
  readonly log: Logger;
}

export interface Health {
  /** Where it listens, "host:port" with the real port. */
  readonly address: string;
  close(): Promise<void>;
}

/**
 * Starts to serve; resolves once it listens.
 * @throws Error for a malformed `listen`, or the system's error when it can't be listened on.
 */
export async function startHealth({ listen, ready, metrics, log }: HealthOptions): Promise<Health> {
  const { host, port } = parseListen(listen);
  const server = createServer({ requestTimeout: 5_000, headersTimeout: 3_000 }, (request, response) => {
    request.resume();
    answer(request.url ?? '', { ready, metrics }).then(
      ({ code, text, type = plain }) => response.writeHead(code, { 'content-type': type }).end(`${text}\n`),
      (error: unknown) => {
        log.warn({ err: error }, 'health: no answer could be made');
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

interface Answer {
  readonly code: number;
  readonly text: string;
  readonly type?: string;
}

const plain = 'text/plain; charset=utf-8';

async function answer(url: string, { ready, metrics }: Pick<HealthOptions, 'ready' | 'metrics'>): Promise<Answer> {
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

function readiness(ready: boolean | string): Answer {
  if (typeof ready === 'string') return { code: 503, text: `not ready: ${ready}` };
  return ready ? { code: 200, text: 'ok' } : { code: 503, text: 'not ready' };
}

function parseListen(listen: string): { host: string; port: number } {
  const match = /^(?:\[(?<six>[0-9a-fA-F:]+)\]|(?<host>[^:[\]]+)):(?<port>\d{1,5})$/.exec(listen);
  const port = Number(match?.groups?.['port']);
  if (!match || port > 65_535)
    throw new Error(`health address ${JSON.stringify(listen)}: want host:port, as 127.0.0.1:8081`);
  return { host: match.groups?.['six'] ?? match.groups?.['host'] ?? '', port };
}

/** Probers may hold connections open; after a second they are cut. */
async function close(server: ReturnType<typeof createServer>): Promise<void> {
  const cut = setTimeout(() => server.closeAllConnections(), closeDeadlineMs);
  server.closeIdleConnections();
  await new Promise((resolve) => server.close(resolve));
  clearTimeout(cut);
}

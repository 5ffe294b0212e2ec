/**
 * A collector of traces: receives OTLP over HTTP in JSON, as OpenTelemetry's collector does. A test
 * can break it.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedSpan {
  /** The name of the program. */
  readonly service: string;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  /** The parent; absent for a root span. */
  readonly parentSpanId?: string;
  /** Nanoseconds since 1970. */
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  readonly status: { readonly code?: number; readonly message?: string };
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
}

interface TraceRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly KeyValue[] };
    readonly scopeSpans: readonly {
      readonly spans: readonly (Omit<ReceivedSpan, 'service' | 'attributes'> & {
        readonly attributes: readonly KeyValue[];
      })[];
    }[];
  }[];
}

interface KeyValue {
  readonly key: string;
  readonly value: {
    readonly stringValue?: string;
    readonly intValue?: number;
    readonly doubleValue?: number;
    readonly boolValue?: boolean;
  };
}

export interface TraceCollector {
  /** Base URL. */
  readonly endpoint: string;
  /** All spans so far. */
  readonly spans: readonly ReceivedSpan[];
  /** Accepts requests from now on, and sends no reply. */
  hang(): void;
  /** Refuses connections until `start`. */
  stop(): Promise<void>;
  /** Answers again, on the same port. */
  start(): Promise<void>;
}

/** Starts a collector on a free port. */
export async function startTraceCollector(): Promise<TraceCollector> {
  const spans: ReceivedSpan[] = [];
  let isHanging = false;
  let port = 0;
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    if (isHanging) return;
    if (request.method !== 'POST' || request.url !== '/v1/traces') return void response.writeHead(404).end();
    spans.push(...spansOf(JSON.parse(Buffer.concat(chunks).toString('utf8')) as TraceRequest));
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  };
  let server: Server | undefined;
  const start = async (): Promise<void> => {
    isHanging = false;
    if (server) return;
    const started = createServer((request, response) => void handle(request, response).catch(() => undefined));
    server = started.listen(port, '127.0.0.1');
    await once(started, 'listening');
    ({ port } = started.address() as AddressInfo);
  };
  const stop = async (): Promise<void> => {
    const stopped = server;
    server = undefined;
    stopped?.closeAllConnections();
    await new Promise((resolve) => (stopped ? stopped.close(resolve) : resolve(undefined)));
  };
  await start();
  return { endpoint: `http://127.0.0.1:${port}`, spans, hang: () => void (isHanging = true), stop, start };
}

const spansOf = ({ resourceSpans }: TraceRequest): ReceivedSpan[] =>
  resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(attributesOf(resource.attributes)['service.name']);
    return scopeSpans.flatMap((scope) =>
      scope.spans.map((span) => ({ ...span, service, attributes: attributesOf(span.attributes) })),
    );
  });

const attributesOf = (list: readonly KeyValue[]): Record<string, string | number | boolean> =>
  Object.fromEntries(
    list.map(({ key, value: { stringValue, intValue, doubleValue, boolValue } }) => [
      key,
      stringValue ?? intValue ?? doubleValue ?? boolValue ?? '',
    ]),
  );

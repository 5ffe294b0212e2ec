/**
 * HTTP to the Kubernetes API: raw JSON in and out, a deadline on each request, a watchdog on each stream.
 *
 * @kubernetes/client-node gives us the kubeconfig with its certificates, tokens and exec plugins, and nothing else: its
 * informer stops for good on the first broken connection, and its typed lists drop every field it does not know.
 */
import http from 'node:http';
import https from 'node:https';
import { urlToHttpOptions } from 'node:url';
import { KubeConfig } from '@kubernetes/client-node';
import { unlessAborted } from '../../../lib/deadline.ts';
import { type Raw, record, text } from '../../../lib/raw.ts';
import { lines } from './lines.ts';

const answerMaxBytes = 64 << 20;
const refusalMaxBytes = 1 << 20;
/** One object on one line: the API server's own limit is about 3 MiB a request. */
const lineMaxBytes = 16 << 20;
const credentialsAgeMaxMs = 10_000;

/**
 * How to react to an answer that is none of 2xx:
 *   absent   there is no such object (404), or its history is gone (410)
 *   changed  the object is not what the request assumed (409): look again
 *   invalid  the request can never succeed as it is (400, 422 and the like)
 *   denied   credentials or RBAC (401, 403): a person must help; worth a retry, slowly
 *   later    overload, server error or no answer at all: the same request may succeed soon
 */
export type Reaction = 'absent' | 'changed' | 'invalid' | 'denied' | 'later';

/** An answer of the API server that is no success, or (status 0) none at all. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  /** The field that the API objects to, as "metadata.uid"; "" if it names none. */
  readonly field: string;

  constructor(status: number, message: string, options: ErrorOptions & { readonly field?: string } = {}) {
    super(message, options);
    this.status = status;
    this.field = options.field ?? '';
  }

  /** Whether the answer was longer than is taken: a smaller page of it may do. */
  get isTooLarge(): boolean {
    return this.cause instanceof TooLarge;
  }

  get reaction(): Reaction {
    // A patch that names a uid is for one object only. That another one has the name by now is told as an attempt to
    // change what cannot be changed.
    return this.status === 422 && this.field === 'metadata.uid' ? 'changed' : reactionTo(this.status);
  }
}

/** An answer that is longer than is taken. */
export class TooLarge extends Error {
  override readonly name = 'TooLarge';
}

/** The reaction to an HTTP status; 0 stands for "no answer". */
function reactionTo(status: number): Reaction {
  if (status === 404 || status === 410) return 'absent';
  if (status === 409) return 'changed';
  if (status === 401 || status === 403) return 'denied';
  if (status === 0 || status === 408 || status === 429 || status >= 500) return 'later';
  return 'invalid';
}

export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With its query, if any. */
  readonly path: string;
  readonly body?: unknown;
  /** Of the body; application/json if not given. */
  readonly contentType?: string;
  /** Only whether it succeeded is of interest: the answer, a whole object usually, is not looked into. */
  readonly unread?: true;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface Api {
  /** Where the API server is, for people. */
  readonly server: string;
  /**
   * One request, the parsed answer; undefined when it is `unread`.
   * @throws ApiError
   */
  request(request: ApiRequest): Promise<unknown>;
  /**
   * The parsed lines of a streamed answer, until it ends or the signal is aborted (the iterable then ends).
   * @throws ApiError from the iteration; status 0 after `silenceMs` of silence, or when a line is not JSON.
   */
  stream(path: string, options: { readonly silenceMs: number; readonly signal: AbortSignal }): AsyncGenerator<unknown>;
}

/**
 * The cluster that KUBECONFIG names, else ~/.kube/config, else the one this Pod runs in.
 * @throws Error when there is none, or the file cannot be read.
 */
export function connectApi(config: KubeConfig = defaultConfig()): Api {
  const server = config.getCurrentCluster()?.server;
  if (server === undefined) throw new Error('the kubeconfig names no cluster: set current-context, or KUBECONFIG');
  const send = sender(config, server);
  return {
    server,
    request: (request) => answer(send, request),
    stream: (path, options) => stream(send, path, options),
  };
}

function defaultConfig(): KubeConfig {
  const config = new KubeConfig();
  config.loadFromDefault();
  return config;
}

type Send = (request: Omit<ApiRequest, 'timeoutMs' | 'unread'>) => Promise<http.IncomingMessage>;

/** Sends a request and resolves with the head of the answer. Connections are kept and reused. */
function sender(config: KubeConfig, server: string): Send {
  const url = new URL(server);
  const secure = url.protocol === 'https:';
  const { hostname, port } = urlToHttpOptions(url);
  const base = url.pathname.replace(/\/$/, '');
  const agent = new (secure ? https : http).Agent({ keepAlive: true, maxSockets: 64 });
  const proxied = config.getCurrentCluster()?.proxyUrl !== undefined;
  let known: { options: Promise<https.RequestOptions>; at: number } | undefined;

  // The kubeconfig's files and tokens are re-read now and then, so that renewed ones are taken up.
  const credentials = (): Promise<https.RequestOptions> => {
    const now = performance.now();
    if (!known || now - known.at > credentialsAgeMaxMs) known = { options: credentialsOf(config), at: now };
    return known.options;
  };

  return async ({ method, path, body, contentType, signal }) => {
    const given = await unlessAborted(credentials(), signal); // a plugin that gives them may hang
    const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const headers: http.OutgoingHttpHeaders = {
      ...(given.headers as http.OutgoingHttpHeaders),
      accept: 'application/json',
    };
    if (bytes) {
      headers['content-type'] = contentType ?? 'application/json';
      headers['content-length'] = bytes.length;
    }
    const place = { hostname, port, path: base + path };
    const options = { ...given, ...(proxied ? {} : { agent }), ...place, method, headers, signal };
    return new Promise((resolve, reject) => {
      const request = (secure ? https : http).request(options, (response) => {
        if (response.statusCode === 401) known = undefined;
        resolve(response);
      });
      // Also after the head has arrived, when nobody waits for it any more: an abort is told here, too.
      request.on('error', reject);
      request.end(bytes);
    });
  };
}

async function credentialsOf(config: KubeConfig): Promise<https.RequestOptions> {
  const options: https.RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  return options;
}

async function answer(send: Send, request: ApiRequest): Promise<unknown> {
  const what = `${request.method} ${request.path}`;
  const controller = new AbortController();
  const cancel = (): void => controller.abort();
  request.signal.addEventListener('abort', cancel, { once: true });
  const timer = setTimeout(cancel, request.timeoutMs);
  try {
    request.signal.throwIfAborted();
    const response = await send({ ...request, signal: controller.signal });
    const status = response.statusCode ?? 0;
    if (status >= 200 && status < 300) {
      const body = await read(response, answerMaxBytes);
      return request.unread ? undefined : parse(body);
    }
    throw refusal(status, what, await read(response, refusalMaxBytes));
  } catch (error) {
    if (request.signal.aborted || error instanceof ApiError) throw error;
    const why = controller.signal.aborted ? `no answer within ${request.timeoutMs} ms` : reasonOf(error);
    throw new ApiError(0, `${what}: ${why}`, { cause: error });
  } finally {
    clearTimeout(timer);
    request.signal.removeEventListener('abort', cancel);
  }
}

async function* stream(
  send: Send,
  path: string,
  { silenceMs, signal }: { readonly silenceMs: number; readonly signal: AbortSignal },
): AsyncGenerator<unknown> {
  const controller = new AbortController();
  const cancel = (): void => controller.abort();
  signal.addEventListener('abort', cancel, { once: true });
  const watchdog = setTimeout(cancel, silenceMs);
  try {
    if (signal.aborted) return;
    const response = await send({ method: 'GET', path, signal: controller.signal });
    const status = response.statusCode ?? 0;
    if (status !== 200) throw refusal(status, `GET ${path}`, await read(response, refusalMaxBytes));
    for await (const line of lines(response, lineMaxBytes)) {
      yield parse(line);
      watchdog.refresh();
    }
  } catch (error) {
    if (signal.aborted) return;
    if (error instanceof ApiError) throw error;
    const why = controller.signal.aborted ? `nothing heard for ${silenceMs} ms` : reasonOf(error);
    throw new ApiError(0, `GET ${path}: ${why}`, { cause: error });
  } finally {
    clearTimeout(watchdog);
    signal.removeEventListener('abort', cancel);
    controller.abort();
  }
}

function refusal(status: number, what: string, body: Buffer): ApiError {
  let told: Raw = {};
  try {
    told = record(parse(body));
  } catch {
    // a proxy's answer, perhaps: the status says enough
  }
  const message = text(told['message']) || body.toString('utf8', 0, 200).trim();
  const { causes } = record(told['details']);
  const field = Array.isArray(causes) ? text(record(causes[0])['field']) : '';
  return new ApiError(status, `${what}: ${status} ${message}`.trimEnd(), { field });
}

function read(response: http.IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxBytes) response.destroy(new TooLarge(`an answer of more than ${maxBytes} bytes`));
      else chunks.push(chunk);
    });
    response.on('end', () => resolve(Buffer.concat(chunks)));
    response.on('error', reject);
  });
}

function parse(bytes: Buffer): unknown {
  return bytes.length === 0 ? undefined : (JSON.parse(bytes.toString('utf8')) as unknown);
}

/** What to log of a failure: of those that happen in operation the sentence, without a stack. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // A connection that was refused on each of several addresses says so in its causes only.
  return error.message === '' && error instanceof AggregateError
    ? error.errors.map(reasonOf).join(', ')
    : error.message;
}

/**
 * The HTTP client of the Kubernetes API: JSON in and out, a timeout for each request, a watchdog
 * for each stream, and a size limit for each response.
 *
 * @kubernetes/client-node is used only for kubeconfigs that cluster-access.ts does not read, such
 * as those with exec plugins. Its informer stops at the first broken connection, its typed lists
 * drop unknown fields, and its requests have no timeout.
 */
import type http from 'node:http';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { KubeConfig } from '@kubernetes/client-node';
import { errorMessage } from '../../errors.ts';
import { asRecord, asText, type UntypedJson } from '../untyped-json.ts';
import { ApiError, ResponseTooLarge } from './api-error.ts';
import { type ClusterAccess, type ClusterSelection, readPlainAccess } from './cluster-access.ts';
import { createSender, type Send } from './request-sender.ts';

const responseMaxBytes = 64 << 20;
const errorMaxBytes = 1 << 20;
/** The longest line of a watch. It holds one object, and requests are limited to about 3 MiB. */
const lineMaxBytes = 16 << 20;

export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The path, including the query. */
  readonly path: string;
  readonly body?: unknown;
  /** The type of the body. Default: application/json. */
  readonly contentType?: string;
  /** The type of the response. Default: application/json. It must be a JSON type. */
  readonly accept?: string;
  /** Lets the API server compress the response, which it does for long ones. */
  readonly compressed?: boolean;
  /** Do not parse the response: the caller needs only its status. */
  readonly discardBody?: true;
  /** Return the response as text: logs are no JSON. */
  readonly asText?: true;
  /** The limit of the uncompressed response. Default: 64 MiB. */
  readonly maxBytes?: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface Api {
  /** The URL of the API server, for messages. */
  readonly server: string;
  /**
   * Sends one request. Returns the parsed response; undefined with `discardBody`,
   * a text with `asText`.
   * @throws ApiError; after an abort, the signal's reason or another error
   */
  request(request: ApiRequest): Promise<unknown>;
  /**
   * Yields the parsed lines of a streamed response, until it ends or the signal is aborted.
   * @throws ApiError from the iteration; with status 0 after `silenceMs` without a line, or for a
   * line that is not JSON
   */
  stream(path: string, options: StreamOptions): AsyncGenerator<unknown>;
}

export interface StreamOptions extends Pick<ApiRequest, 'accept' | 'signal'> {
  readonly silenceMs: number;
}

/**
 * Loads the kubeconfig with the package. It is imported here, because it takes 90 MB and a second,
 * and most programs never need it.
 * @throws Error if the kubeconfig cannot be read, or has no such context
 */
export async function loadKubeconfig({ kubeconfig, context }: ClusterSelection = {}): Promise<KubeConfig> {
  const { KubeConfig } = await import('@kubernetes/client-node');
  const config = new KubeConfig();
  try {
    if (kubeconfig === undefined) config.loadFromDefault();
    else config.loadFromFile(kubeconfig);
  } catch (error) {
    throw new Error(`${kubeconfig ?? 'KUBECONFIG'} cannot be read: ${errorMessage(error)}`, { cause: error });
  }
  if (context === undefined) return config;
  if (!config.getContextObject(context))
    throw new Error(
      `the kubeconfig has no context ${context}: it has ${
        config
          .getContexts()
          .map(({ name }) => name)
          .join(', ') || 'none'
      }`,
    );
  config.setCurrentContext(context);
  return config;
}

/** Connects to the cluster of the kubeconfig. @throws Error for an unusable kubeconfig */
export const connectDefaultApi = async (selection?: ClusterSelection): Promise<Api> =>
  connectApi((await readPlainAccess(selection)) ?? (await loadKubeconfig(selection)));

/** @throws Error when the kubeconfig names no cluster */
export function connectApi(config: ClusterAccess): Api {
  const server = config.getCurrentCluster()?.server;
  if (server === undefined)
    throw new Error('the kubeconfig names no cluster: set its current-context, or set KUBECONFIG to another file');
  const send = createSender(config, server);
  return {
    server,
    request: (request) => exchange(send, request),
    stream: (path, options) => stream(send, path, options),
  };
}

async function exchange(send: Send, request: ApiRequest): Promise<unknown> {
  const name = `${request.method} ${request.path}`;
  const { signal, timeoutMs } = request;
  signal.throwIfAborted();
  const { response: replied, cancel } = send(request);
  let isLate = false;
  const expire = (): void => {
    isLate = true;
    cancel();
  };
  const timer = setTimeout(expire, timeoutMs);
  signal.addEventListener('abort', cancel);
  try {
    const response = await replied;
    const status = response.statusCode ?? 0;
    if (status >= 200 && status < 300) {
      const body = await readBody(response, request.maxBytes ?? responseMaxBytes);
      if (request.asText) return body.toString('utf8');
      return request.discardBody ? undefined : parse(body);
    }
    throw responseError(status, name, await readBody(response, errorMaxBytes));
  } catch (error) {
    if (signal.aborted || error instanceof ApiError) throw error;
    const reason = isLate ? `no response within ${timeoutMs} ms` : errorMessage(error);
    throw new ApiError(0, reason, { request: name, cause: error });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', cancel);
  }
}

async function* stream(
  send: Send,
  path: string,
  { silenceMs, signal, ...accept }: StreamOptions,
): AsyncGenerator<unknown> {
  if (signal.aborted) return;
  const { response: replied, cancel } = send({ method: 'GET', path, ...accept });
  let isSilent = false;
  const expire = (): void => {
    isSilent = true;
    cancel();
  };
  const watchdog = setTimeout(expire, silenceMs);
  signal.addEventListener('abort', cancel);
  try {
    const response = await replied;
    const status = response.statusCode ?? 0;
    if (status !== 200) throw responseError(status, `GET ${path}`, await readBody(response, errorMaxBytes));
    for await (const line of splitLines(response, lineMaxBytes)) {
      yield parse(line);
      watchdog.refresh();
    }
  } catch (error) {
    if (signal.aborted) return;
    if (error instanceof ApiError) throw error;
    const reason = isSilent ? `no data for ${silenceMs} ms` : errorMessage(error);
    throw new ApiError(0, reason, { request: `GET ${path}`, cause: error });
  } finally {
    clearTimeout(watchdog);
    signal.removeEventListener('abort', cancel);
    cancel();
  }
}

function responseError(status: number, request: string, body: Buffer): ApiError {
  let statusObject: UntypedJson = {};
  try {
    statusObject = asRecord(parse(body));
  } catch {
    // A proxy may have sent this body instead of the API server. Its text becomes the message.
  }
  const message = asText(statusObject['message']) || body.toString('utf8', 0, 200).trim();
  const { causes } = asRecord(statusObject['details']);
  const field = Array.isArray(causes) ? asText(asRecord(causes[0])['field']) : '';
  return new ApiError(status, `${status} ${message}`.trimEnd(), { request, field });
}

function readBody(response: http.IncomingMessage, maxBytes: number): Promise<Buffer> {
  return response.headers['content-encoding'] === 'gzip'
    ? collect(
        pipeline(response, createGunzip(), () => undefined),
        maxBytes,
      )
    : collect(response, maxBytes);
}

function collect(response: Readable, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxBytes) response.destroy(new ResponseTooLarge(maxBytes));
      else chunks.push(chunk);
    });
    response.on('end', () => resolve(Buffer.concat(chunks)));
    response.on('error', reject);
  });
}

function parse(bytes: Buffer): unknown {
  return bytes.length === 0 ? undefined : (JSON.parse(bytes.toString('utf8')) as unknown);
}

const newline = 10;

/**
 * Yields the lines of `chunks` without newlines. Skips empty lines, and drops an incomplete last
 * line.
 * @throws Error for a line longer than `maxBytes`
 */
export async function* splitLines(chunks: AsyncIterable<unknown>, maxBytes: number): AsyncGenerator<Buffer> {
  let pieces: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    let rest = chunk as Buffer;
    for (let end = rest.indexOf(newline); end !== -1; end = rest.indexOf(newline)) {
      const line = pieces.length === 0 ? rest.subarray(0, end) : Buffer.concat([...pieces, rest.subarray(0, end)]);
      pieces = [];
      bytes = 0;
      rest = rest.subarray(end + 1);
      if (line.length > 0) yield line;
    }
    if (rest.length === 0) continue;
    pieces.push(rest);
    bytes += rest.length;
    if (bytes > maxBytes) throw new Error(`a line of more than ${maxBytes} bytes`);
  }
}

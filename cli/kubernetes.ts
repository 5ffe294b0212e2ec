/**
 * The Kubernetes API of the cluster that KUBECONFIG names (else ~/.kube/config, else the one that this runs in), as plain JSON.
 * @kubernetes/client-node gives the address and the credentials; its typed lists know no deadline.
 */
import { existsSync } from 'node:fs';
import { type OutgoingHttpHeaders, request as httpRequest } from 'node:http';
import { type RequestOptions, request as httpsRequest } from 'node:https';
import { join } from 'node:path';
import type { KubeConfig } from '@kubernetes/client-node';
import { type Raw, record, text } from '../lib/raw.ts';
import { Failure } from './failure.ts';

const timeoutMs = 30_000;
const pageSize = 500;
const pagesMost = 10_000;
const answerMostBytes = 64 << 20;

/** All throw Failure when the API does not do what is asked. */
export interface Kubernetes {
  /** One object; undefined when there is none. */
  get(path: string): Promise<Raw | undefined>;
  /** All objects of a collection, read in pages. */
  list(path: string): Promise<Raw[]>;
  /** JSON merge patch of one object; false when there is none any more. */
  patch(path: string, body: object): Promise<boolean>;
  /** Deletes this very object; one that is gone already is success. */
  remove(path: string, uid: string): Promise<void>;
}

interface Request {
  readonly method: 'GET' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: object;
}

interface Reply {
  readonly status: number;
  readonly answer: Raw;
}

/** Whether there is a kubeconfig to be found. Without, it would be looked for at port 8080 of this machine. */
export const isClusterNamed = ({ KUBECONFIG, HOME, KUBERNETES_SERVICE_HOST }: NodeJS.ProcessEnv): boolean =>
  Boolean(KUBECONFIG || KUBERNETES_SERVICE_HOST || (HOME && existsSync(join(HOME, '.kube', 'config'))));

/**
 * To be awaited before anything is asked: the package takes a second of this process's time to load, in which no answer would be
 * heard; and no other verb should wait for it.
 * @throws Failure when there is no kubeconfig to be read.
 */
export async function connectKubernetes(signal: AbortSignal): Promise<Kubernetes> {
  const { KubeConfig } = await import('@kubernetes/client-node');
  const config = new KubeConfig();
  try {
    config.loadFromDefault();
  } catch (error) {
    throw new Failure('usage', `KUBECONFIG cannot be read: ${reasonOf(error)}`, { cause: error });
  }
  const server = config.getCurrentCluster()?.server;
  if (server === undefined)
    throw new Failure('usage', 'the kubeconfig names no cluster: set its current-context, or KUBECONFIG');
  const ask = (request: Request): Promise<Reply> => asking(config, server, request, signal);
  return {
    async get(path) {
      const { status, answer } = await ask({ method: 'GET', path });
      return status === 404 ? undefined : answer;
    },
    list: (path) => list(ask, path),
    async patch(path, body) {
      return (await ask({ method: 'PATCH', path, body })).status !== 404;
    },
    async remove(path, uid) {
      await ask({ method: 'DELETE', path, body: { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid } } });
    },
  };
}

async function list(ask: (request: Request) => Promise<Reply>, path: string): Promise<Raw[]> {
  const items: Raw[] = [];
  let next = '';
  for (let page = 0; page < pagesMost; page++) {
    const query = new URLSearchParams({ limit: String(pageSize), ...(next === '' ? {} : { continue: next }) });
    const { status, answer } = await ask({ method: 'GET', path: `${path}?${query}` });
    if (status === 404) throw new Failure('unreachable', `the Kubernetes API does not serve ${path}`);
    if (Array.isArray(answer['items'])) for (const item of answer['items']) items.push(record(item));
    next = text(record(answer['metadata'])['continue']);
    if (next === '') return items;
  }
  throw new Failure('unreachable', `more than ${pagesMost} pages of ${path}`);
}

/** Success, or 404; all else is a Failure that says what could not be done. */
async function asking(config: KubeConfig, server: string, request: Request, signal: AbortSignal): Promise<Reply> {
  const url = server.replace(/\/$/, '') + request.path;
  try {
    const reply = await send(config, url, request, AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]));
    if (reply.status < 300 || reply.status === 404) return reply;
    throw new Error(`${reply.status} ${text(reply.answer['message'])}`.trimEnd());
  } catch (error) {
    signal.throwIfAborted();
    const path = request.path.replace(/\?.*/, '');
    const what = `cannot ${verbs[request.method]} ${path} ${request.method === 'GET' ? 'of' : 'in'} the Kubernetes API at ${server}`;
    throw new Failure('unreachable', `${what} (${reasonOf(error)}): KUBECONFIG says where it is`, { cause: error });
  }
}

const verbs = { GET: 'read', PATCH: 'change', DELETE: 'delete' } as const;

async function send(config: KubeConfig, url: string, request: Request, signal: AbortSignal): Promise<Reply> {
  const credentials: RequestOptions = {};
  await config.applyToHTTPSOptions(credentials);
  const { method, body } = request;
  const bytes = body && Buffer.from(JSON.stringify(body));
  const headers: OutgoingHttpHeaders = { ...(credentials.headers as OutgoingHttpHeaders), accept: 'application/json' };
  if (bytes) {
    headers['content-type'] = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    headers['content-length'] = bytes.length;
  }
  return new Promise((resolve, reject) => {
    const begin = url.startsWith('https:') ? httpsRequest : httpRequest;
    const sent = begin(url, { ...credentials, method, headers, signal }, (response) => {
      const status = response.statusCode ?? 0;
      let answer = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        answer += chunk;
        if (answer.length > answerMostBytes)
          response.destroy(new Error(`an answer of more than ${answerMostBytes} bytes`));
      });
      response.on('error', reject);
      response.on('end', () => {
        try {
          resolve({ status, answer: record(JSON.parse(answer)) });
        } catch (error) {
          // Of a group that it does not know the API says so in plain text.
          if (status === 404) resolve({ status, answer: {} });
          else reject(new Error(`${status}, and no JSON`, { cause: error }));
        }
      });
    });
    sent.on('error', reject);
    sent.end(bytes);
  });
}

/** A connection that was refused on each of several addresses says so in its causes only. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.message === '' && error instanceof AggregateError) return error.errors.map(reasonOf).join(', ');
  return error.name === 'TimeoutError' ? `no answer within ${timeoutMs / 1_000} s` : error.message;
}

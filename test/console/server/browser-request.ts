/** Requests of a page of the console, and of other clients. */
import { request as plainRequest, type IncomingMessage } from 'node:http';
import { request as secureRequest } from 'node:https';
import type { ServedConsole } from './served-console.ts';

export interface BrowserReply {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
  readonly json: Readonly<Record<string, unknown>>;
}

export interface BrowserRequest {
  readonly method?: string;
  readonly body?: object | string;
  readonly cookie?: string;
  /** Replacements for the headers that a page of the console sends; undefined removes a header. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

type Target = Pick<ServedConsole, 'url' | 'authority'>;

function openRequest(
  { url, authority }: Target,
  path: string,
  { method = 'GET', cookie, headers = {} }: BrowserRequest,
) {
  const own = { 'content-type': 'application/json', 'x-ipledger-console': '1', origin: url, cookie, ...headers };
  const sent = Object.fromEntries(
    Object.entries(own).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  const options = { method, headers: sent, agent: false as const };
  return authority ? secureRequest(url + path, { ...options, ca: authority }) : plainRequest(url + path, options);
}

export async function browse(target: Target, path: string, options: BrowserRequest = {}): Promise<BrowserReply> {
  const response = await openResponse(target, path, options);
  const chunks: Buffer[] = [];
  for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  const isJson = String(response.headers['content-type']).startsWith('application/json');
  const json = isJson ? (JSON.parse(text) as Record<string, unknown>) : {};
  return { status: response.statusCode ?? 0, headers: response.headers, text, json };
}

/** Resolves with the headers of the reply. */
export function openResponse(target: Target, path: string, options: BrowserRequest = {}): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const request = openRequest(target, path, options);
  request.once('response', resolve);
  request.once('error', reject);
  const { body } = options;
  request.end(typeof body === 'object' ? JSON.stringify(body) : body);
  return promise;
}

/** Signs in. Returns the cookie. */
export async function signIn(target: Target, token: string): Promise<string> {
  const { status, headers, text } = await browse(target, '/api/v1/session', { method: 'POST', body: { token } });
  const cookie = headers['set-cookie']?.[0]?.split(';')[0];
  if (status !== 200 || cookie === undefined) throw new Error(`${status} ${text}`);
  return cookie;
}

export interface StreamFrame {
  readonly id: string;
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Reads the frames of a stream until it ends. */
export async function* readFrames(response: AsyncIterable<Buffer>): AsyncGenerator<StreamFrame> {
  let text = '';
  for await (const chunk of response) {
    const frames = (text + String(chunk)).split('\n\n');
    text = frames.pop() ?? '';
    for (const frame of frames) {
      const field = (name: string): string => new RegExp(`^${name}: (.*)$`, 'm').exec(frame)?.[1] ?? '';
      yield { id: field('id'), event: field('event'), data: JSON.parse(field('data')) as Record<string, unknown> };
    }
  }
}

/** Requests to the server of the console, and whether it answers and knows the person. */
import type { ApiError } from '../../api/page.ts';
import { hrefOf, withField } from './location.ts';
import { createStore } from './store.ts';

/** `away`: the server does not answer, or has no allocator; the page keeps what it shows. */
export type Connection = 'connected' | 'away' | 'signed out';

export const connection = createStore<Connection>('connected');
/** The reason why the server, or a part that it needs, is away. */
export const awayReason = createStore('');

/** A request that the server rejected; the message can be shown. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  readonly code: string;
  readonly status: number;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }

  /** Whether the same request can succeed soon. */
  get isTransient(): boolean {
    return this.status === 0 || this.status === 502 || this.status === 503 || this.status === 504;
  }
}

/** The parts of a request beside its address. */
interface Sent extends RequestInit {
  readonly headers?: Readonly<Record<string, string>>;
}

/** @throws RequestError */
export async function request<Reply>(url: string, init: Sent = {}): Promise<Reply> {
  const response = await send(url, init);
  if (response.ok) {
    forget(url);
    return (response.status === 204 ? undefined : await response.json()) as Reply;
  }
  const error = await errorOf(response);
  if (error.status === 401) connection.set('signed out');
  if (error.isTransient) goAway(url, error.message);
  else forget(url);
  throw error;
}

async function send(url: string, init: Sent): Promise<Response> {
  try {
    return await fetch(url, { ...init, headers: { accept: 'application/json', ...init.headers } });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    const message = 'The console does not answer. The page shows what it had before.';
    goAway(url, message);
    throw new RequestError(0, 'UNREACHABLE', message);
  }
}

/** The addresses that do not answer. Other addresses may answer at the same time. */
const away = new Set<string>();

function goAway(url: string, reason: string): void {
  away.add(url);
  awayReason.set(reason);
  if (connection.value === 'connected') connection.set('away');
}

/** Stops counting an address as away: it has answered, or its view was left. */
export function forget(url: string): void {
  away.delete(url);
  if (away.size === 0 && connection.value === 'away') connection.set('connected');
}

/** The reason of a failure, for the reader. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

async function errorOf(response: Response): Promise<RequestError> {
  const body = (await response.json().catch(() => ({}))) as Partial<ApiError>;
  const { code = '', message = `The console answered with status ${response.status}.` } = body;
  return new RequestError(response.status, code, message);
}

/** Sends a change, with a header that a form of another site cannot send. */
export const post = <Reply>(url: string, body: unknown): Promise<Reply> =>
  request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-ipledger-console': '1' },
    body: JSON.stringify(body),
  });

/** The address of a resource of the API. Empty values are left out. */
export const apiUrl = (path: readonly string[], query: Readonly<Record<string, string | undefined>> = {}): string =>
  hrefOf(['api', 'v1', ...path], query);

/** The address of the same data as a file. */
export const csvUrl = (url: string): string => withField(url, 'format', 'csv');

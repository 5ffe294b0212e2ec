/** Writes to the Kubernetes API, each with a deadline. Of the answers only the success is read. All throw ApiError; what to do then is its `reaction`. */
import type { Api } from './api.ts';

const writeTimeoutMs = 10_000;

/** Where an object is to be found. */
export function objectPath(collection: string, name: string): string {
  return `${collection}/${encodeURIComponent(name)}`;
}

export function podPath(namespace: string, name: string): string {
  return objectPath(`/api/v1/namespaces/${encodeURIComponent(namespace)}/pods`, name);
}

export interface Write {
  readonly path: string;
  readonly body: unknown;
  readonly signal: AbortSignal;
}

/** One object as it is now. */
export function read(api: Api, path: string, signal: AbortSignal): Promise<unknown> {
  return api.request({ method: 'GET', path, timeoutMs: writeTimeoutMs, signal });
}

/** Creates an object in the collection at `path`; 'changed' when the name is taken. */
export async function create(api: Api, { path, body, signal }: Write): Promise<void> {
  await api.request({ method: 'POST', path, body, unread: true, timeoutMs: writeTimeoutMs, signal });
}

/** Replaces the whole object; 'changed' when its resourceVersion is not the newest any more. */
export async function replace(api: Api, { path, body, signal }: Write): Promise<void> {
  await api.request({ method: 'PUT', path, body, unread: true, timeoutMs: writeTimeoutMs, signal });
}

/**
 * JSON merge patch (RFC 7396): null removes a key, what is not named stays. With `metadata.uid` in the body the API
 * refuses it ('changed') when another object has the name by now. A status is patched at its own path, "…/status".
 */
export async function mergePatch(api: Api, { path, body, signal }: Write): Promise<void> {
  const contentType = 'application/merge-patch+json';
  await api.request({ method: 'PATCH', path, body, contentType, unread: true, timeoutMs: writeTimeoutMs, signal });
}

/** Deletes this very object; 'changed' when another one has the name by now, 'absent' when none has. */
export async function remove(api: Api, path: string, uid: string, signal: AbortSignal): Promise<void> {
  const body = { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid } };
  await api.request({ method: 'DELETE', path, body, unread: true, timeoutMs: writeTimeoutMs, signal });
}

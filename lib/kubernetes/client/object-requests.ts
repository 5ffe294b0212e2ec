/** Reads and writes one object, with a timeout. @throws ApiError; its `reaction` is what to do */
import type { Api } from './kubernetes-api.ts';

const requestTimeoutMs = 10_000;

/** The path of an object in a collection. */
export function objectPath(collection: string, name: string): string {
  return `${collection}/${encodeURIComponent(name)}`;
}

export function podPath(namespace: string, name: string): string {
  return objectPath(`/api/v1/namespaces/${encodeURIComponent(namespace)}/pods`, name);
}

/** The path of the Leases of a namespace. */
export function leasesPath(namespace: string): string {
  return `/apis/coordination.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/leases`;
}

export interface WriteRequest {
  readonly path: string;
  readonly body: unknown;
  readonly signal: AbortSignal;
}

/** Reads the current version of an object. */
export function readObject(api: Api, path: string, signal: AbortSignal): Promise<unknown> {
  return api.request({ method: 'GET', path, timeoutMs: requestTimeoutMs, signal });
}

/** Creates an object in the collection at `path`; 'changed' when another object has its name. */
export async function createObject(api: Api, { path, body, signal }: WriteRequest): Promise<void> {
  await api.request({ method: 'POST', path, body, discardBody: true, timeoutMs: requestTimeoutMs, signal });
}

/** Replaces an object; 'changed' when the resourceVersion in the body is not its latest. */
export async function replaceObject(api: Api, { path, body, signal }: WriteRequest): Promise<void> {
  await api.request({ method: 'PUT', path, body, discardBody: true, timeoutMs: requestTimeoutMs, signal });
}

/**
 * JSON merge patch (RFC 7396): null removes a key, absent keys keep their values. With
 * `metadata.uid` in the body the API server rejects it ('changed') when another object has the
 * name. The path of a status ends in "/status".
 */
export async function mergePatch(api: Api, { path, body, signal }: WriteRequest): Promise<void> {
  const contentType = 'application/merge-patch+json';
  await api.request({
    method: 'PATCH',
    path,
    body,
    contentType,
    discardBody: true,
    timeoutMs: requestTimeoutMs,
    signal,
  });
}

/** Deletes the object with this uid; 'changed' if another object has the name; 'absent'. */
export async function deleteObject(api: Api, path: string, uid: string, signal: AbortSignal): Promise<void> {
  const body = { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid } };
  await api.request({ method: 'DELETE', path, body, discardBody: true, timeoutMs: requestTimeoutMs, signal });
}

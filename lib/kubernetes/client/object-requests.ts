/** Reads and writes single objects, with a timeout. @throws ApiError; `reaction` is what to do */
import type { Api } from './kubernetes-api.ts';

const requestTimeoutMs = 10_000;

export function objectPath(collection: string, name: string): string {
  return `${collection}/${encodeURIComponent(name)}`;
}

export function podPath(namespace: string, name: string): string {
  return objectPath(`/api/v1/namespaces/${encodeURIComponent(namespace)}/pods`, name);
}

export function leasesPath(namespace: string): string {
  return `/apis/coordination.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/leases`;
}

export interface WriteRequest {
  readonly path: string;
  readonly body: unknown;
  readonly signal: AbortSignal;
}

export function readObject(api: Api, path: string, signal: AbortSignal): Promise<unknown> {
  return api.request({ method: 'GET', path, timeoutMs: requestTimeoutMs, signal });
}

/** Creates an object in the collection at `path`; 'changed' if another object has its name. */
export async function createObject(api: Api, { path, body, signal }: WriteRequest): Promise<void> {
  await api.request({ method: 'POST', path, body, discardBody: true, timeoutMs: requestTimeoutMs, signal });
}

/** Replaces an object. Reaction 'changed': the resourceVersion in the body is not the latest. */
export async function replaceObject(api: Api, { path, body, signal }: WriteRequest): Promise<void> {
  await api.request({ method: 'PUT', path, body, discardBody: true, timeoutMs: requestTimeoutMs, signal });
}

/**
 * Sends a JSON merge patch (RFC 7396): null removes a key, absent keys keep their values. If the
 * body has `metadata.uid`, the API server rejects it ('changed') if another object has the name.
 * The path of a status ends in "/status".
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

/** Reads objects of the Kubernetes API. Connects at the first read. */
import { ApiError, ifPresent } from '../../../lib/kubernetes/client/api-error.ts';
import { IpledgerError, errorMessage } from '../../../lib/errors.ts';
import { createSemaphore } from '../../../lib/process/semaphore.ts';
import { type Api, connectDefaultApi } from '../../../lib/kubernetes/client/kubernetes-api.ts';

const readTimeoutMs = 5_000;
const maxConcurrentReads = 16;
const maxWaitingReads = 4_096;

/**
 * Reads the object at a path; undefined if it does not exist.
 * @param action begins the message of an error, for example "get pod default/p"
 * @throws IpledgerError UNAVAILABLE when the API server cannot be read now; PERMISSION_DENIED
 */
export type ObjectReader = (path: string, action: string, signal: AbortSignal) => Promise<unknown>;

/** Makes a reader that limits its concurrent reads. */
export function createObjectReader(get: KubernetesGet): ObjectReader {
  const limitReads = createSemaphore(maxConcurrentReads, maxWaitingReads);
  return async (path, action, signal) => {
    try {
      return await ifPresent(limitReads(signal, () => get(path, { timeoutMs: readTimeoutMs, signal })));
    } catch (error) {
      throw readError(action, error);
    }
  };
}

function readError(action: string, error: unknown): IpledgerError {
  const status = error instanceof ApiError ? error.status : 0;
  if (status === 401 || status === 403)
    return new IpledgerError(
      'PERMISSION_DENIED',
      `${action} failed: the agent lacks this permission (HTTP ${status}): apply deploy/rbac.yaml`,
      { cause: error },
    );
  const reason = error instanceof ApiError ? error.reason : errorMessage(error);
  const message = `${action} failed: the Kubernetes API could not be read: ${reason}`;
  return new IpledgerError('UNAVAILABLE', message, { cause: error });
}

const responseMaxBytes = 4 << 20;

/**
 * Reads the object or list at a path, as JSON.
 * @throws ApiError
 */
export type KubernetesGet = (
  path: string,
  options: { readonly timeoutMs: number; readonly signal: AbortSignal },
) => Promise<unknown>;

/**
 * Connects to the API server of KUBECONFIG, or of the cluster in which the agent runs. Connects
 * only at the first read, because the agent needs no API where the container runtime passes the Pod
 * uid.
 */
export function createKubernetesGet(): KubernetesGet {
  let connection: Promise<Api> | undefined;
  return async (path, options) => {
    connection ??= connectDefaultApi().catch((error: unknown) => {
      connection = undefined; // the next read tries again
      throw error;
    });
    const api = await connection;
    return api.request({ method: 'GET', path, maxBytes: responseMaxBytes, ...options });
  };
}

/** Reads from the Kubernetes API, which the agent connects to at its first read. */
import { type Api, connectDefaultApi } from '../../../lib/kubernetes/client/kubernetes-api.ts';

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
 * Connects to the API server of KUBECONFIG, or of the cluster in which the agent runs. It connects at the first read, because
 * the agent does not need it where the container runtime passes the Pod uid.
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

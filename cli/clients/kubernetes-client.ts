/** The Kubernetes API as the CLI uses it: objects as JSON, every failure as a CliError. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { errorMessage } from '../../lib/errors.ts';
import { ApiError } from '../../lib/kubernetes/client/api-error.ts';
import type { ClusterSelection } from '../../lib/kubernetes/client/cluster-access.ts';
import { ownGroup, withOwnObjects } from '../../lib/kubernetes/beside-kube-ovn.ts';
import { type Api, connectDefaultApi } from '../../lib/kubernetes/client/kubernetes-api.ts';
import { listPages } from '../../lib/kubernetes/client/list-pages.ts';
import { asRecord, asText, type UntypedJson } from '../../lib/kubernetes/untyped-json.ts';
import { CliError, throwUsageError } from '../cli-error.ts';
import { explainRequestError } from './request-error.ts';

const timeoutMs = 30_000;
const pageSize = 500;

/** Calls of the Kubernetes API. All throw CliError. */
export interface KubernetesClient {
  /** Whether Subnets, IPPools, Vips and IP objects are those of ipledger beside Kube-OVN. */
  readonly besideKubeOvn: boolean;
  /** Reads one object; undefined when it does not exist. */
  get(path: string): Promise<UntypedJson | undefined>;
  /** Reads all objects of a collection, in pages. */
  list(path: string): Promise<UntypedJson[]>;
  /** Reads a text, as the log of a container; "" when it does not exist. */
  readText(path: string): Promise<string>;
  /** Creates an object of a collection, and returns it. */
  create(path: string, object: object): Promise<UntypedJson>;
  /** Writes a whole object. Fails if its `resourceVersion` is not that of the stored object. */
  replace(path: string, object: object): Promise<void>;
  /** Sends a JSON merge patch of one object; false when it does not exist. */
  patch(path: string, body: object): Promise<boolean>;
  /** Deletes the object with this uid. An object that does not exist is success. */
  remove(path: string, uid: string): Promise<void>;
}

interface Request {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: object;
  readonly contentType?: string;
  readonly discardBody?: true;
  readonly asText?: true;
  readonly accept?: string;
}

/** Whether there is a kubeconfig. Without one, the client connects to port 8080 of this host. */
export const hasKubeconfig = (env: NodeJS.ProcessEnv, { kubeconfig }: ClusterSelection = {}): boolean =>
  Boolean(
    kubeconfig ??
    (env['KUBECONFIG'] ||
      env['KUBERNETES_SERVICE_HOST'] ||
      (env['HOME'] && existsSync(join(env['HOME'], '.kube', 'config')))),
  );

/**
 * Connects to the selected cluster: of KUBECONFIG, else ~/.kube/config, else the cluster in which
 * this runs. Await it before any call to the allocator: loading the client package blocks this
 * process for a second, and replies would wait.
 * @throws CliError when the kubeconfig cannot be read
 */
export async function connectKubernetes(signal: AbortSignal, selection?: ClusterSelection): Promise<KubernetesClient> {
  return createKubernetesClient(await openApi(selection), signal);
}

/**
 * Connects as connectKubernetes does, for the objects of ipledger: beside Kube-OVN they have a
 * group of their own, and a cluster that serves the group is in that mode. IPLEDGER_BESIDE_KUBE_OVN
 * decides for a cluster that has the group no longer in use.
 * @throws CliError also when the API cannot be read
 */
export async function connectOwnObjects(signal: AbortSignal, selection?: ClusterSelection): Promise<KubernetesClient> {
  const api = await openApi(selection);
  const kubeOvnObjects = createKubernetesClient(api, signal);
  const setting = process.env['IPLEDGER_BESIDE_KUBE_OVN'] ?? '';
  const besideKubeOvn =
    setting === '' ? (await kubeOvnObjects.get(`/apis/${ownGroup}/v1`)) !== undefined : setting === 'true';
  return besideKubeOvn ? { ...createKubernetesClient(withOwnObjects(api), signal), besideKubeOvn } : kubeOvnObjects;
}

const openApi = (selection?: ClusterSelection): Promise<Api> => connectDefaultApi(selection).catch(throwUsageError);

export function createKubernetesClient(api: Api, signal: AbortSignal): KubernetesClient {
  /** Returns undefined when the object does not exist. */
  const send = async (request: Request): Promise<{ readonly object: unknown } | undefined> => {
    try {
      return { object: await api.request({ ...request, timeoutMs, signal }) };
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return undefined;
      throw requestError(api, request, error, signal);
    }
  };
  const mustSend = async (request: Request): Promise<unknown> => {
    const reply = await send(request);
    if (!reply) throw new CliError('unreachable', `the Kubernetes API does not have ${request.path}`);
    return reply.object;
  };
  return {
    besideKubeOvn: false,
    async get(path) {
      const reply = await send({ method: 'GET', path });
      return reply && asRecord(reply.object);
    },
    list: (path) => list(api, path, signal),
    readText: async (path) => asText((await send({ method: 'GET', path, asText: true, accept: '*/*' }))?.object),
    create: async (path, body) => asRecord(await mustSend({ method: 'POST', path, body })),
    async replace(path, body) {
      await mustSend({ method: 'PUT', path, body, discardBody: true });
    },
    async patch(path, body) {
      const contentType = 'application/merge-patch+json';
      return (await send({ method: 'PATCH', path, body, contentType, discardBody: true })) !== undefined;
    },
    async remove(path, uid) {
      const body = { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid } };
      await send({ method: 'DELETE', path, body, discardBody: true });
    },
  };
}

async function list(api: Api, path: string, signal: AbortSignal): Promise<UntypedJson[]> {
  const objects: UntypedJson[] = [];
  try {
    for await (const { items } of listPages(api, path, { pageSize, timeoutMs, signal }))
      for (const item of items) objects.push(asRecord(item));
    return objects;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404)
      throw new CliError('unreachable', `the Kubernetes API does not serve ${path}`, { cause: error });
    throw requestError(api, { method: 'GET', path }, error, signal);
  }
}

const verbs = { GET: 'read', POST: 'create', PUT: 'change', PATCH: 'change', DELETE: 'delete' } as const;

/** @throws the signal's reason once it is aborted */
function requestError(api: Api, { method, path }: Request, error: unknown, signal: AbortSignal): CliError {
  signal.throwIfAborted();
  const object = method === 'POST' ? `an object of ${path}` : path;
  const action = `cannot ${verbs[method]} ${object} ${method === 'GET' ? 'of' : 'in'} the Kubernetes API at ${api.server}`;
  const reason = error instanceof ApiError ? error.reason : errorMessage(error);
  return new CliError('unreachable', `${action} (${reason}): ${explainRequestError(error)}`, { cause: error });
}

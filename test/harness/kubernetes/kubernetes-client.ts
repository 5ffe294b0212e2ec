/** Creates, reads and deletes Kubernetes objects as plain JSON, without a process for each call. */
import { KubeConfig } from '@kubernetes/client-node';
import { ifPresent } from '../../../lib/kubernetes/client/api-error.ts';
import { type Api, connectApi } from '../../../lib/kubernetes/client/kubernetes-api.ts';
import type { Fields } from '../json.ts';

/** The timeout: a busy machine replies slowly, above all with a list of thousands of objects. */
const timeoutMs = 60_000;

/** The API path of each kind. */
const collections = {
  CustomResourceDefinition: {
    path: '/apis/apiextensions.k8s.io/v1',
    plural: 'customresourcedefinitions',
    namespaced: false,
  },
  Deployment: { path: '/apis/apps/v1', plural: 'deployments', namespaced: true },
  Event: { path: '/api/v1', plural: 'events', namespaced: true },
  IPAMClaim: { path: '/apis/k8s.cni.cncf.io/v1alpha1', plural: 'ipamclaims', namespaced: true },
  IPPool: { path: '/apis/kubeovn.io/v1', plural: 'ippools', namespaced: false },
  IP: { path: '/apis/kubeovn.io/v1', plural: 'ips', namespaced: false },
  Lease: { path: '/apis/coordination.k8s.io/v1', plural: 'leases', namespaced: true },
  Namespace: { path: '/api/v1', plural: 'namespaces', namespaced: false },
  Network: { path: '/apis/k8s.plugin.opnfv.org/v1alpha1', plural: 'networks', namespaced: true },
  NetworkAttachmentDefinition: {
    path: '/apis/k8s.cni.cncf.io/v1',
    plural: 'network-attachment-definitions',
    namespaced: true,
  },
  Node: { path: '/api/v1', plural: 'nodes', namespaced: false },
  Pod: { path: '/api/v1', plural: 'pods', namespaced: true },
  StatefulSet: { path: '/apis/apps/v1', plural: 'statefulsets', namespaced: true },
  ProviderNetwork: { path: '/apis/kubeovn.io/v1', plural: 'provider-networks', namespaced: false },
  Subnet: { path: '/apis/kubeovn.io/v1', plural: 'subnets', namespaced: false },
  Vip: { path: '/apis/kubeovn.io/v1', plural: 'vips', namespaced: false },
  Vlan: { path: '/apis/kubeovn.io/v1', plural: 'vlans', namespaced: false },
  VirtualMachine: { path: '/apis/kubevirt.io/v1', plural: 'virtualmachines', namespaced: true },
  VirtualMachineInstance: { path: '/apis/kubevirt.io/v1', plural: 'virtualmachineinstances', namespaced: true },
} as const;

export type Kind = keyof typeof collections;

export interface KubeObject {
  readonly kind?: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly generation?: number;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
    readonly finalizers?: readonly string[];
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly spec?: Fields;
  readonly status?: Fields;
}

/** A Kubernetes Event. */
export interface KubeEvent extends KubeObject {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
}

/** An object to create. */
export interface Manifest {
  readonly kind: Kind;
  readonly metadata: {
    readonly name: string;
    /** The namespace; default: `default`. */
    readonly namespace?: string;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly labels?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly object[];
  };
  readonly spec?: object;
}

/**
 * A client. A `name` of a namespaced object is in namespace `default`, or "namespace/name". All
 * methods throw ApiError.
 */
export interface KubernetesClient {
  readonly api: Api;
  create(manifest: Manifest): Promise<KubeObject>;
  get(kind: Kind, name: string): Promise<KubeObject>;
  /** Reads an object; undefined if it does not exist. */
  find(kind: Kind, name: string): Promise<KubeObject | undefined>;
  /** Lists all objects of a kind, of all namespaces. @param query as "labelSelector=app=web" */
  list(kind: Kind, query?: string): Promise<KubeObject[]>;
  /** Lists the Events about an object. */
  listEventsOf(object: KubeObject): Promise<KubeEvent[]>;
  /** @param subresource as "status" */
  patch(kind: Kind, name: string, body: object, subresource?: string): Promise<KubeObject>;
  /**
   * Deletes an object; a missing one counts as deleted.
   * @param gracePeriodSeconds default: none, as a kubelet does after the containers have ended;
   * 'own': that of the Pod
   */
  remove(kind: Kind, name: string, gracePeriodSeconds?: number | 'own'): Promise<void>;
}

/** Returns "namespace/name", or "name" of a cluster-scoped object. */
export const keyOf = ({ metadata: { namespace, name } }: Pick<KubeObject, 'metadata'>): string =>
  namespace === undefined ? name : `${namespace}/${name}`;

/**
 * Opens a client of a kubeconfig file, which works until the signal is aborted.
 * @param using replaces the connection, for example by one with the objects of another group
 */
export function createKubernetesClient(
  kubeconfig: string,
  signal: AbortSignal,
  using: (api: Api) => Api = (api) => api,
): KubernetesClient {
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  const api = using(connectApi(config));
  const send = (request: Pick<Parameters<Api['request']>[0], 'method' | 'path' | 'body' | 'contentType'>) =>
    api.request({ ...request, timeoutMs, signal }) as Promise<KubeObject>;
  const list = async (kind: Kind, query = ''): Promise<KubeObject[]> => {
    const { path, plural } = collections[kind];
    return ((await send({ method: 'GET', path: `${path}/${plural}?${query}` })) as unknown as ObjectList).items;
  };
  return {
    api,
    create({ kind, ...object }) {
      const apiVersion = collections[kind].path.replace(/^\/apis?\//, '');
      const path = collectionOf(kind, object.metadata.namespace);
      return send({ method: 'POST', path, body: { apiVersion, kind, ...object } });
    },
    get: (kind, name) => send({ method: 'GET', path: pathOf(kind, name) }),
    find: (kind, name) => ifPresent(send({ method: 'GET', path: pathOf(kind, name) })),
    list,
    listEventsOf: async ({ metadata: { uid } }) =>
      (await list('Event', `fieldSelector=involvedObject.uid=${uid}`)) as KubeEvent[],
    patch(kind, name, body, subresource) {
      const path = `${pathOf(kind, name)}${subresource === undefined ? '' : `/${subresource}`}`;
      return send({ method: 'PATCH', path, body, contentType: 'application/merge-patch+json' });
    },
    async remove(kind, name, gracePeriodSeconds = 0) {
      const grace = gracePeriodSeconds === 'own' ? {} : { gracePeriodSeconds };
      const body = { kind: 'DeleteOptions', apiVersion: 'v1', ...grace };
      await ifPresent(send({ method: 'DELETE', path: pathOf(kind, name), body }));
    },
  };
}

interface ObjectList {
  readonly items: KubeObject[];
}

function collectionOf(kind: Kind, namespace = 'default'): string {
  const { path, plural, namespaced } = collections[kind];
  return namespaced ? `${path}/namespaces/${namespace}/${plural}` : `${path}/${plural}`;
}

function pathOf(kind: Kind, key: string): string {
  const [name = '', namespace] = key.split('/').toReversed();
  return `${collectionOf(kind, namespace)}/${encodeURIComponent(name)}`;
}

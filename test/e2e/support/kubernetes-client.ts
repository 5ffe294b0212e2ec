/** Creates, reads and deletes Kubernetes objects as plain JSON, without a process for each call. */
import { KubeConfig } from '@kubernetes/client-node';
import { type Api, connectApi } from '../../../lib/kubernetes/client/kubernetes-api.ts';

/** A busy machine replies slowly, above all with a list of thousands of objects. */
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
    readonly annotations?: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
    readonly finalizers?: readonly string[];
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>>;
}

/** An object to create. */
export interface Manifest {
  readonly kind: Kind;
  readonly metadata: {
    readonly name: string;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly labels?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly object[];
  };
  readonly spec: object;
}

/** Namespaced objects are in namespace `default`. All methods throw ApiError. */
export interface KubernetesClient {
  create(manifest: Manifest): Promise<KubeObject>;
  get(kind: Kind, name: string): Promise<KubeObject>;
  /** All objects of a kind, of all namespaces. @param query as "labelSelector=app=web" */
  list(kind: Kind, query?: string): Promise<KubeObject[]>;
  /** @param subresource as "status" */
  patch(kind: Kind, name: string, body: object, subresource?: string): Promise<KubeObject>;
  /** Deletes, by default without grace period, as a kubelet does after the containers have ended. */
  remove(kind: Kind, name: string, gracePeriodSeconds?: number): Promise<void>;
}

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
  return {
    create({ kind, metadata, spec }) {
      const apiVersion = collections[kind].path.replace(/^\/apis?\//, '');
      return send({ method: 'POST', path: collectionOf(kind), body: { apiVersion, kind, metadata, spec } });
    },
    get: (kind, name) => send({ method: 'GET', path: `${collectionOf(kind)}/${name}` }),
    async list(kind, query = '') {
      const { path, plural } = collections[kind];
      const request = { method: 'GET', path: `${path}/${plural}?${query}`, timeoutMs, signal } as const;
      return ((await api.request(request)) as ObjectList).items;
    },
    patch(kind, name, body, subresource) {
      const path = `${collectionOf(kind)}/${name}${subresource === undefined ? '' : `/${subresource}`}`;
      return send({ method: 'PATCH', path, body, contentType: 'application/merge-patch+json' });
    },
    async remove(kind, name, gracePeriodSeconds = 0) {
      const body = { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds };
      await send({ method: 'DELETE', path: `${collectionOf(kind)}/${name}`, body });
    },
  };
}

interface ObjectList {
  readonly items: KubeObject[];
}

function collectionOf(kind: Kind): string {
  const { path, plural, namespaced } = collections[kind];
  return namespaced ? `${path}/namespaces/default/${plural}` : `${path}/${plural}`;
}

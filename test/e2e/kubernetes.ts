/** Objects of the Kubernetes API as plain JSON: what a test makes, reads and takes away, without a process for each call. */
import { KubeConfig } from '@kubernetes/client-node';
import { type Api, connectApi } from '../../services/pod-watcher/kubernetes/api.ts';

const timeoutMs = 10_000;
/** Thousands of objects take a busy machine their time. */
const listTimeoutMs = 60_000;

/** Where the objects of each kind are. */
const collections = {
  CustomResourceDefinition: {
    path: '/apis/apiextensions.k8s.io/v1',
    plural: 'customresourcedefinitions',
    namespaced: false,
  },
  Deployment: { path: '/apis/apps/v1', plural: 'deployments', namespaced: true },
  Event: { path: '/api/v1', plural: 'events', namespaced: true },
  IPPool: { path: '/apis/kubeovn.io/v1', plural: 'ippools', namespaced: false },
  IP: { path: '/apis/kubeovn.io/v1', plural: 'ips', namespaced: false },
  Lease: { path: '/apis/coordination.k8s.io/v1', plural: 'leases', namespaced: true },
  Namespace: { path: '/api/v1', plural: 'namespaces', namespaced: false },
  NetworkAttachmentDefinition: {
    path: '/apis/k8s.cni.cncf.io/v1',
    plural: 'network-attachment-definitions',
    namespaced: true,
  },
  Node: { path: '/api/v1', plural: 'nodes', namespaced: false },
  Pod: { path: '/api/v1', plural: 'pods', namespaced: true },
  StatefulSet: { path: '/apis/apps/v1', plural: 'statefulsets', namespaced: true },
  Subnet: { path: '/apis/kubeovn.io/v1', plural: 'subnets', namespaced: false },
  Vip: { path: '/apis/kubeovn.io/v1', plural: 'vips', namespaced: false },
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

/** An object to be made. */
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

/** Everything namespaced is in namespace `default`. All throw ApiError. */
export interface Kubernetes {
  create(manifest: Manifest): Promise<KubeObject>;
  get(kind: Kind, name: string): Promise<KubeObject>;
  /** All objects of a kind, of all namespaces. @param query as "labelSelector=app=web" */
  list(kind: Kind, query?: string): Promise<KubeObject[]>;
  /** @param subresource as "status" */
  patch(kind: Kind, name: string, body: object, subresource?: string): Promise<KubeObject>;
  /** Deletes at once, as a kubelet does when the containers are gone. */
  remove(kind: Kind, name: string): Promise<void>;
}

/** Speaks to the API of a kubeconfig file until the signal is aborted. */
export function kubernetesOf(kubeconfig: string, signal: AbortSignal): Kubernetes {
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  const api = connectApi(config);
  const ask = (request: Pick<Parameters<Api['request']>[0], 'method' | 'path' | 'body' | 'contentType'>) =>
    api.request({ ...request, timeoutMs, signal }) as Promise<KubeObject>;
  return {
    create({ kind, metadata, spec }) {
      const apiVersion = collections[kind].path.replace(/^\/apis?\//, '');
      return ask({ method: 'POST', path: collectionOf(kind), body: { apiVersion, kind, metadata, spec } });
    },
    get: (kind, name) => ask({ method: 'GET', path: `${collectionOf(kind)}/${name}` }),
    async list(kind, query = '') {
      const { path, plural } = collections[kind];
      const request = { method: 'GET', path: `${path}/${plural}?${query}`, timeoutMs: listTimeoutMs, signal } as const;
      return ((await api.request(request)) as ObjectList).items;
    },
    patch(kind, name, body, subresource) {
      const path = `${collectionOf(kind)}/${name}${subresource === undefined ? '' : `/${subresource}`}`;
      return ask({ method: 'PATCH', path, body, contentType: 'application/merge-patch+json' });
    },
    async remove(kind, name) {
      const body = { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 0 };
      await ask({ method: 'DELETE', path: `${collectionOf(kind)}/${name}`, body });
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

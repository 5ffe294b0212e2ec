/** Objects of the Kubernetes API as plain JSON, of whatever kind a case needs. */
import { setTimeout as sleep } from 'node:timers/promises';
import { KubeConfig } from '@kubernetes/client-node';
import { type Api, ApiError, connectApi } from '../../../services/pod-watcher/kubernetes/api.ts';
import { type Fields, fieldsOf, listOf } from '../json.ts';

const timeoutMs = 10_000;

/** Where the objects of each kind are. */
const collections = {
  Deployment: ['/apis/apps/v1', 'deployments'],
  Event: ['/api/v1', 'events'],
  IP: ['/apis/kubeovn.io/v1', 'ips'],
  IPPool: ['/apis/kubeovn.io/v1', 'ippools'],
  Namespace: ['/api/v1', 'namespaces'],
  NetworkAttachmentDefinition: ['/apis/k8s.cni.cncf.io/v1', 'network-attachment-definitions'],
  Node: ['/api/v1', 'nodes'],
  Pod: ['/api/v1', 'pods'],
  StatefulSet: ['/apis/apps/v1', 'statefulsets'],
  Subnet: ['/apis/kubeovn.io/v1', 'subnets'],
  Vip: ['/apis/kubeovn.io/v1', 'vips'],
  VirtualMachine: ['/apis/kubevirt.io/v1', 'virtualmachines'],
  VirtualMachineInstance: ['/apis/kubevirt.io/v1', 'virtualmachineinstances'],
} as const;

export type Kind = keyof typeof collections;

export interface KubeObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly generation?: number;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly labels?: Readonly<Record<string, string>>;
    readonly finalizers?: readonly string[];
    readonly deletionTimestamp?: string;
  };
  readonly spec?: Fields;
  readonly status?: Fields;
}

/** A Kubernetes Event. */
export interface Happened extends KubeObject {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly involvedObject: { readonly uid: string };
}

/** Which object: of a cluster-scoped one, namespace ''. */
export interface Named {
  readonly kind: Kind;
  readonly namespace?: string;
  readonly name: string;
}

/** All throw ApiError, except where one is said to be undefined. */
export interface Objects {
  readonly api: Api;
  create(kind: Kind, metadata: Fields, rest?: Fields): Promise<KubeObject>;
  /** undefined if there is none. */
  find(which: Named): Promise<KubeObject | undefined>;
  list(kind: Kind): Promise<KubeObject[]>;
  /** @param subresource as "status" */
  patch(which: Named, body: Fields, subresource?: string): Promise<KubeObject>;
  /** @param graceSeconds 0 as a kubelet does at last; undefined leaves it to the object. */
  remove(which: Named, graceSeconds?: number): Promise<void>;
  /** Makes a CustomResourceDefinition, if there is none; resolves when objects of it can be made. */
  define(definition: Fields & { readonly metadata: { readonly name: string } }): Promise<void>;
  /** What Events say about an object. */
  said(about: KubeObject): Promise<Happened[]>;
}

/** Speaks to the API of a kubeconfig file until the signal is aborted. */
export function objectsOf(kubeconfig: string, signal: AbortSignal): Objects {
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  const api = connectApi(config);
  const ask = async (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: Fields): Promise<unknown> => {
    const contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    return api.request({ method, path, timeoutMs, signal, ...(body && { body, contentType }) });
  };
  return {
    api,
    async create(kind, metadata, rest = {}) {
      const [group] = collections[kind];
      const body = { apiVersion: group.replace(/^\/apis?\//, ''), kind, metadata, ...rest };
      const namespace = typeof metadata['namespace'] === 'string' ? metadata['namespace'] : undefined;
      return (await ask('POST', collectionOf(kind, namespace), body)) as KubeObject;
    },
    async find(which) {
      try {
        return (await ask('GET', pathOf(which))) as KubeObject;
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return undefined;
        throw error;
      }
    },
    async list(kind) {
      return ((await ask('GET', collectionOf(kind))) as { items: KubeObject[] }).items;
    },
    async patch(which, body, subresource) {
      return (await ask('PATCH', `${pathOf(which)}${subresource ? `/${subresource}` : ''}`, body)) as KubeObject;
    },
    async remove(which, graceSeconds) {
      const grace = graceSeconds === undefined ? {} : { gracePeriodSeconds: graceSeconds };
      try {
        await ask('DELETE', pathOf(which), { kind: 'DeleteOptions', apiVersion: 'v1', ...grace });
      } catch (error) {
        if (!(error instanceof ApiError && error.status === 404)) throw error;
      }
    },
    async define(definition) {
      const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
      await ask('POST', path, definition).catch((error: unknown) => {
        if (!(error instanceof ApiError && error.status === 409)) throw error;
      });
      for (;;) {
        const { status } = (await ask('GET', `${path}/${definition.metadata.name}`)) as KubeObject;
        const conditions = listOf(status?.['conditions']).map(fieldsOf);
        if (conditions.some(({ type, status: is }) => type === 'Established' && is === 'True')) return;
        await sleep(20, undefined, { signal });
      }
    },
    async said(about) {
      const path = `${collectionOf('Event')}?fieldSelector=involvedObject.uid=${about.metadata.uid}`;
      return ((await ask('GET', path)) as { items: Happened[] }).items;
    },
  };
}

function collectionOf(kind: Kind, namespace?: string): string {
  const [group, plural] = collections[kind];
  return namespace === undefined ? `${group}/${plural}` : `${group}/namespaces/${namespace}/${plural}`;
}

function pathOf({ kind, namespace, name }: Named): string {
  return `${collectionOf(kind, namespace)}/${encodeURIComponent(name)}`;
}

/** Client of the Kubernetes API, with objects as plain JSON. */
import { setTimeout as sleep } from 'node:timers/promises';
import { KubeConfig } from '@kubernetes/client-node';
import { type Api, connectApi } from '../../../lib/kubernetes/client/kubernetes-api.ts';
import { ApiError } from '../../../lib/kubernetes/client/api-error.ts';
import { type Fields, fieldsOf, listOf } from '../json.ts';

const timeoutMs = 60_000;

/** The path of each kind: group and plural. */
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
export interface KubeEvent extends KubeObject {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly involvedObject: { readonly uid: string };
}

/** Identifies an object; without namespace for cluster-scoped kinds. */
export interface ObjectKey {
  readonly kind: Kind;
  readonly namespace?: string;
  readonly name: string;
}

/** All methods throw ApiError. */
export interface KubeClient {
  readonly api: Api;
  create(kind: Kind, metadata: Fields, rest?: Fields): Promise<KubeObject>;
  /** undefined if the object does not exist. */
  find(which: ObjectKey): Promise<KubeObject | undefined>;
  list(kind: Kind): Promise<KubeObject[]>;
  /** @param subresource for instance "status" */
  patch(which: ObjectKey, body: Fields, subresource?: string): Promise<KubeObject>;
  /** @param graceSeconds 0 to delete without grace period; undefined for the object's own */
  delete(which: ObjectKey, graceSeconds?: number): Promise<void>;
  /** Creates a CustomResourceDefinition if it is absent; resolves when its objects can be created. */
  createCrd(definition: Fields & { readonly metadata: { readonly name: string } }): Promise<void>;
  /** Lists the Events about an object. */
  listEventsOf(about: KubeObject): Promise<KubeEvent[]>;
}

/** Makes a client for a kubeconfig file; the signal aborts its requests. */
export function createKubeClient(kubeconfig: string, signal: AbortSignal): KubeClient {
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  const api = connectApi(config);
  const send = async (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: Fields): Promise<unknown> => {
    const contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    return api.request({ method, path, timeoutMs, signal, ...(body && { body, contentType }) });
  };
  return {
    api,
    async create(kind, metadata, rest = {}) {
      const [group] = collections[kind];
      const body = { apiVersion: group.replace(/^\/apis?\//, ''), kind, metadata, ...rest };
      const namespace = typeof metadata['namespace'] === 'string' ? metadata['namespace'] : undefined;
      return (await send('POST', collectionOf(kind, namespace), body)) as KubeObject;
    },
    async find(which) {
      try {
        return (await send('GET', pathOf(which))) as KubeObject;
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return undefined;
        throw error;
      }
    },
    async list(kind) {
      return ((await send('GET', collectionOf(kind))) as { items: KubeObject[] }).items;
    },
    async patch(which, body, subresource) {
      return (await send('PATCH', `${pathOf(which)}${subresource ? `/${subresource}` : ''}`, body)) as KubeObject;
    },
    async delete(which, graceSeconds) {
      const grace = graceSeconds === undefined ? {} : { gracePeriodSeconds: graceSeconds };
      try {
        await send('DELETE', pathOf(which), { kind: 'DeleteOptions', apiVersion: 'v1', ...grace });
      } catch (error) {
        if (!(error instanceof ApiError && error.status === 404)) throw error;
      }
    },
    async createCrd(definition) {
      const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
      await send('POST', path, definition).catch((error: unknown) => {
        if (!(error instanceof ApiError && error.status === 409)) throw error;
      });
      for (;;) {
        const { status } = (await send('GET', `${path}/${definition.metadata.name}`)) as KubeObject;
        const conditions = listOf(status?.['conditions']).map(fieldsOf);
        if (conditions.some(({ type, status: is }) => type === 'Established' && is === 'True')) return;
        await sleep(20, undefined, { signal });
      }
    },
    async listEventsOf(about) {
      const path = `${collectionOf('Event')}?fieldSelector=involvedObject.uid=${about.metadata.uid}`;
      return ((await send('GET', path)) as { items: KubeEvent[] }).items;
    },
  };
}

function collectionOf(kind: Kind, namespace?: string): string {
  const [group, plural] = collections[kind];
  return namespace === undefined ? `${group}/${plural}` : `${group}/namespaces/${namespace}/${plural}`;
}

function pathOf({ kind, namespace, name }: ObjectKey): string {
  return `${collectionOf(kind, namespace)}/${encodeURIComponent(name)}`;
}

/**
 * The few fields that we read of each kind, as plain values. Everything else is dropped on arrival: the image of a large
 * cluster must fit into memory. A field of the wrong type reads as absent.
 */
import { type Controller, controllerOf, identityOf } from '../../../lib/pod-identity.ts';
import { toLabels } from './label-selector.ts';
import type { Kind, Named } from './list-watch.ts';
import { number, type Raw, record, text } from '../../../lib/raw.ts';

/** @throws Error when the object has no name or no uid. */
export function named(metadata: Raw): Named {
  const [name, uid] = [text(metadata['name']), text(metadata['uid'])];
  if (name === '' || uid === '')
    throw new Error(`an object without name or uid: ${JSON.stringify(metadata).slice(0, 200)}`);
  return { namespace: text(metadata['namespace']), name, uid, resourceVersion: text(metadata['resourceVersion']) };
}

// ---- Pod -----------------------------------------------------------------------------------------------------------

export interface Pod extends Named {
  /** The name under which the ledger knows it: its own; of a virtual machine's launcher the machine's. */
  readonly ledgerName: string;
  /** Who it is in the ledger: its uid; of a static Pod the hash of its manifest; of a launcher the uid of its machine. */
  readonly identity: string;
  /** RFC 3339. */
  readonly createdAt: string;
  readonly node: string;
  readonly hostNetwork: boolean;
  readonly restartPolicy: string;
  readonly phase: string;
  readonly reason: string;
  /** RFC 3339, "" unless it is terminating. */
  readonly deletionTimestamp: string;
  readonly graceSeconds: number;
  readonly controller: Controller | undefined;
  /** Only those that concern attachments. */
  readonly annotations: Readonly<Record<string, string>>;
}

export const networksAnnotation = 'k8s.v1.cni.cncf.io/networks';
export const defaultNetworkAnnotation = 'v1.multus-cni.io/default-network';

/** A Vip whose addresses the Pod shall have. */
export const vipAnnotation = 'ovn.kubernetes.io/vip';

/** Requests for NICs in the forms of ovn4nfv and ovn-kubernetes. */
export const ovnRequestAnnotations = ['ovnNetwork', 'ovn'] as const;

const attachmentSuffix =
  /\.kubernetes\.io\/(?:(?:ip_address|mac_address)(?:\..+)?|cidr|gateway|allocated|virtualmachine|ip_pool|ip_family|logical_switch|routes|default_route|(?:in|e)gress_(?:rate|burst))$/;
const wholeKeys = new Set<string>([
  networksAnnotation,
  defaultNetworkAnnotation,
  vipAnnotation,
  ...ovnRequestAnnotations,
]);

export const pods: Kind<Pod> = { path: '/api/v1/pods', parse: toPod };

/** @throws Error for an object without name or uid. */
export function toPod(raw: unknown): Pod {
  const { metadata, spec, status } = record(raw);
  const [meta, wanted, seen] = [record(metadata), record(spec), record(status)];
  const object = named(meta);
  const annotations = record(meta['annotations']);
  const controller = controllerOf(meta['ownerReferences']);
  const { name: ledgerName, uid: identity } = identityOf({ ...object, annotations, controller });
  return {
    ...object,
    ledgerName,
    identity,
    createdAt: text(meta['creationTimestamp']),
    node: text(wanted['nodeName']),
    hostNetwork: wanted['hostNetwork'] === true,
    restartPolicy: text(wanted['restartPolicy']),
    phase: text(seen['phase']),
    reason: text(seen['reason']),
    deletionTimestamp: text(meta['deletionTimestamp']),
    graceSeconds: number(wanted['terminationGracePeriodSeconds']) ?? 30,
    controller,
    annotations: attachmentAnnotations(annotations),
  };
}

function attachmentAnnotations(annotations: Raw): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [key, value] of Object.entries(annotations)) {
    const concerns = wholeKeys.has(key) || attachmentSuffix.test(key);
    if (concerns && typeof value === 'string') kept[key] = value;
  }
  return kept;
}

/** Whether annotations show that some attachment has its address. */
export function hasAllocatedAnnotation(annotations: Readonly<Record<string, string>>): boolean {
  return Object.entries(annotations).some(
    ([key, value]) => key.endsWith('.kubernetes.io/allocated') && value === 'true',
  );
}

// ---- Namespace -----------------------------------------------------------------------------------------------------

export interface NamespaceObject extends Named {
  readonly labels: Readonly<Record<string, string>>;
  /** Only those that say which Subnets and IPPools are its own. */
  readonly annotations: Readonly<Record<string, string>>;
  /** The Subnets that serve the primary network of its Pods, best first. */
  readonly subnets: readonly string[];
  /** The IPPools from which they do. */
  readonly pools: readonly string[];
}

const namespaceKey = /^(?:ovn\.kubernetes\.io|ipledger\.io)\//;

export const namespaces: Kind<NamespaceObject> = {
  path: '/api/v1/namespaces',
  parse: (raw) => {
    const meta = record(record(raw)['metadata']);
    const annotations = record(meta['annotations']);
    const list = (key: string): string[] =>
      text(annotations[key])
        .split(',')
        .map((name) => name.trim())
        .filter((name) => name !== '');
    const own = Object.entries(annotations).filter(([key]) => namespaceKey.test(key));
    return {
      ...named(meta),
      labels: toLabels(meta['labels']),
      annotations: toLabels(Object.fromEntries(own)),
      subnets: list('ovn.kubernetes.io/logical_switch'),
      pools: list('ovn.kubernetes.io/ip_pool'),
    };
  },
};

// ---- StatefulSet ---------------------------------------------------------------------------------------------------

/** Which members it wants: so many, numbered from its first ordinal on. */
export interface StatefulSet extends Named {
  readonly deleting: boolean;
  readonly replicas: number;
  readonly firstOrdinal: number;
}

export const statefulSets: Kind<StatefulSet> = { path: '/apis/apps/v1/statefulsets', parse: toStatefulSet };

/** @throws Error for an object without name or uid. */
export function toStatefulSet(raw: unknown): StatefulSet {
  const { metadata, spec } = record(raw);
  const [meta, wanted] = [record(metadata), record(spec)];
  return {
    ...named(meta),
    deleting: text(meta['deletionTimestamp']) !== '',
    replicas: number(wanted['replicas']) ?? 1,
    firstOrdinal: number(record(wanted['ordinals'])['start']) ?? 0,
  };
}

// ---- VirtualMachine, VirtualMachineInstance -------------------------------------------------------------------------

/** A virtual machine of KubeVirt, or one that runs. */
export interface Machine {
  readonly uid: string;
  readonly deleting: boolean;
}

/** Where they are, if KubeVirt is there. */
export const machinePaths = {
  VirtualMachine: 'virtualmachines',
  VirtualMachineInstance: 'virtualmachineinstances',
} as const;

/** @throws Error for an object without name or uid. */
export function toMachine(raw: unknown): Machine {
  const meta = record(record(raw)['metadata']);
  return { uid: named(meta).uid, deleting: text(meta['deletionTimestamp']) !== '' };
}

// ---- Node ----------------------------------------------------------------------------------------------------------

export interface NodeObject extends Named {
  /** By which it is reached inside the cluster. */
  readonly addresses: readonly string[];
}

export const nodes: Kind<NodeObject> = {
  path: '/api/v1/nodes',
  parse: (raw) => {
    const { metadata, status } = record(raw);
    const all: unknown = record(status)['addresses'];
    const internal = (Array.isArray(all) ? all : []).map(record).filter(({ type }) => type === 'InternalIP');
    return { ...named(record(metadata)), addresses: internal.map(({ address }) => text(address)) };
  },
};

// ---- NetworkAttachmentDefinition -----------------------------------------------------------------------------------

export interface NetworkDefinition extends Named {
  /** The CNI configuration, as text; "" if there is none. */
  readonly config: string;
  /** The device plugin's resource that its NICs come from. */
  readonly resource?: string;
}

const resourceAnnotation = 'k8s.v1.cni.cncf.io/resourceName';

export const networkDefinitions: Kind<NetworkDefinition> = {
  path: '/apis/k8s.cni.cncf.io/v1/network-attachment-definitions',
  parse: (raw) => {
    const { metadata, spec } = record(raw);
    const meta = record(metadata);
    const resource = text(record(meta['annotations'])[resourceAnnotation]);
    return { ...named(meta), config: text(record(spec)['config']), ...(resource !== '' && { resource }) };
  },
};

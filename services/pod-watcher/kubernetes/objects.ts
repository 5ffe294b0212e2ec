/**
 * The few fields that we read of each kind, as plain values. Everything else is dropped on arrival: the image of a large
 * cluster must fit into memory. A field of the wrong type reads as absent.
 */
import {
  type Controller,
  controllerOf,
  identityOf,
  machineClaimOf,
  type MachineInstance,
  machineInstanceOf,
} from '../../../lib/pod-identity.ts';
import { toLabels } from './label-selector.ts';
import {
  namespaceLimits,
  networkLimits,
  nodeLimits,
  overLimit,
  podLimits,
  textLimits,
  tooLong,
  tooMany,
} from '../limits.ts';
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
  /** The virtual machine whose launcher it claims to be; undefined for others. */
  readonly claims: Controller | undefined;
  /** Why that is not believed; "" while it is, or was not looked up yet (launchers.ts). */
  readonly doubt: string;
  /** RFC 3339. */
  readonly createdAt: string;
  readonly node: string;
  readonly hostNetwork: boolean;
  readonly restartPolicy: string;
  readonly phase: string;
  readonly reason: string;
  /** RFC 3339, "" unless it is terminating. */
  readonly deletionTimestamp: string;
  /** Of its deletion, once it is being deleted; until then the one that its spec asks for. */
  readonly graceSeconds: number;
  readonly controller: Controller | undefined;
  /** Only those that concern attachments, and are within their limits. */
  readonly annotations: Readonly<Record<string, string>>;
  /** What is over its limit, and so was left out: such a Pod must not be served. */
  readonly problems: readonly string[];
}

export const networksAnnotation = 'k8s.v1.cni.cncf.io/networks';
export const defaultNetworkAnnotation = 'v1.multus-cni.io/default-network';

/** A Vip whose addresses the Pod shall have. */
export const vipAnnotation = 'ovn.kubernetes.io/vip';

/** Requests for NICs in the forms of ovn4nfv and ovn-kubernetes. */
export const ovnRequestAnnotations = ['ovnNetwork', 'ovn'] as const;

const attachmentSuffix =
  /\.kubernetes\.io\/(?:(?:ip_address|mac_address)(?:\..+)?|cidr|gateway|allocated|virtualmachine|ip_pool|ip_family|logical_switch|routes|default_route|(?:in|e)gress_(?:rate|burst))$/;
/** Most keys are not: they cost no regular expression. */
const isOfAttachment = (key: string): boolean => key.includes('.kubernetes.io/') && attachmentSuffix.test(key);

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
  const kept = attachmentAnnotations(annotations);
  const owner = ownerWithin(meta['ownerReferences']);
  const { controller } = owner;
  const { name: ledgerName, uid } = identityOf({ ...object, annotations });
  // Who asks for nothing is not told what is wrong with an owner.
  const others = Object.keys(kept.annotations).length === 0 ? [] : [owner.problem];
  return {
    ...object,
    ledgerName,
    identity: uid,
    claims: machineClaimOf({ ...object, controller }),
    doubt: '',
    createdAt: text(meta['creationTimestamp']),
    node: text(wanted['nodeName']),
    hostNetwork: wanted['hostNetwork'] === true,
    restartPolicy: text(wanted['restartPolicy']),
    phase: text(seen['phase']),
    reason: text(seen['reason']),
    deletionTimestamp: text(meta['deletionTimestamp']),
    graceSeconds: graceSecondsOf(meta, wanted),
    controller,
    annotations: kept.annotations,
    problems: [...kept.problems, ...others.filter((each) => each !== undefined)],
  };
}

/** Each DELETE sets the period of its own, the last one of a kubelet sets 0: what the spec asks for holds only before. */
const graceSecondsOf = (metadata: Raw, spec: Raw): number =>
  number(metadata['deletionGracePeriodSeconds']) ?? number(spec['terminationGracePeriodSeconds']) ?? 30;

/** The controller; left out where the references are over their limits. */
function ownerWithin(references: unknown): { controller: Controller | undefined; problem?: string } {
  const all: unknown[] = Array.isArray(references) ? references : [];
  const many = tooMany('metadata.ownerReferences', all, { most: podLimits.ownerReferences, unit: 'entries' });
  if (many !== undefined) return { controller: undefined, problem: many };
  const controller = controllerOf(references);
  for (const [field, value] of Object.entries(controller ?? {})) {
    const long = tooLong(
      `${field} of the controller in metadata.ownerReferences`,
      value as string,
      textLimits.nameLength,
    );
    if (long !== undefined) return { controller: undefined, problem: long };
  }
  return { controller };
}

/** What is said of the first few that are over their limits is enough. */
const mostProblems = 3;

function attachmentAnnotations(all: Raw): Pick<Pod, 'annotations' | 'problems'> {
  const annotations: Record<string, string> = {};
  const problems: string[] = [];
  const concerning = Object.entries(all).filter(([key]) => wholeKeys.has(key) || isOfAttachment(key));
  const unit = 'annotations about attachments';
  const many = tooMany('the Pod', concerning, { most: podLimits.annotations, unit });
  if (many !== undefined) return { annotations, problems: [many] };
  const together = tooMuchTogether(concerning);
  if (together !== undefined) return { annotations, problems: [together] };
  for (const [key, value] of concerning) {
    if (typeof value !== 'string') continue;
    const long = tooLong(`annotation ${key}`, value, longestOf(key));
    if (long === undefined) annotations[key] = value;
    else if (problems.length < mostProblems) problems.push(long);
  }
  return { annotations, problems };
}

/** Each annotation may be within its limits, and all together cost too much at each plan. */
function tooMuchTogether(concerning: readonly [key: string, value: unknown][]): string | undefined {
  const within = concerning.map(([key, value]) => [key, text(value)] as const);
  const fitting = within.filter(([key, { length }]) => length <= longestOf(key));
  const addresses = fitting.filter(([key]) => isPool(key)).reduce((sum, [, value]) => sum + entriesOf(value), 0);
  if (addresses > podLimits.poolAddresses)
    return overLimit('the Pod', {
      has: addresses,
      most: podLimits.poolAddresses,
      unit: 'addresses in all its ip_pool annotations',
      remedy: 'shorten them, or name an IPPool in them',
    });
  const characters = fitting.reduce((sum, [, { length }]) => sum + length, 0);
  if (characters <= podLimits.annotationsLength) return undefined;
  return overLimit('the Pod', {
    has: characters,
    most: podLimits.annotationsLength,
    unit: 'characters in all its annotations about attachments',
    remedy: 'shorten or remove some',
  });
}

const isPool = (key: string): boolean => key.endsWith('.kubernetes.io/ip_pool');

function entriesOf(value: string): number {
  let entries = 1;
  for (const character of value) if (character === ';' || character === ',') entries += 1;
  return entries;
}

function longestOf(key: string): number {
  if (key === networksAnnotation || key === defaultNetworkAnnotation) return podLimits.networksLength;
  if (isPool(key)) return podLimits.poolLength;
  return key.endsWith('.kubernetes.io/routes') ? podLimits.routesLength : podLimits.annotationLength;
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
  /** Which of both lists is over its limit, and so was left out. */
  readonly problems?: readonly string[];
}

const namespaceKey = /^(?:ovn\.kubernetes\.io|ipledger\.io)\//;

export const namespaces: Kind<NamespaceObject> = {
  path: '/api/v1/namespaces',
  parse: (raw) => {
    const meta = record(record(raw)['metadata']);
    const annotations = record(meta['annotations']);
    const problems: string[] = [];
    const list = (key: string): string[] => {
      const names = text(annotations[key])
        .split(',')
        .map((name) => name.trim())
        .filter((name) => name !== '');
      const many = tooMany(`annotation ${key}`, names, { most: namespaceLimits.names, unit: 'names' });
      if (many === undefined) return names;
      problems.push(many);
      return [];
    };
    const own = Object.entries(annotations).filter(([key]) => namespaceKey.test(key));
    return {
      ...named(meta),
      labels: toLabels(meta['labels']),
      annotations: toLabels(Object.fromEntries(own)),
      subnets: list('ovn.kubernetes.io/logical_switch'),
      pools: list('ovn.kubernetes.io/ip_pool'),
      ...(problems.length > 0 && { problems }),
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
export interface Machine extends MachineInstance {
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
  return { ...machineInstanceOf(raw), uid: named(meta).uid, deleting: text(meta['deletionTimestamp']) !== '' };
}

// ---- Node ----------------------------------------------------------------------------------------------------------

export interface NodeObject extends Named {
  /** By which it is reached inside the cluster. */
  readonly addresses: readonly string[];
  /** It is down for good, says its taint: since when, "" where the taint does not say. Undefined without that taint. */
  readonly outOfServiceSince: string | undefined;
}

const outOfServiceTaint = 'node.kubernetes.io/out-of-service';

export const nodes: Kind<NodeObject> = {
  path: '/api/v1/nodes',
  parse: (raw) => {
    const { metadata, spec, status } = record(raw);
    const all: unknown = record(status)['addresses'];
    const internal = (Array.isArray(all) ? all : []).map(record).filter(({ type }) => type === 'InternalIP');
    return {
      ...named(record(metadata)),
      addresses: internal.slice(0, nodeLimits.addresses).map(({ address }) => text(address)),
      outOfServiceSince: outOfServiceSince(record(spec)['taints']),
    };
  },
};

function outOfServiceSince(taints: unknown): string | undefined {
  const all = (Array.isArray(taints) ? taints : []).map(record);
  const taint = all.find(
    ({ key, effect }) => key === outOfServiceTaint && (effect === 'NoExecute' || effect === 'NoSchedule'),
  );
  return taint && text(taint['timeAdded']);
}

// ---- NetworkAttachmentDefinition -----------------------------------------------------------------------------------

export interface NetworkDefinition extends Named {
  /** The CNI configuration, as text; "" if there is none, or it is over its limit. */
  readonly config: string;
  /** That it is over its limit. */
  readonly problem?: string;
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
    const config = text(record(spec)['config']);
    const problem = tooLong('its spec.config', config, networkLimits.configLength);
    return {
      ...named(meta),
      ...(problem === undefined ? { config } : { config: '', problem }),
      ...(resource !== '' && resource.length <= textLimits.nameLength && { resource }),
    };
  },
};

/**
 * The few fields that we read of each kind, as plain values. Everything else is dropped on arrival: the image of a large
 * cluster must fit into memory. A field of the wrong type reads as absent, except in a Subnet's spec, where that would
 * change what is handed out: there it is a problem that is reported.
 */
import type { Kind, Named } from './list-watch.ts';
import { type Raw, record, text } from './raw.ts';

function number(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** @throws Error when the object has no name or no uid. */
function named(metadata: Raw): Named {
  const [name, uid] = [text(metadata['name']), text(metadata['uid'])];
  if (name === '' || uid === '')
    throw new Error(`an object without name or uid: ${JSON.stringify(metadata).slice(0, 200)}`);
  return { namespace: text(metadata['namespace']), name, uid, resourceVersion: text(metadata['resourceVersion']) };
}

// ---- Pod -----------------------------------------------------------------------------------------------------------

export interface ControllerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

export interface Pod extends Named {
  /**
   * Who this Pod is in the ledger: its uid; of a static Pod the hash that its mirror carries, since that is what the
   * container runtime calls it.
   */
  readonly identity: string;
  readonly node: string;
  readonly hostNetwork: boolean;
  readonly restartPolicy: string;
  readonly phase: string;
  readonly reason: string;
  /** RFC 3339, "" unless it is terminating. */
  readonly deletionTimestamp: string;
  readonly graceSeconds: number;
  readonly controller: ControllerReference | undefined;
  /** Only those that concern attachments. */
  readonly annotations: Readonly<Record<string, string>>;
}

export const networksAnnotation = 'k8s.v1.cni.cncf.io/networks';
export const defaultNetworkAnnotation = 'v1.multus-cni.io/default-network';
const mirrorAnnotation = 'kubernetes.io/config.mirror';
const hashAnnotation = 'kubernetes.io/config.hash';

const attachmentSuffix =
  /\.kubernetes\.io\/(?:(?:ip_address|mac_address)(?:\..+)?|cidr|gateway|allocated|ip_pool|ip_family|logical_switch|routes|default_route)$/;

export const pods: Kind<Pod> = { path: '/api/v1/pods', parse: toPod };

/** @throws Error for an object without name or uid. */
export function toPod(raw: unknown): Pod {
  const { metadata, spec, status } = record(raw);
  const [meta, wanted, seen] = [record(metadata), record(spec), record(status)];
  const object = named(meta);
  const annotations = record(meta['annotations']);
  const hash = text(annotations[hashAnnotation]);
  return {
    ...object,
    identity: hash !== '' && text(annotations[mirrorAnnotation]) !== '' ? hash : object.uid,
    node: text(wanted['nodeName']),
    hostNetwork: wanted['hostNetwork'] === true,
    restartPolicy: text(wanted['restartPolicy']),
    phase: text(seen['phase']),
    reason: text(seen['reason']),
    deletionTimestamp: text(meta['deletionTimestamp']),
    graceSeconds: number(wanted['terminationGracePeriodSeconds']) ?? 30,
    controller: controllerOf(meta['ownerReferences']),
    annotations: attachmentAnnotations(annotations),
  };
}

function attachmentAnnotations(annotations: Raw): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [key, value] of Object.entries(annotations)) {
    const concerns = key === networksAnnotation || key === defaultNetworkAnnotation || attachmentSuffix.test(key);
    if (concerns && typeof value === 'string') kept[key] = value;
  }
  return kept;
}

function controllerOf(references: unknown): ControllerReference | undefined {
  if (!Array.isArray(references)) return undefined;
  const controller = references.map(record).find((reference) => reference['controller'] === true);
  if (!controller) return undefined;
  const { apiVersion, kind, name, uid } = controller;
  return { apiVersion: text(apiVersion), kind: text(kind), name: text(name), uid: text(uid) };
}

// ---- Node ----------------------------------------------------------------------------------------------------------

/** That there is such a Node is all that we want to know. */
export const nodes: Kind<Named> = { path: '/api/v1/nodes', parse: (raw) => named(record(record(raw)['metadata'])) };

// ---- NetworkAttachmentDefinition -----------------------------------------------------------------------------------

export interface NetworkDefinition extends Named {
  /** The CNI configuration, as text; "" if there is none. */
  readonly config: string;
}

export const networkDefinitions: Kind<NetworkDefinition> = {
  path: '/apis/k8s.cni.cncf.io/v1/network-attachment-definitions',
  parse: (raw) => {
    const { metadata, spec } = record(raw);
    return { ...named(record(metadata)), config: text(record(spec)['config']) };
  },
};

// ---- Subnet --------------------------------------------------------------------------------------------------------

/** The part of a Subnet's spec that decides about addresses, as its owner wrote it. */
export interface SubnetObjectSpec {
  readonly cidrBlock: string;
  readonly gateway: string;
  readonly excludeIps: readonly string[];
  readonly provider: string;
  readonly protocol: string;
}

export interface SubnetObject extends Named {
  readonly generation: number;
  readonly deleting: boolean;
  readonly spec: SubnetObjectSpec;
  /** What in the spec could not be read; such a spec must not be used. */
  readonly problems: readonly string[];
  readonly status: Raw;
}

export const subnets: Kind<SubnetObject> = { path: '/apis/kubeovn.io/v1/subnets', parse: toSubnet };

/** @throws Error for an object without name or uid. */
export function toSubnet(raw: unknown): SubnetObject {
  const { metadata, spec, status } = record(raw);
  const meta = record(metadata);
  const given = record(spec);
  const problems: string[] = [];
  const field = (key: string): string => {
    const value = given[key] ?? '';
    if (typeof value !== 'string') problems.push(`spec.${key} must be a text, and is ${JSON.stringify(value)}`);
    return text(value);
  };
  const excludes: unknown = given['excludeIps'] ?? [];
  const readable = Array.isArray(excludes) && excludes.every((item) => typeof item === 'string');
  if (!readable) problems.push(`spec.excludeIps must be a list of texts, and is ${JSON.stringify(excludes)}`);
  return {
    ...named(meta),
    generation: number(meta['generation']) ?? 0,
    deleting: text(meta['deletionTimestamp']) !== '',
    spec: {
      cidrBlock: field('cidrBlock'),
      gateway: field('gateway'),
      excludeIps: readable ? excludes : [],
      provider: field('provider'),
      protocol: field('protocol'),
    },
    problems,
    status: record(status),
  };
}

// ---- IP ------------------------------------------------------------------------------------------------------------

export interface IpObject extends Named {
  /** The allocation that this object shows, by the number of its event; "" on an object that is not ours. */
  readonly allocation: string;
  readonly labels: Raw;
  readonly spec: Raw;
}

/** Marks an IP object as our projection, and names the event in the ledger that gave the address. */
export const allocationAnnotation = 'ipledger.io/allocation';

export const ips: Kind<IpObject> = {
  path: '/apis/kubeovn.io/v1/ips',
  parse: (raw) => {
    const { metadata, spec } = record(raw);
    const meta = record(metadata);
    return {
      ...named(meta),
      allocation: text(record(meta['annotations'])[allocationAnnotation]),
      labels: record(meta['labels']),
      spec: record(spec),
    };
  },
};

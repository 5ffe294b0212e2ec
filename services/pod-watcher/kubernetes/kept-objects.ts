/**
 * Kube-OVN's objects, as far as they are read: those whose spec asks the ledger for something. A field of the wrong type reads as
 * absent, except in a Subnet's spec, where that would change what is handed out: there it is a problem that is reported.
 */
import { allocationAnnotation } from '../../../lib/marks.ts';
import { isSelector, type LabelSelector, selectorsOf } from './label-selector.ts';
import type { Kind, Named } from './list-watch.ts';
import { named } from './objects.ts';
import { number, type Raw, record, text, texts } from '../../../lib/raw.ts';

/** An object whose spec asks the ledger for something. */
export interface Kept extends Named {
  readonly generation: number;
  readonly deleting: boolean;
  readonly finalizers: readonly string[];
  readonly status: Raw;
}

function kept(metadata: Raw, status: unknown): Kept {
  const finalizers: unknown = metadata['finalizers'];
  return {
    ...named(metadata),
    generation: number(metadata['generation']) ?? 0,
    deleting: text(metadata['deletionTimestamp']) !== '',
    finalizers: Array.isArray(finalizers) ? finalizers.map(text) : [],
    status: record(status),
  };
}

// ---- Subnet --------------------------------------------------------------------------------------------------------

/** The part of a Subnet's spec that decides about addresses, as its owner wrote it. */
export interface SubnetObjectSpec {
  readonly cidrBlock: string;
  readonly gateway: string;
  readonly excludeIps: readonly string[];
  readonly provider: string;
  readonly protocol: string;
  /** How long a released address rests; absent: the allocator's default. */
  readonly cooldownMs?: number;
  /** How long a released address that is still bound is kept back; absent: the allocator's default. */
  readonly bindingTimeoutMs?: number;
  /** How many addresses the Pods of one namespace may hold; absent: no limit. */
  readonly maxAddressesPerNamespace?: number;
}

/** Limits of the numbers in a Subnet's spec, as its CRD has them; a cluster may have Kube-OVN's CRD, which has none. */
const thirtyDays = 2_592_000;
const numberLimits = {
  cooldownSeconds: [0, thirtyDays],
  bindingTimeoutSeconds: [60, thirtyDays],
  maxAddressesPerNamespace: [1, 2_147_483_647],
} as const;

/** What only Kube-OVN's data path reads of a spec; of use for checking it. */
export interface SubnetOverlay {
  readonly vpc: string;
  readonly vlan: string;
  readonly gatewayType: string;
  readonly vips: readonly string[];
  /** 0: none is given. */
  readonly mtu: number;
}

/** Whose primary network it serves. */
export interface SubnetBinding {
  readonly namespaces: readonly string[];
  readonly selectors: readonly LabelSelector[];
}

export interface SubnetObject extends Kept {
  readonly spec: SubnetObjectSpec;
  readonly binding: SubnetBinding;
  readonly overlay: SubnetOverlay;
  /** Whether the owner asks that other networks be kept out. */
  readonly isolated: boolean;
  /** What in the spec could not be read; such a spec must not be used. */
  readonly problems: readonly string[];
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
  const count = (key: keyof typeof numberLimits): number | undefined => {
    const value = given[key] ?? undefined;
    const [least, most] = numberLimits[key];
    if (value === undefined) return undefined;
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= least && value <= most) return value;
    problems.push(`spec.${key} must be a whole number from ${least} to ${most}, and is ${JSON.stringify(value)}`);
    return undefined;
  };
  const cooldownSeconds = count('cooldownSeconds');
  const bindingTimeoutSeconds = count('bindingTimeoutSeconds');
  const maxAddressesPerNamespace = count('maxAddressesPerNamespace');
  const [vpc, vlan, gatewayType] = [text(given['vpc']), text(given['vlan']), text(given['gatewayType'])];
  return {
    ...kept(meta, status),
    overlay: { vpc, vlan, gatewayType, vips: texts(given['vips']), mtu: number(given['mtu']) ?? 0 },
    binding: bindingOf(given, problems),
    spec: {
      cidrBlock: field('cidrBlock'),
      gateway: field('gateway'),
      excludeIps: readable ? excludes : [],
      provider: field('provider'),
      protocol: field('protocol'),
      ...(cooldownSeconds !== undefined && { cooldownMs: cooldownSeconds * 1_000 }),
      ...(bindingTimeoutSeconds !== undefined && { bindingTimeoutMs: bindingTimeoutSeconds * 1_000 }),
      ...(maxAddressesPerNamespace !== undefined && { maxAddressesPerNamespace }),
    },
    isolated: given['private'] === true || texts(given['allowSubnets']).length > 0,
    problems,
  };
}

/** A name that no namespace has. */
const unreadable = '(unreadable)';

/** A restriction that cannot be read is for no namespace: it must not read as none. */
function bindingOf(spec: Raw, problems: string[]): SubnetBinding {
  const namespaces: unknown = spec['namespaces'] ?? [];
  const namespaceSelectors: unknown = spec['namespaceSelectors'] ?? [];
  const isList = Array.isArray(namespaces) && namespaces.every((each) => typeof each === 'string');
  if (!isList) problems.push(`spec.namespaces must be a list of texts, and is ${JSON.stringify(namespaces)}`);
  const isSelecting = Array.isArray(namespaceSelectors) && namespaceSelectors.every(isSelector);
  if (!isSelecting) problems.push('spec.namespaceSelectors must be a list of label selectors');
  if (!isList || !isSelecting) return { namespaces: [unreadable], selectors: [] };
  return { namespaces: texts(namespaces), selectors: selectorsOf(namespaceSelectors) };
}

// ---- IPPool --------------------------------------------------------------------------------------------------------

export interface PoolObject extends Kept {
  readonly spec: { readonly subnet: string; readonly ips: readonly string[]; readonly namespaces: readonly string[] };
}

export const ipPools: Kind<PoolObject> = {
  path: '/apis/kubeovn.io/v1/ippools',
  parse: (raw) => {
    const { metadata, spec, status } = record(raw);
    const { subnet, ips: addresses, namespaces: names } = record(spec);
    return {
      ...kept(record(metadata), status),
      spec: { subnet: text(subnet), ips: texts(addresses), namespaces: texts(names) },
    };
  },
};

// ---- IP ------------------------------------------------------------------------------------------------------------

export interface IpObject extends Kept {
  /** The allocation that this object shows, by the number of its event; "" on an object that is not ours. */
  readonly allocation: string;
  readonly labels: Raw;
  readonly spec: Raw;
}

export const ips: Kind<IpObject> = {
  path: '/apis/kubeovn.io/v1/ips',
  parse: (raw) => {
    const { metadata, spec } = record(raw);
    const meta = record(metadata);
    return {
      ...kept(meta, undefined),
      allocation: text(record(meta['annotations'])[allocationAnnotation]),
      labels: record(meta['labels']),
      spec: record(spec),
    };
  },
};

// ---- Vip -----------------------------------------------------------------------------------------------------------

export interface VipObject extends Kept {
  readonly labels: Raw;
  readonly spec: {
    /** Whose Pods may use it; "": all namespaces. */
    readonly namespace: string;
    readonly subnet: string;
    readonly type: string;
    readonly v4ip: string;
    readonly v6ip: string;
    readonly macAddress: string;
  };
}

export const vips: Kind<VipObject> = {
  path: '/apis/kubeovn.io/v1/vips',
  parse: (raw) => {
    const { metadata, spec, status } = record(raw);
    const [meta, wanted] = [record(metadata), record(spec)];
    const field = (key: string): string => text(wanted[key]);
    return {
      ...kept(meta, status),
      labels: record(meta['labels']),
      spec: {
        namespace: field('namespace'),
        subnet: field('subnet'),
        type: field('type'),
        v4ip: field('v4ip'),
        v6ip: field('v6ip'),
        macAddress: field('macAddress'),
      },
    };
  },
};

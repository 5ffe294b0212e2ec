/**
 * Kube-OVN's objects, as far as they are read: those whose spec asks the ledger for something. A field of the wrong type reads as
 * absent, except in a Subnet's spec, where that would change what is handed out: there it is a problem that is reported.
 */
import { allocationAnnotation } from '../../../lib/marks.ts';
import { ipLimits, poolLimits, subnetLimits, textLimits } from '../limits.ts';
import { isSelector, type LabelSelector, selectorsOf } from './label-selector.ts';
import type { Kind, Named } from './list-watch.ts';
import { named } from './objects.ts';
import { number, type Raw, record, text } from '../../../lib/raw.ts';
import { SpecReading, unreadable } from './spec-reading.ts';

/** An object whose spec asks the ledger for something. */
export interface Kept extends Named {
  readonly generation: number;
  readonly deleting: boolean;
  readonly finalizers: readonly string[];
  readonly status: Raw;
  /** What in the spec could not be read, or is over its limit; such a spec must not be used. */
  readonly problems: readonly string[];
}

function kept(metadata: Raw, status: unknown): Omit<Kept, 'problems'> {
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
}

export const subnets: Kind<SubnetObject> = { path: '/apis/kubeovn.io/v1/subnets', parse: toSubnet };

/** @throws Error for an object without name or uid. */
export function toSubnet(raw: unknown): SubnetObject {
  const { metadata, spec, status } = record(raw);
  const meta = record(metadata);
  const given = record(spec);
  const reading = new SpecReading(given);
  const { cidrLength, excludeIps, vips, namespaces } = subnetLimits;
  const { nameLength, providerLength } = textLimits;
  const asked = {
    cidrBlock: reading.strictText('cidrBlock', cidrLength),
    gateway: reading.strictText('gateway', cidrLength),
    excludeIps: reading.strictList('excludeIps', { most: excludeIps, unit: 'entries' }),
    provider: reading.closedText('provider', providerLength),
    protocol: reading.strictText('protocol', nameLength),
  };
  const allowed = reading.list('allowSubnets', { most: namespaces, unit: 'CIDRs' });
  return {
    ...kept(meta, status),
    overlay: {
      vpc: reading.text('vpc', nameLength),
      vlan: reading.text('vlan', nameLength),
      gatewayType: reading.text('gatewayType', nameLength),
      vips: reading.list('vips', { most: vips, unit: 'addresses' }),
      mtu: number(given['mtu']) ?? 0,
    },
    binding: bindingOf(reading),
    spec: { ...asked, ...numbersOf(reading) },
    isolated: given['private'] === true || allowed.length > 0,
    problems: reading.problems,
  };
}

/** A restriction that cannot be read is for no namespace: it must not read as none. */
function bindingOf(reading: SpecReading): SubnetBinding {
  const before = reading.problems.length;
  const namespaces = reading.names('namespaces', subnetLimits.namespaces);
  const given = reading.value('namespaceSelectors', subnetLimits.selectorsLength) ?? [];
  const isSelecting = Array.isArray(given) && given.every(isSelector);
  if (!isSelecting) reading.problems.push('spec.namespaceSelectors must be a list of label selectors');
  if (reading.problems.length > before) return { namespaces: [unreadable], selectors: [] };
  return { namespaces, selectors: selectorsOf(given) };
}

/** The numbers of the spec, seconds as milliseconds; what is not given is absent. */
function numbersOf(
  reading: SpecReading,
): Pick<SubnetObjectSpec, 'cooldownMs' | 'bindingTimeoutMs' | 'maxAddressesPerNamespace'> {
  const cooldownSeconds = reading.wholeNumber('cooldownSeconds', numberLimits.cooldownSeconds);
  const bindingTimeoutSeconds = reading.wholeNumber('bindingTimeoutSeconds', numberLimits.bindingTimeoutSeconds);
  const most = reading.wholeNumber('maxAddressesPerNamespace', numberLimits.maxAddressesPerNamespace);
  return {
    ...(cooldownSeconds !== undefined && { cooldownMs: cooldownSeconds * 1_000 }),
    ...(bindingTimeoutSeconds !== undefined && { bindingTimeoutMs: bindingTimeoutSeconds * 1_000 }),
    ...(most !== undefined && { maxAddressesPerNamespace: most }),
  };
}

// ---- IPPool --------------------------------------------------------------------------------------------------------

export interface PoolObject extends Kept {
  readonly spec: { readonly subnet: string; readonly ips: readonly string[]; readonly namespaces: readonly string[] };
}

export const ipPools: Kind<PoolObject> = {
  path: '/apis/kubeovn.io/v1/ippools',
  parse: (raw) => {
    const { metadata, spec, status } = record(raw);
    const reading = new SpecReading(record(spec));
    return {
      ...kept(record(metadata), status),
      spec: {
        subnet: reading.text('subnet', textLimits.nameLength),
        ips: reading.list('ips', { most: poolLimits.ips, unit: 'entries' }),
        namespaces: reading.names('namespaces', poolLimits.namespaces),
      },
      problems: reading.problems,
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
    const reading = new SpecReading(record(spec));
    const within = reading.whole(ipLimits.specLength);
    reading.text('ipAddress', ipLimits.addressesLength);
    return {
      ...kept(meta, undefined),
      allocation: text(record(meta['annotations'])[allocationAnnotation]),
      labels: record(meta['labels']),
      spec: within,
      problems: reading.problems,
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
    const meta = record(metadata);
    const reading = new SpecReading(record(spec));
    const { nameLength, addressLength } = textLimits;
    return {
      ...kept(meta, status),
      labels: record(meta['labels']),
      spec: {
        namespace: reading.closedText('namespace', nameLength),
        subnet: reading.text('subnet', nameLength),
        type: reading.text('type', nameLength),
        v4ip: reading.text('v4ip', addressLength),
        v6ip: reading.text('v6ip', addressLength),
        macAddress: reading.text('macAddress', addressLength),
      },
      problems: reading.problems,
    };
  },
};

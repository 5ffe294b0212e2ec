/**
 * Subnet: CIDR, gateway, excluded addresses, and the namespaces that may use it. A field of the
 * wrong type is a problem, and is reported: read as absent, it would change which addresses are
 * allocated.
 */
import { asNumber, asRecord, asText } from '../../../../lib/kubernetes/untyped-json.ts';
import { subnetLimits, textLimits } from '../../limits.ts';
import type { ResourceKind } from '../../../../lib/kubernetes/client/informer.ts';
import { type CustomResource, customResourceOf } from './custom-resource.ts';
import { isLabelSelector, type LabelSelector, toSelectors } from './label-selector.ts';
import { SpecReader, unreadable } from './spec-reader.ts';

/** The fields of a Subnet's spec that the ledger uses, as its owner wrote them. */
export interface SubnetObjectSpec {
  readonly cidrBlock: string;
  readonly gateway: string;
  readonly excludeIps: readonly string[];
  readonly provider: string;
  readonly protocol: string;
  /** How long a released address is not allocated again; absent: the allocator's default. */
  readonly cooldownMs?: number;
  /** How long a bound released address is kept; absent: the allocator's default. */
  readonly bindingTimeoutMs?: number;
  /** How many addresses the Pods of one namespace may hold; absent: no limit. */
  readonly maxAddressesPerNamespace?: number;
}

/** The limits of ipledger's Subnet CRD. Kube-OVN's CRD has none, so they are checked here. */
const thirtyDaysInSeconds = 2_592_000;
const numberLimits = {
  cooldownSeconds: [0, thirtyDaysInSeconds],
  bindingTimeoutSeconds: [60, thirtyDaysInSeconds],
  maxAddressesPerNamespace: [1, 2_147_483_647],
} as const;

/** Fields of Kube-OVN's data path, to report a Subnet that ipledger cannot serve. */
export interface SubnetOverlay {
  readonly vpc: string;
  readonly vlan: string;
  /** Whether its router connects it although it has a `vlan`. */
  readonly logicalGateway: boolean;
  readonly gatewayType: string;
  readonly vips: readonly string[];
  /** 0 if absent. */
  readonly mtu: number;
}

/** The namespaces that may use a Subnet. Both lists empty: all namespaces. */
export interface NamespaceRestriction {
  readonly namespaces: readonly string[];
  readonly selectors: readonly LabelSelector[];
}

export interface SubnetObject extends CustomResource {
  readonly spec: SubnetObjectSpec;
  readonly namespaceRestriction: NamespaceRestriction;
  readonly overlay: SubnetOverlay;
  /** The OVN4NFV Network "namespace/name" for which the watcher made it; "" for others. */
  readonly network: string;
  /** The spec of that Network which was written last, as "uid/generation". */
  readonly networkVersion: string;
  /** Whether the owner requests isolation from other networks. */
  readonly isPrivate: boolean;
}

/** On a Subnet that the watcher made for a Network of OVN4NFV. */
export const networkAnnotation = 'ipledger.io/ovn4nfv-network';
export const networkVersionAnnotation = 'ipledger.io/ovn4nfv-network-version';

export const subnets: ResourceKind<SubnetObject> = { path: '/apis/kubeovn.io/v1/subnets', parse: toSubnet };

/** @throws Error for an object without name or uid */
export function toSubnet(raw: unknown): SubnetObject {
  const { metadata, spec, status } = asRecord(raw);
  const meta = asRecord(metadata);
  const rawSpec = asRecord(spec);
  const reader = new SpecReader(rawSpec);
  const { cidrLength, excludeIps, vips, namespaces } = subnetLimits;
  const { nameLength, providerLength } = textLimits;
  const addressing = {
    cidrBlock: reader.strictText('cidrBlock', cidrLength),
    gateway: reader.strictText('gateway', cidrLength),
    excludeIps: reader.strictList('excludeIps', { most: excludeIps, unit: 'entries' }),
    provider: reader.closedText('provider', providerLength),
    protocol: reader.strictText('protocol', nameLength),
  };
  const annotations = asRecord(meta['annotations']);
  const allowedSubnets = reader.list('allowSubnets', { most: namespaces, unit: 'CIDRs' });
  return {
    ...customResourceOf(meta, status),
    network: asText(annotations[networkAnnotation]),
    networkVersion: asText(annotations[networkVersionAnnotation]),
    overlay: {
      vpc: reader.text('vpc', nameLength),
      vlan: reader.text('vlan', nameLength),
      logicalGateway: rawSpec['logicalGateway'] === true,
      gatewayType: reader.text('gatewayType', nameLength),
      vips: reader.list('vips', { most: vips, unit: 'addresses' }),
      mtu: asNumber(rawSpec['mtu']) ?? 0,
    },
    namespaceRestriction: namespaceRestrictionOf(reader),
    spec: { ...addressing, ...numbersOf(reader) },
    isPrivate: rawSpec['private'] === true || allowedSubnets.length > 0,
    problems: reader.problems,
  };
}

/** An unreadable restriction allows no namespace. Read as absent, it would allow all. */
function namespaceRestrictionOf(reader: SpecReader): NamespaceRestriction {
  const problemsBefore = reader.problems.length;
  const namespaces = reader.names('namespaces', subnetLimits.namespaces);
  const selectors = reader.value('namespaceSelectors', subnetLimits.selectorsLength) ?? [];
  const areSelectors = Array.isArray(selectors) && selectors.every(isLabelSelector);
  if (!areSelectors) reader.problems.push('spec.namespaceSelectors must be a list of label selectors');
  if (reader.problems.length > problemsBefore) return { namespaces: [unreadable], selectors: [] };
  return { namespaces, selectors: toSelectors(selectors) };
}

/** The numbers of the spec, with seconds as milliseconds; absent if absent there. */
function numbersOf(
  reader: SpecReader,
): Pick<SubnetObjectSpec, 'cooldownMs' | 'bindingTimeoutMs' | 'maxAddressesPerNamespace'> {
  const cooldownSeconds = reader.wholeNumber('cooldownSeconds', numberLimits.cooldownSeconds);
  const bindingTimeoutSeconds = reader.wholeNumber('bindingTimeoutSeconds', numberLimits.bindingTimeoutSeconds);
  const maxAddressesPerNamespace = reader.wholeNumber(
    'maxAddressesPerNamespace',
    numberLimits.maxAddressesPerNamespace,
  );
  return {
    ...(cooldownSeconds !== undefined && { cooldownMs: cooldownSeconds * 1_000 }),
    ...(bindingTimeoutSeconds !== undefined && { bindingTimeoutMs: bindingTimeoutSeconds * 1_000 }),
    ...(maxAddressesPerNamespace !== undefined && { maxAddressesPerNamespace }),
  };
}

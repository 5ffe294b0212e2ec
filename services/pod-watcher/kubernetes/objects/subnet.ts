/**
 * Subnet: CIDR, gateway, excluded addresses, and the namespaces that may use it. A field of the
 * wrong type is reported as a problem: if it counted as absent, other addresses would be allocated.
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
  /** The time before a released address is reused; absent: the allocator's default. */
  readonly cooldownMs?: number;
  /** The time in which a bound released address is kept; absent: the allocator's default. */
  readonly bindingTimeoutMs?: number;
  /** The number of addresses that the Pods of one namespace may hold; absent: no limit. */
  readonly maxAddressesPerNamespace?: number;
  /** Whether agents probe an address before a container uses it; absent: no. */
  readonly probeAddresses?: boolean;
}

/** The limits of ipledger's Subnet CRD. They are checked here, because Kube-OVN's CRD has none. */
const thirtyDaysInSeconds = 2_592_000;
const numberLimits = {
  cooldownSeconds: [0, thirtyDaysInSeconds],
  bindingTimeoutSeconds: [60, thirtyDaysInSeconds],
  maxAddressesPerNamespace: [1, 2_147_483_647],
} as const;

/** Fields of Kube-OVN's data path, with which a Subnet is reported that ipledger cannot serve. */
export interface SubnetOverlay {
  readonly vpc: string;
  readonly vlan: string;
  /** Whether the router connects the Subnet although it has a `vlan`. */
  readonly logicalGateway: boolean;
  readonly gatewayType: string;
  readonly vips: readonly string[];
  /** The MTU; 0 if absent. */
  readonly mtu: number;
}

/** The namespaces that may use a Subnet. If both lists are empty, all namespaces may. */
export interface NamespaceRestriction {
  readonly namespaces: readonly string[];
  readonly selectors: readonly LabelSelector[];
}

export interface SubnetObject extends CustomResource {
  readonly spec: SubnetObjectSpec;
  readonly namespaceRestriction: NamespaceRestriction;
  readonly overlay: SubnetOverlay;
  /** The OVN4NFV Network "namespace/name" for which the watcher made the Subnet; "" for others. */
  readonly network: string;
  /** The spec of that Network that was last written, as "uid/generation". */
  readonly networkVersion: string;
  /** Whether the owner requests isolation from other networks. */
  readonly isPrivate: boolean;
}

/** Annotations of a Subnet that the watcher made for a Network of OVN4NFV. */
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
  const probeAddresses = reader.flag('probeAddresses');
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
    spec: { ...addressing, ...numbersOf(reader), ...(probeAddresses !== undefined && { probeAddresses }) },
    isPrivate: rawSpec['private'] === true || allowedSubnets.length > 0,
    problems: reader.problems,
  };
}

/** Allows no namespace for an unreadable restriction; as absent, it would allow all. */
function namespaceRestrictionOf(reader: SpecReader): NamespaceRestriction {
  const problemsBefore = reader.problems.length;
  const namespaces = reader.names('namespaces', subnetLimits.namespaces);
  const selectors = reader.value('namespaceSelectors', subnetLimits.selectorsLength) ?? [];
  const areSelectors = Array.isArray(selectors) && selectors.every(isLabelSelector);
  if (!areSelectors) reader.problems.push('spec.namespaceSelectors must be a list of label selectors');
  if (reader.problems.length > problemsBefore) return { namespaces: [unreadable], selectors: [] };
  return { namespaces, selectors: toSelectors(selectors) };
}

/** Reads the spec's numbers, with seconds as milliseconds. Absent numbers stay absent. */
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

/** Parses Vlans, ProviderNetworks, and the settings of Subnets that the ledger lacks. */
import type { ObjectMeta, ResourceKind } from '../../../lib/kubernetes/client/informer.ts';
import { objectMetaOf } from '../../../lib/kubernetes/object-meta.ts';
import { asRecord } from '../../../lib/kubernetes/untyped-json.ts';
import { projectorLimits } from '../limits.ts';
import type { SubnetSettings, Vlan } from '../rows/subnet-rows.ts';
import { SpecFields } from './spec-fields.ts';

const { optionsLength } = projectorLimits;

export type SubnetObject = ObjectMeta & SubnetSettings;

/** Fields of Kube-OVN's Subnet without effect in ipledger (docs/compatibility.md). */
const unsupportedFields = [
  'acls',
  'allowSubnets',
  'enableEcmp',
  'enableExternalLBAddress',
  'enableLb',
  'enableMulticastSnoop',
  'externalEgressGateway',
  'gatewayNode',
  'gatewayNodeSelectors',
  'natOutgoing',
  'natOutgoingPolicyRules',
  'policyRoutingTableID',
  'private',
  'routeTable',
  'u2oInterconnection',
  'vips',
] as const;

export const subnetSettings: ResourceKind<SubnetObject> = {
  path: '/apis/kubeovn.io/v1/subnets',
  parse: (raw) => {
    const { metadata, spec } = asRecord(raw);
    const rawSpec = asRecord(spec);
    const fields = new SpecFields(rawSpec);
    const guests = new SpecFields(rawSpec);
    return {
      ...objectMetaOf(asRecord(metadata)),
      vlan: fields.name('vlan'),
      vpc: fields.name('vpc'),
      hasLogicalGateway: fields.flag('logicalGateway'),
      guests: {
        enableDHCP: guests.flag('enableDHCP'),
        dhcpV4Options: guests.text('dhcpV4Options', optionsLength),
        dhcpV6Options: guests.text('dhcpV6Options', optionsLength),
        enableIPv6RA: guests.flag('enableIPv6RA'),
        ipv6RAConfigs: guests.text('ipv6RAConfigs', optionsLength),
        mtu: guests.wholeNumber('mtu', 65_535),
        problems: guests.problems,
      },
      unsupported: [
        ...unsupportedFields.filter((key) => fields.isSet(key)).map((key) => `spec.${key}`),
        ...(rawSpec['gatewayType'] === 'centralized' ? ['spec.gatewayType: centralized'] : []),
      ],
      problems: fields.problems,
    };
  },
};

/** IEEE 802.1Q reserves 4095. */
const maxVlanId = 4_094;

export const vlans: ResourceKind<ObjectMeta & Vlan> = {
  path: '/apis/kubeovn.io/v1/vlans',
  mayBeMissing: true,
  parse: (raw) => {
    const { metadata, spec } = asRecord(raw);
    const fields = new SpecFields(asRecord(spec));
    return {
      ...objectMetaOf(asRecord(metadata)),
      id: fields.wholeNumber('id', maxVlanId),
      provider: fields.name('provider'),
      problems: fields.problems,
    };
  },
};

/** Has only names: the projector checks that the object exists, and the nodes use its interface. */
export const providerNetworks: ResourceKind<ObjectMeta> = {
  path: '/apis/kubeovn.io/v1/provider-networks',
  mayBeMissing: true,
  parse: (raw) => objectMetaOf(asRecord(asRecord(raw)['metadata'])),
};

/** Vlan and ProviderNetwork: how the Subnets of an underlay are connected to the network of the nodes. */
import type { ObjectMeta, ResourceKind } from '../../../lib/kubernetes/client/informer.ts';
import { objectMetaOf } from '../../../lib/kubernetes/object-meta.ts';
import { asRecord } from '../../../lib/kubernetes/untyped-json.ts';
import type { Vlan } from '../rows/subnet-rows.ts';
import { SpecFields } from './spec-fields.ts';

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

/** The nodes bring its interface and its bridge; the projector only needs to know that it exists. */
export const providerNetworks: ResourceKind<ObjectMeta> = {
  path: '/apis/kubeovn.io/v1/provider-networks',
  mayBeMissing: true,
  parse: (raw) => objectMetaOf(asRecord(asRecord(raw)['metadata'])),
};

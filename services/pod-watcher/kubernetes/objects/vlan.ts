/** Vlan: the VLAN and the physical network of underlay Subnets, which annotations of Pods show. */
import type { ObjectMeta, ResourceKind } from '../../../../lib/kubernetes/client/informer.ts';
import { objectMetaOf } from '../../../../lib/kubernetes/object-meta.ts';
import { asNumber, asRecord, asText } from '../../../../lib/kubernetes/untyped-json.ts';
import { textLimits } from '../../limits.ts';

export interface VlanObject extends ObjectMeta {
  /** The VLAN id; 0 for the untagged network. */
  readonly id: number;
  /** The name of a ProviderNetwork. */
  readonly provider: string;
}

export const vlans: ResourceKind<VlanObject> = {
  path: '/apis/kubeovn.io/v1/vlans',
  mayBeMissing: true,
  parse: (raw) => {
    const { metadata, spec } = asRecord(raw);
    const { id, provider } = asRecord(spec);
    return {
      ...objectMetaOf(asRecord(metadata)),
      id: asNumber(id) ?? 0,
      provider: asText(provider).slice(0, textLimits.nameLength),
    };
  },
};

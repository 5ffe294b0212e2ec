/** The Subnet of an OVN4NFV Network: its manifest, and whose it is. Pure. */
import { ovn4nfvProvider } from '../../../../lib/kubernetes/served-network.ts';
import { keyOf } from '../../../../lib/kubernetes/client/informer.ts';
import type { Ovn4nfvNetwork } from '../../kubernetes/objects/ovn4nfv-network.ts';
import { networkAnnotation, networkVersionAnnotation } from '../../kubernetes/objects/subnet.ts';

export interface SubnetManifest {
  readonly metadata: { readonly name: string; readonly annotations: Readonly<Record<string, string>> };
  readonly spec: {
    readonly provider: string;
    readonly cidrBlock: string;
    readonly gateway: string;
    readonly excludeIps: readonly string[];
  };
}

/** Identifies a spec of a Network. The Subnet is written once for each: its controller normalises what is written. */
export const networkVersionOf = ({ uid, generation }: Pick<Ovn4nfvNetwork, 'uid' | 'generation'>): string =>
  `${uid}/${generation}`;

/** The Subnet that the spec of a Network requests. It has the name of the Network. */
export function subnetManifestOf(network: Ovn4nfvNetwork): SubnetManifest {
  const { name, ranges } = network;
  const gateways = ranges.map(({ gateway }) => gateway).filter((gateway) => gateway !== '');
  return {
    metadata: {
      name,
      annotations: { [networkAnnotation]: keyOf(network), [networkVersionAnnotation]: networkVersionOf(network) },
    },
    spec: {
      provider: ovn4nfvProvider,
      cidrBlock: ranges.map(({ cidr }) => cidr).join(','),
      gateway: gateways.join(','),
      excludeIps: ranges.flatMap(({ excludeIps }) => excludeIps),
    },
  };
}

/** Beside Kube-OVN: why a Subnet of ipledger is refused. Kube-OVN may have given, or may give, the same addresses. Pure. */
import {
  type AddressRange,
  firstUncovered,
  overlapsCidr,
  parseRanges,
} from '../../../../ledger/domain/addresses/address-ranges.ts';
import { ownIpamType } from '../../../../lib/kubernetes/beside-kube-ovn.ts';
import { isOvnProvider } from '../../../../lib/kubernetes/provider.ts';
import { asText } from '../../../../lib/kubernetes/untyped-json.ts';
import type { SubnetObject } from '../../kubernetes/objects/subnet.ts';

export interface KubeOvnView {
  /** The Subnets of Kube-OVN. */
  readonly subnets: Iterable<Pick<SubnetObject, 'name' | 'spec' | 'status' | 'overlay'>>;
  /** Whether the NetworkAttachmentDefinition of a provider names ipledger's plugin. */
  readonly isOwnNetwork: (provider: string) => boolean;
}

/** A sentence with the remedy; undefined if ipledger may serve the Subnet. */
export function kubeOvnConflict(
  { spec: { provider, cidrBlock, excludeIps } }: Pick<SubnetObject, 'spec'>,
  { subnets, isOwnNetwork }: KubeOvnView,
): string | undefined {
  if (isOvnProvider(provider))
    return `Kube-OVN serves provider ${provider || 'ovn'} on this cluster: set spec.provider to NAME.NAMESPACE of a NetworkAttachmentDefinition with "ipam": {"type": "${ownIpamType}"}`;
  const cidrs = cidrBlock.split(',').map((each) => each.trim());
  const excluded = parseRanges(excludeIps);
  for (const { name, spec, status, overlay } of subnets) {
    // A Subnet of an overlay has a network of its own.
    if (isOvnProvider(spec.provider) && overlay.vlan === '') continue;
    const used = firstUncovered(inside(cidrs, status, 'using'), excluded);
    if (used !== undefined)
      return `Kube-OVN's Subnet ${name} has given ${used}: add ${JSON.stringify(used)} to spec.excludeIps until the Pods with these addresses are deleted`;
    if (isOwnNetwork(spec.provider)) continue;
    const available = firstUncovered(inside(cidrs, status, 'available'), excluded);
    if (available !== undefined)
      return `Kube-OVN's Subnet ${name} of provider ${spec.provider} may give ${available}: add ${JSON.stringify(available)} to spec.excludeIps here or of that Subnet, or set ipam.type of its network to ${JSON.stringify(ownIpamType)}`;
  }
  return undefined;
}

/** The ranges of a Subnet's status that have an address of one of the CIDRs. */
function inside(
  cidrs: readonly string[],
  status: SubnetObject['status'],
  state: 'using' | 'available',
): AddressRange[] {
  const texts = ['v4', 'v6'].flatMap((family) => asText(status[`${family}${state}IPrange`]).split(','));
  return parseRanges(texts).filter((range) => cidrs.some((cidr) => overlapsCidr(range, cidr)));
}

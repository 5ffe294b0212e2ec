/** The rule which networks ipledger serves, by the CNI configuration of their NetworkAttachmentDefinition. Pure. */
import { ovn4nfvTypes } from './ovn4nfv.ts';
import { ownIpamType } from './beside-kube-ovn.ts';

/** The type of Kube-OVN's plugin, which makes NICs, and as `ipam.type` only gives addresses. */
export const kubeOvnType = 'kube-ovn';

interface Plugin {
  readonly type?: string | undefined;
  readonly ipam?: { readonly type?: string | undefined } | undefined;
}

/** The values of `ipam.type` that ipledger serves; the first is for new networks. */
export const servedIpamTypes = (besideKubeOvn = false): readonly string[] =>
  besideKubeOvn ? [ownIpamType] : [kubeOvnType, ownIpamType];

/**
 * How ipledger serves a network; undefined if another plugin gives its addresses. The first plugin makes the NIC. A later plugin of
 * Kube-OVN's type corrects the result.
 */
export function servedKind<P extends Plugin>(
  plugins: readonly P[],
  besideKubeOvn = false,
): { readonly kind: 'ovn4nfv' } | { readonly kind: 'ovn' } | { readonly kind: 'ipam'; readonly plugin: P } | undefined {
  const type = plugins[0]?.type ?? '';
  if (!besideKubeOvn && ovn4nfvTypes.includes(type)) return { kind: 'ovn4nfv' };
  if (!besideKubeOvn && type === kubeOvnType) return { kind: 'ovn' };
  const plugin = plugins.find(({ ipam }) => servedIpamTypes(besideKubeOvn).includes(ipam?.type ?? ''));
  return plugin && { kind: 'ipam', plugin };
}

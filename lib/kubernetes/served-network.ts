/** The networks that ipledger serves, by CNI configuration or OVN4NFV, and their providers. */

/** The value of `ipam.type` for ipledger. Kube-OVN's is `kube-ovn`. */
export const ownIpamType = 'ipledger';

/** The type of Kube-OVN's plugin, which makes NICs. As `ipam.type` it only gives addresses. */
export const kubeOvnType = 'kube-ovn';

interface Plugin {
  readonly type?: string | undefined;
  readonly ipam?: { readonly type?: string | undefined } | undefined;
}

/** The values of `ipam.type` that ipledger serves. The first is for new networks. */
export const servedIpamTypes = (besideKubeOvn = false): readonly string[] =>
  besideKubeOvn ? [ownIpamType] : [kubeOvnType, ownIpamType];

/**
 * How ipledger serves a network; undefined if another plugin gives its addresses. The first plugin
 * makes the NIC. A later plugin of Kube-OVN's type corrects the result.
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

/** Whether a provider is one of Kube-OVN's own networks: "", "ovn", or "<name>.<namespace>.ovn". */
export function isOvnProvider(provider: string): boolean {
  const parts = provider.split('.');
  return provider === '' || provider === 'ovn' || (parts.length === 3 && parts[2] === 'ovn');
}

/**
 * The provider of every NIC that a Pod requests with the annotations of OVN4NFV. The ordinal of a
 * NIC is its place in the request. No NetworkAttachmentDefinition may have this provider: the
 * pod-watcher rejects `ovn4nfv` in namespace `kube-system`.
 */
export const ovn4nfvProvider = 'ovn4nfv.kube-system.ovn';

/** The CNI types that make NICs for OVN4NFV requests: Nodus, and ovn-kubernetes. */
export const ovn4nfvTypes: readonly string[] = ['ovn4nfvk8s-cni', 'ovn-k8s-cni-overlay'];

/** The network of a request that names none. */
export const defaultOvn4nfvNetwork = 'ovn4nfvk8s-default-nw';

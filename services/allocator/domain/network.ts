/**
 * The network that a NIC is on. There each address has one holder, whichever Subnet it was drawn from.
 *
 * Another plugin makes the NIC: the network is the attachment's provider, its NetworkAttachmentDefinition.
 * The NIC is Kube-OVN's own type: the network is the logical switch, and each Subnet is one.
 */

/** The provider of Pods' primary NICs and of Subnets that name none. */
const primaryProvider = 'ovn';

/** Whether NICs of this provider are Kube-OVN's own type: "ovn" or "<name>.<namespace>.ovn". */
const isKubeOvnNic = (provider: string): boolean =>
  provider === primaryProvider || (provider.endsWith('.ovn') && provider.split('.').length > 2);

/**
 * The network of a NIC of this provider with an address of this Subnet. It is also the Subnet's home network, if the provider is
 * the Subnet's own. A "/" keeps logical switches apart from providers, which have none.
 */
export const networkOf = (provider: string, subnet: string): string =>
  isKubeOvnNic(provider) ? `switch/${subnet}` : provider;

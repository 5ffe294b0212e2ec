/**
 * The network of a NIC: where an address is unique, over all Subnets.
 *
 * A NIC of another plugin is on the network of the attachment's provider, its
 * NetworkAttachmentDefinition. A NIC of Kube-OVN's own type is on a logical switch, and each Subnet
 * is one.
 */

/** The provider of Pods' primary NICs, and of Subnets without a provider. */
const primaryProvider = 'ovn';

/** Whether NICs of a provider are Kube-OVN's own type: "ovn" or "<name>.<namespace>.ovn". */
const isKubeOvnNic = (provider: string): boolean =>
  provider === primaryProvider || (provider.endsWith('.ovn') && provider.split('.').length > 2);

/**
 * The network of a NIC of a provider that has an address of a Subnet. With the Subnet's own
 * provider, it is the Subnet's own network. No provider contains "/", so a logical switch never has
 * the name of a provider.
 */
export const networkOf = (provider: string, subnet: string): string =>
  isKubeOvnNic(provider) ? `switch/${subnet}` : provider;

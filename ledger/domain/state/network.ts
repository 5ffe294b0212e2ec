/**
 * The network of a NIC: the scope in which an address is unique, across all Subnets.
 *
 * A NIC of another plugin is on the network of its provider, the NetworkAttachmentDefinition. A NIC
 * of Kube-OVN's own type is on a logical switch, and each Subnet is a logical switch.
 */

/** The provider of Pods' primary NICs, and of Subnets without a provider. */
const primaryProvider = 'ovn';

/** Whether the NICs of a provider are of Kube-OVN's own type: "ovn" or "<name>.<namespace>.ovn". */
const isKubeOvnNic = (provider: string): boolean =>
  provider === primaryProvider || (provider.endsWith('.ovn') && provider.split('.').length > 2);

/**
 * The network of a NIC of `provider` that has an address of `subnet`. No provider contains "/", so
 * a logical switch never has the name of a provider.
 */
export const networkOf = (provider: string, subnet: string): string =>
  isKubeOvnNic(provider) ? `switch/${subnet}` : provider;

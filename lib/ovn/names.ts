/**
 * The names of rows in OVN and Open vSwitch that the OVN projector writes and the node agent
 * expects. They have Kube-OVN's form, so that an operator finds them with the commands that
 * Kube-OVN documents.
 */

/** The `external_ids:vendor` of ipledger's rows. Rows of other vendors are left alone. */
export const vendor = 'ipledger';

/** The integration bridge, to which ovn-controller connects a node's logical ports. */
export const defaultIntegrationBridge = 'br-int';

/** One NIC of a Pod. `ordinal` counts the NICs of one provider, from 0. */
export interface PortAttachment {
  readonly namespace: string;
  readonly pod: string;
  readonly provider: string;
  readonly ordinal: number;
}

/**
 * The name of an attachment's logical switch port, which is also the `iface-id` of its OVS
 * interface: `<pod>.<namespace>.<provider>`, and `.<ordinal>` for the second and later NICs of a
 * provider. Dots in the Pod's name are doubled, so that two attachments never share a name: neither
 * a namespace nor a Pod's name contains two dots in a row, and a provider ends in `ovn`.
 */
export function logicalPortName({ namespace, pod, provider, ordinal }: PortAttachment): string {
  const base = `${pod.replaceAll('.', '..')}.${namespace}.${provider === '' ? 'ovn' : provider}`;
  return ordinal === 0 ? base : `${base}.${ordinal}`;
}

/** The switch port that connects the switch of an underlay Subnet to a physical network. */
export const localnetPortName = (subnet: string): string => `localnet.${subnet}`;

/** The OVS port that ovn-controller creates on the integration bridge for a localnet port. */
export const localnetPatchName = (subnet: string): string => `patch-${localnetPortName(subnet)}-to-br-int`;

/** The router port of a Subnet. */
export const routerPortName = (router: string, subnet: string): string => `${router}-${subnet}`;

/** The switch port that connects a Subnet's switch to its router. */
export const switchRouterPortName = (router: string, subnet: string): string => `${subnet}-${router}`;

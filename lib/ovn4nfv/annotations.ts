/** The annotations of OVN4NFV and early ovn-kubernetes. See docs/ovn4nfv.md. */

/** Requests a list of NICs. */
export const ovnNetworkAnnotation = 'ovnNetwork';
/** Adds routes to the NICs that a request names. */
export const ovnRoutesAnnotation = 'ovnNetworkRoutes';
/** Requests a list of NICs, in the form of Nodus. */
export const nfnNetworkAnnotation = 'k8s.plugin.opnfv.org/nfn-network';
/** Requests one NIC of the default network, and later holds the answer. */
export const ovnAnnotation = 'ovn';
/** Holds the answer to `ovnNetwork`. */
export const ovnIfaceListAnnotation = 'ovnIfaceList';
/** Holds the answer to `nfn-network`. */
export const ovnInterfacesAnnotation = 'k8s.plugin.opnfv.org/ovnInterfaces';

export const ovn4nfvAnnotations: readonly string[] = [
  ovnNetworkAnnotation,
  ovnRoutesAnnotation,
  nfnNetworkAnnotation,
  ovnAnnotation,
  ovnIfaceListAnnotation,
  ovnInterfacesAnnotation,
];

/** The part of a Pod that contains its request. */
export interface Annotated {
  readonly annotations: Readonly<Record<string, string>>;
}

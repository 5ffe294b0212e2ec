/** The annotations of OVN4NFV and early ovn-kubernetes, which docs/ovn4nfv.md describes. */

/** Requests a list of NICs. */
export const ovnNetworkAnnotation = 'ovnNetwork';
/** Routes of the NICs that a request names. */
export const ovnRoutesAnnotation = 'ovnNetworkRoutes';
/** Requests a list of NICs, in the form of Nodus. */
export const nfnNetworkAnnotation = 'k8s.plugin.opnfv.org/nfn-network';
/** Requests one NIC of the default network, and has the answer to that. */
export const ovnAnnotation = 'ovn';
/** Answers `ovnNetwork`. */
export const ovnIfaceListAnnotation = 'ovnIfaceList';
/** Answers `nfn-network`. */
export const ovnInterfacesAnnotation = 'k8s.plugin.opnfv.org/ovnInterfaces';

export const ovn4nfvAnnotations: readonly string[] = [
  ovnNetworkAnnotation,
  ovnRoutesAnnotation,
  nfnNetworkAnnotation,
  ovnAnnotation,
  ovnIfaceListAnnotation,
  ovnInterfacesAnnotation,
];

/** The part of a Pod that has its request. */
export interface Annotated {
  readonly annotations: Readonly<Record<string, string>>;
}

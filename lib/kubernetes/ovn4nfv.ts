/** What pod-watcher and node agent share of OVN4NFV: its provider, its CNI types and its default network. Pure. */

/**
 * The provider of every NIC that a Pod requests with the annotations of OVN4NFV. Its ordinals are the places in the request. No
 * NetworkAttachmentDefinition may have this provider: the pod-watcher refuses `ovn4nfv` in namespace `kube-system`.
 */
export const ovn4nfvProvider = 'ovn4nfv.kube-system.ovn';

/** CNI types whose ADD makes the NICs of a Pod's OVN4NFV request. The first is that of Nodus, the second that of ovn-kubernetes. */
export const ovn4nfvTypes: readonly string[] = ['ovn4nfvk8s-cni', 'ovn-k8s-cni-overlay'];

/** The network of a Pod that names none. */
export const defaultOvn4nfvNetwork = 'ovn4nfvk8s-default-nw';

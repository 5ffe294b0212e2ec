/** Detection of Kube-OVN's own controller. It manages the same objects, and two controllers would corrupt them. */

/** The API path of its Lease. */
export const kubeOvnLeasePath = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-ovn-controller';

/** The message for an operator while the controller runs. @param then the operator’s next step, as an imperative */
export const kubeOvnRunningMessage = (
  { holder, renewed }: { readonly holder: string; readonly renewed: string },
  then: string,
): string =>
  `Kube-OVN's controller is running: ${holder} holds the Lease kube-system/kube-ovn-controller (renewed ${renewed}). ` +
  `Two controllers on the same Subnets and IPs corrupt both: stop kube-ovn-controller first, then ${then}`;

/** Kube-OVN's own controller keeps the same objects, and two controllers on them corrupt both: who meets it says so. */

/** Where its Lease is in the Kubernetes API. */
export const kubeOvnLease = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-ovn-controller';

/** That it runs, and what to do, as a sentence for a person. @param then what he wants to do. */
export const kubeOvnRuns = (
  { holder, renewed }: { readonly holder: string; readonly renewed: string },
  then: string,
): string =>
  `Kube-OVN's controller is running: ${holder} holds the Lease kube-system/kube-ovn-controller (renewed ${renewed}). ` +
  `Two controllers on the same Subnets and IPs corrupt both: stop kube-ovn-controller first, then ${then}`;

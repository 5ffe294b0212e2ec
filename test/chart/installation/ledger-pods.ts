/** Pods of a network of ipledger on workers, and what their kubelets report of them. */
import type { KubeObject, KubernetesClient, Manifest } from '../../harness/kubernetes/kubernetes-client.ts';
import { daemonSocket } from '../../harness/node/containerd.ts';
import { podImage } from '../../harness/node/pod-image.ts';

/** The network, its Subnet, and the provider of both. docs/install.md has another network. */
export const network = 'load';
export const provider = `${network}.default`;

/** The objects of the network. */
export function networkObjects(): Manifest[] {
  const ipam = { type: 'kube-ovn', server_socket: daemonSocket, provider };
  const config = JSON.stringify({ cniVersion: '1.0.0', type: 'macvlan', master: 'eth1', mode: 'bridge', ipam });
  return [
    { kind: 'NetworkAttachmentDefinition', metadata: { name: network }, spec: { config } },
    {
      kind: 'Subnet',
      metadata: { name: network },
      spec: { provider, protocol: 'Dual', cidrBlock: '10.8.0.0/24,fd00:8::/64', cooldownSeconds: 0 },
    },
  ];
}

/** The NIC that Multus makes for the network. */
export const nic = 'net1';

/** A Pod on a node with a second NIC, on the network. */
export const ledgerPod = (name: string, node: string): Manifest => ({
  kind: 'Pod',
  metadata: { name, annotations: { 'k8s.v1.cni.cncf.io/networks': network } },
  spec: {
    nodeName: node,
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    containers: [{ name: 'box', image: podImage }],
  },
});

/** The addresses that the ledger has for a Pod, joined by a comma; undefined before it has one. */
export const addressesOf = ({ metadata }: KubeObject): string | undefined =>
  metadata.annotations?.[`${provider}.kubernetes.io/ip_address`];

/**
 * An ADD that failed before any plugin ran. A thin Multus reads the Pod from the Kubernetes API
 * within 2.5 s, or fails. The API of a busy test machine can take longer, also for Pods without a
 * NIC of the ledger.
 */
const failedBeforePlugins = /Multus: \[\S+\]: error waiting for pod: /;

/** The Events of ADDs that failed, one line each. */
export async function listFailedAdds(kubernetes: KubernetesClient): Promise<string[]> {
  const events = await kubernetes.list('Event', 'fieldSelector=reason=FailedCreatePodSandBox');
  return events.flatMap((event) => {
    const { involvedObject, message } = event as KubeObject & {
      readonly involvedObject: { readonly name: string };
      readonly message: string;
    };
    return failedBeforePlugins.test(message) ? [] : `${involvedObject.name}: ${message}`;
  });
}

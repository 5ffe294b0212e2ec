/**
 * The objects that a selftest makes. Each has its label, by which the next run finds a left-over.
 */

export const selftestLabel = 'ipledger.io/selftest';
export const namePrefix = 'ipledger-selftest-';

/** A network that the selftest makes. */
export interface OwnNetwork {
  /** The interface of the nodes on which macvlan makes the NICs. */
  readonly master: string;
  readonly cidr: string;
  /** The socket of the agents, as NetworkAttachmentDefinitions name it. */
  readonly socket: string;
}

export interface TestPlan {
  /** Unique: part of all names. */
  readonly id: string;
  readonly nodes: readonly string[];
  readonly image: string;
  /** "namespace/name" of a network that exists, or one of its own. */
  readonly network: string | OwnNetwork;
  /** Whether the network makes the main NIC of the Pods: on clusters without another network. */
  readonly isDefaultNetwork: boolean;
  /** The group of Subnets. */
  readonly group: string;
}

export const namespaceOf = ({ id }: TestPlan): string => `${namePrefix}${id}`;
export const podsOf = (plan: TestPlan): { name: string; node: string }[] =>
  plan.nodes.map((node, index) => ({ name: `on-${index + 1}`, node }));
export const podsPath = (plan: TestPlan): string => `/api/v1/namespaces/${namespaceOf(plan)}/pods`;
export const networksPath = (namespace: string): string =>
  `/apis/k8s.cni.cncf.io/v1/namespaces/${namespace}/network-attachment-definitions`;
/** "namespace/name" of the network that the Pods request. */
const networkKeyOf = (plan: TestPlan): string =>
  typeof plan.network === 'string' ? plan.network : `${namespaceOf(plan)}/selftest`;
/** The annotation by which Multus attaches the network. */
const annotationOf = ({ isDefaultNetwork }: TestPlan): string =>
  isDefaultNetwork ? 'v1.multus-cni.io/default-network' : 'k8s.v1.cni.cncf.io/networks';

const labelsOf = ({ id }: TestPlan) => ({ [selftestLabel]: id });

export const namespaceObject = (plan: TestPlan) => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: namespaceOf(plan), labels: labelsOf(plan) },
});

export function networkObject(plan: TestPlan, { master, socket }: OwnNetwork) {
  const type = plan.group === 'kubeovn.io' ? 'kube-ovn' : 'ipledger';
  const ipam = { type, server_socket: socket, provider: `selftest.${namespaceOf(plan)}` };
  const config = JSON.stringify({ cniVersion: '1.0.0', type: 'macvlan', master, mode: 'bridge', ipam });
  return {
    apiVersion: 'k8s.cni.cncf.io/v1',
    kind: 'NetworkAttachmentDefinition',
    metadata: { name: 'selftest', namespace: namespaceOf(plan), labels: labelsOf(plan) },
    spec: { config },
  };
}

export const subnetObject = (plan: TestPlan, { cidr }: OwnNetwork) => ({
  apiVersion: `${plan.group}/v1`,
  kind: 'Subnet',
  metadata: { name: namespaceOf(plan), labels: labelsOf(plan) },
  spec: { provider: `selftest.${namespaceOf(plan)}`, cidrBlock: cidr, cooldownSeconds: 0 },
});

/** A Pod on a node, also on one with taints. */
export const podObject = (plan: TestPlan, name: string, node: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name,
    namespace: namespaceOf(plan),
    labels: labelsOf(plan),
    annotations: { [annotationOf(plan)]: networkKeyOf(plan) },
  },
  spec: {
    nodeName: node,
    restartPolicy: 'Never',
    terminationGracePeriodSeconds: 1,
    automountServiceAccountToken: false,
    tolerations: [{ operator: 'Exists' }],
    containers: [{ name: 'box', image: plan.image }],
  },
});

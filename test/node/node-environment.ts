/** Two real nodes with the network and the Subnet of their Pods. */
import { type NodeCluster, podNetwork, startNodeCluster } from '../harness/node/node-cluster.ts';
import type { Node } from '../harness/node/node.ts';
import type { Run } from '../harness/run.ts';
import { type KubernetesClient, createKubernetesClient } from '../harness/kubernetes/kubernetes-client.ts';

export interface NodeEnvironment {
  readonly run: Run;
  readonly stack: NodeCluster;
  readonly kubernetes: KubernetesClient;
  readonly a: Node;
  readonly b: Node;
}

const cidrBlock = '10.9.0.0/24';

/** Starts the environment in a run. */
export async function startNodeEnvironment(run: Run): Promise<NodeEnvironment> {
  const stack = await startNodeCluster(run);
  const kubernetes = createKubernetesClient(stack.cluster.kubeconfig, run.signal);
  const ipam = { type: 'kube-ovn', provider: `${podNetwork}.default` };
  const config = JSON.stringify({ cniVersion: '1.0.0', type: 'macvlan', master: 'eth1', mode: 'bridge', ipam });
  await kubernetes.create({ kind: 'NetworkAttachmentDefinition', metadata: { name: podNetwork }, spec: { config } });
  await kubernetes.create({
    kind: 'Subnet',
    metadata: { name: podNetwork },
    spec: { provider: ipam.provider, cidrBlock },
  });
  const [a, b] = stack.nodes;
  return { run, stack, kubernetes, a, b };
}

/** Two whole nodes, and what each test about them starts from. */
import { type NodeCluster, podNetwork, startNodeCluster } from '../harness/node/cluster.ts';
import type { Node } from '../harness/node/node.ts';
import type { Run } from '../harness/run.ts';
import { type Kubernetes, kubernetesOf } from '../e2e/kubernetes.ts';

export interface NodeScene {
  readonly run: Run;
  readonly stack: NodeCluster;
  readonly kubernetes: Kubernetes;
  readonly a: Node;
  readonly b: Node;
}

const cidrBlock = '10.9.0.0/24';

/** Starts everything in a run. */
export async function openScene(run: Run): Promise<NodeScene> {
  const stack = await startNodeCluster(run);
  const kubernetes = kubernetesOf(stack.cluster.kubeconfig, run.signal);
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

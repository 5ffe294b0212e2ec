/** Finds the nodes on which no node agent is ready, from the agents' Pods: no agent is called. */
import type { CheckInput } from './check-input.ts';
import type { Disagreement } from './disagreement.ts';
import { formatCount } from '../../output/answer.ts';
import { formatShellCommand } from '../../shell-command.ts';
import { lostNodeRemedy } from '../../output/lost-container.ts';

/**
 * Each Node that has an agent's Pod, or Pods with addresses, has an agent that is ready. A Node that the DaemonSet leaves out on
 * purpose has no such Pods. Agents that do not run as Pods are unknown to the API, and are not compared.
 */
export function compareAgents({ ledger, cluster }: CheckInput): Disagreement[] {
  const agents = cluster.pods.filter(({ agent }) => agent !== undefined);
  if (agents.length === 0) return [];
  const byNode = Map.groupBy(agents, ({ node }) => node);
  const holders = new Set(ledger.allocations.map(({ podUid }) => podUid));
  const served = cluster.pods.filter(({ identity, node }) => node !== '' && holders.has(identity));
  const podsOn = Map.groupBy(served, ({ node }) => node);
  return [...new Set([...byNode.keys(), ...podsOn.keys()])].flatMap((node): Disagreement[] => {
    const own = byNode.get(node) ?? [];
    if (!cluster.nodes.has(node) || own.some(({ agent, isTerminating }) => agent === 'ready' && !isTerminating))
      return [];
    const pods = formatCount(podsOn.get(node)?.length ?? 0, 'Pod');
    const state = own.length > 0 ? 'its node agent is not ready' : 'it has no node agent';
    const failure = cluster.nodeFailures.get(node);
    const what = `${failure === undefined ? '' : `the Node ${failure}; `}${state}: no CNI ADD succeeds there, and no CNI DEL arrives; ${pods} with addresses`;
    return [
      { kind: 'no agent', where: `Node ${node}`, what, remedy: remedyFor(node, failure, agents[0]?.namespace ?? '') },
    ];
  });
}

function remedyFor(node: string, failure: string | undefined, namespace: string): string {
  if (failure !== undefined) return formatShellCommand(['kubectl', 'describe', 'node', node], lostNodeRemedy(node));
  const selector = ['-l', 'app.kubernetes.io/component=node-agent', '--field-selector', `spec.nodeName=${node}`];
  return formatShellCommand(
    ['kubectl', 'describe', 'pod', '-n', namespace, ...selector],
    'without a Pod, look for a taint of the Node that the DaemonSet does not tolerate; with one, read its Events and its log',
  );
}

/** Describes the logical ports of a Pod: where OVN has connected each, and what differs from the ledger. Pure. */
import { comparePort, portsOfLedger } from '../../ovn/compare-northbound.ts';
import type { LogicalPort, Northbound } from '../../ovn/northbound.ts';
import type { Allocation } from '../../../proto/generated/ipledger.ts';

/**
 * One sentence for each logical port and each difference.
 * @param allocations the current ones of one Pod
 * @param namespace that of ipledger
 */
export function describeLogicalPorts(
  allocations: readonly Allocation[],
  { ports }: Northbound,
  namespace: string,
): string[] {
  return [...portsOfLedger(allocations)].flatMap(([name, allocation]) => {
    const found = ports.filter((port) => port.name === name);
    const drifts = comparePort(name, allocation, found, namespace);
    const own = found.find(({ isOurs }) => isOurs);
    return [
      ...drifts.map(({ kind, where, what, remedy }) => `${kind}: ${where}: ${what}. Run: ${remedy}`),
      ...(own ? [describeState(own, allocation)] : []),
    ];
  });
}

function describeState({ name, isUp, requestedChassis }: LogicalPort, { bindings, node }: Allocation): string {
  if (isUp) return `port ${name} is up${requestedChassis === '' ? '' : ` on ${requestedChassis}`}`;
  const on = requestedChassis || node;
  if (bindings.length === 0)
    return `port ${name} is not up, because no container has it yet: see the Events FailedCreatePodSandBox and the log of node-agent${on === '' ? '' : ` on ${on}`}`;
  return `port ${name} is not up, although a container has it: check ovn-controller on ${on} with \`ovn-appctl -t ovn-controller connection-status\`, and the port with \`ovs-vsctl find interface external_ids:iface-id=${name}\``;
}

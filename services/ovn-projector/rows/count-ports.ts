/** Counts the ports of NICs in the northbound database. Pure. */
import type { NorthboundView } from '../northbound/northbound-view.ts';
import type { DesiredPort } from './desired-row.ts';
import type { PortAllocation } from './row-sources.ts';

export interface PortCounts {
  /** Ports that should exist. */
  readonly desired: number;
  /** Those of them that exist. */
  readonly present: number;
  /** Those that a container has, and that no node has connected. A stopped virtual machine keeps its port, and does not count. */
  readonly down: number;
}

export function countPorts(
  ports: ReadonlyMap<string, DesiredPort>,
  view: NorthboundView,
  allocations: ReadonlyMap<string, Pick<PortAllocation, 'bindings'>>,
): PortCounts {
  let [present, down] = [0, 0];
  for (const name of ports.keys()) {
    const row = view.named('Logical_Switch_Port', name).find((each) => view.owns(each))?.row;
    if (!row) continue;
    present += 1;
    const hasContainer = (allocations.get(name)?.bindings.size ?? 0) > 0;
    if (hasContainer && row['up'] !== true) down += 1;
  }
  return { desired: ports.size, present, down };
}

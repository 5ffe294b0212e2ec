/** Whether OVN runs on this node under the node's name, and has the integration bridge. */
import { textMap } from '../../../lib/ovsdb/values.ts';
import type { OvsDatabase, OvsRow } from '../ovs/ovs-database.ts';
import { DataPathError } from './data-path-error.ts';

/**
 * Returns the row of the integration bridge. OVN accepts a port on this node only if `requested-chassis`, which is the Kubernetes name
 * of the node, is the chassis' name (`system-id`) or its hostname (ovn-nb(5), Logical_Switch_Port options).
 * @throws DataPathError node
 */
export function requireNode(
  ovs: Pick<OvsDatabase, 'named' | 'root'>,
  { node, bridge }: { readonly node: string; readonly bridge: string },
): OvsRow {
  const ids = textMap(ovs.root()?.row['external_ids']);
  const [systemId, hostname] = [ids.get('system-id') ?? '', ids.get('hostname') ?? ''];
  if (systemId !== node && hostname !== node)
    throw new DataPathError(
      'node',
      `OVN has this node as system-id ${systemId || '(not set)'}, hostname ${hostname || '(not set)'}, not as ${node}. Run: ovs-vsctl set open_vswitch . external_ids:hostname=${node}`,
    );
  const found = ovs.named('Bridge', bridge);
  if (found) return found;
  throw new DataPathError(
    'node',
    `OVN's bridge ${bridge} does not exist on this node: start ovn-controller, or correct --ovs-bridge`,
  );
}

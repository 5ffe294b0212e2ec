/** The default MTU of a NIC: the MTU of the node's NIC, less a tunnel's header. */
import { textMap, textSet } from '../../../lib/ovsdb/values.ts';
import { existsSync, readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { mappingsKey, parseMappings } from '../underlay/underlay-plan.ts';
import type { OvsDatabase } from '../ovs/ovs-database.ts';
import { DataPathError } from './data-path-error.ts';

/** The bytes that a tunnel adds to a packet, as Kube-OVN counts them. */
const tunnelOverhead: Readonly<Record<string, number>> = { geneve: 100, vxlan: 50, stt: 72 };

/** Returns the MTU of this node's NIC with an address; undefined if no NIC has it. */
export type AddressMtu = (address: string) => number | undefined;

/** Reads the kernel's links, because the /sys of another network namespace lacks them. */
export const readAddressMtu: AddressMtu = (address) => {
  const found = Object.entries(networkInterfaces()).find(([, all = []]) =>
    all.some((each) => each.address === address),
  );
  const file = `/sys/class/net/${found?.[0] ?? ''}/mtu`;
  return found && existsSync(file) ? Number(readFileSync(file, 'utf8')) : undefined;
};

type OvsRows = Pick<OvsDatabase, 'rows' | 'named' | 'root'>;

/**
 * Returns the MTU of a NIC on OVN's tunnels: the smallest MTU of the NICs with the addresses of
 * `ovn-encap-ip`, less the largest header of `ovn-encap-type`.
 * @throws DataPathError settings
 */
export function overlayMtu(ovs: OvsRows, mtuOf: AddressMtu): number {
  const ids = textMap(ovs.root()?.row['external_ids']);
  const addresses = (ids.get('ovn-encap-ip') ?? '').split(',').filter((address) => address !== '');
  const types = (ids.get('ovn-encap-type') ?? '').split(',');
  const overheads = types.map((type) => tunnelOverhead[type] ?? 100);
  const mtus = addresses.flatMap((address) => mtuOf(address) ?? []);
  if (mtus.length === 0)
    throw new DataPathError(
      'settings',
      `the MTU is unknown: no NIC of this node has ovn-encap-ip ${addresses.join(',') || '(not set)'}. Set spec.mtu of the Subnet`,
    );
  return Math.min(...mtus) - Math.max(...overheads);
}

/**
 * Returns the MTU of a NIC on a physical network: the smallest of the NICs in the bridge to which
 * `ovn-bridge-mappings` maps the network.
 * @throws DataPathError settings
 */
export function underlayMtu(ovs: OvsRows, network: string): number {
  const mappings = parseMappings(textMap(ovs.root()?.row['external_ids']).get(mappingsKey) ?? '');
  const bridgeName = mappings.find((mapping) => mapping.network === network)?.bridge;
  const bridge = bridgeName === undefined ? undefined : ovs.named('Bridge', bridgeName);
  if (!bridge)
    throw new DataPathError(
      'settings',
      `ProviderNetwork ${network} has no bridge on this node: ${bridgeName === undefined ? 'ovn-bridge-mappings does not name it' : `${bridgeName} does not exist`}. Run: ovs-vsctl get open_vswitch . external_ids:ovn-bridge-mappings`,
    );
  const mtus = [...textSet(bridge.row['ports'])]
    .flatMap((port) => [...textSet(ovs.rows('Port').get(port)?.['interfaces'])])
    .map((uuid) => ovs.rows('Interface').get(uuid))
    .filter((nic) => nic?.['type'] === '' || nic?.['type'] === 'system')
    .map((nic) => nic?.['mtu'])
    .filter((mtu) => typeof mtu === 'number');
  if (mtus.length > 0) return Math.min(...mtus);
  throw new DataPathError(
    'settings',
    `the MTU is unknown: bridge ${bridgeName} of ProviderNetwork ${network} has no NIC. Set spec.mtu of the Subnet`,
  );
}

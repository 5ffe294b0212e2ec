/** What Open vSwitch of the node has: its bridges with their ports, and the networks that OVN finds on them. */
import { vendor } from '../../../lib/ovn/names.ts';
import { type Row, textMap, textOf, textSet } from '../../../lib/ovsdb/values.ts';
import type { OvsRow, OvsTable } from '../ovs/ovs-database.ts';

export interface PresentPort {
  readonly uuid: string;
  readonly name: string;
  /** Whether an agent made it. ovn-controller makes ports of its own while a Pod of the node uses the network. */
  readonly isOurs: boolean;
}

export interface PresentBridge {
  readonly uuid: string;
  readonly name: string;
  readonly isOurs: boolean;
  readonly ports: readonly PresentPort[];
}

/** The bridge on which OVN finds a network. */
export interface BridgeMapping {
  readonly network: string;
  readonly bridge: string;
}

export interface PresentUnderlay {
  readonly bridges: readonly PresentBridge[];
  readonly mappings: readonly BridgeMapping[];
}

/** The key of Open_vSwitch.external_ids that holds the mappings (ovn-controller(8)). */
export const mappingsKey = 'ovn-bridge-mappings';

/** Reads the rows below the only row of table Open_vSwitch. */
export function presentUnderlay(root: OvsRow, rows: (table: OvsTable) => ReadonlyMap<string, Row>): PresentUnderlay {
  const [bridges, ports] = [rows('Bridge'), rows('Port')];
  return {
    bridges: [...textSet(root.row['bridges'])].flatMap((uuid) => {
      const row = bridges.get(uuid);
      if (!row) return [];
      const own = [...textSet(row['ports'])].flatMap((port) => presentPort(port, ports.get(port)));
      return [{ uuid, name: textOf(row['name']), isOurs: isOurs(row), ports: own }];
    }),
    mappings: parseMappings(textMap(root.row['external_ids']).get(mappingsKey) ?? ''),
  };
}

function presentPort(uuid: string, row: Row | undefined): PresentPort[] {
  return row ? [{ uuid, name: textOf(row['name']), isOurs: isOurs(row) }] : [];
}

const isOurs = (row: Row): boolean => textMap(row['external_ids']).get('vendor') === vendor;

/** Parses `network:bridge,…`. What has another form stays as a mapping without a bridge. */
export function parseMappings(text: string): BridgeMapping[] {
  return text
    .split(',')
    .filter((entry) => entry !== '')
    .map((entry) => {
      const at = entry.indexOf(':');
      return at < 0 ? { network: entry, bridge: '' } : { network: entry.slice(0, at), bridge: entry.slice(at + 1) };
    });
}

/** The inverse of `parseMappings`. */
export const formatMappings = (mappings: readonly BridgeMapping[]): string =>
  mappings.map(({ network, bridge }) => (bridge === '' ? network : `${network}:${bridge}`)).join(',');

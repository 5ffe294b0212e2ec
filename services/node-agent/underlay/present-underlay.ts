/** What Open vSwitch of the node has: its bridges with their ports, and the networks that OVN finds on them. */
import { vendor } from '../../../lib/ovn/names.ts';
import { type Row, textMap, textOf, textSet } from '../../../lib/ovsdb/values.ts';
import { type BridgeMapping, mappingsKey, parseMappings } from '../ovs/bridge-mappings.ts';
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

export interface PresentUnderlay {
  readonly bridges: readonly PresentBridge[];
  readonly mappings: readonly BridgeMapping[];
}

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

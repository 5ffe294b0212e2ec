/** Rows of an Open_vSwitch database in memory, for specs of pure functions. */
import type { Row } from '../../../../lib/ovsdb/values.ts';
import type { OvsDatabase, OvsRow, OvsTable } from '../../ovs/ovs-database.ts';
import type { NicPlan } from '../nic-plan.ts';

export type TestRows = Partial<Record<OvsTable, Readonly<Record<string, Row>>>>;

/** Makes the replica of a database with these rows by UUID. */
export function ovsRows(tables: TestRows): Pick<OvsDatabase, 'rows' | 'named' | 'root'> {
  const rows = (table: OvsTable): Map<string, Row> => new Map(Object.entries(tables[table] ?? {}));
  const first = (table: OvsTable, matches: (row: Row) => boolean): OvsRow | undefined => {
    const found = [...rows(table)].find(([, row]) => matches(row));
    return found && { uuid: found[0], row: found[1] };
  };
  return {
    rows,
    named: (table, name) => first(table, (row) => row['name'] === name),
    root: () => first('Open_vSwitch', () => true),
  };
}

/** Makes the value of a map column. */
export const pairs = (object: Readonly<Record<string, string>>): ReadonlyMap<string, string> =>
  new Map(Object.entries(object));

/** Makes the plan of a NIC of container c1, interface net1. */
export const nicPlan = (changes: Partial<NicPlan> = {}): NicPlan => ({
  containerId: 'c1',
  interface: 'net1',
  netns: '/run/netns/p',
  hostLink: 'c1_net1_h',
  mac: '02:00:00:00:00:11',
  mtu: 1_400,
  addresses: ['172.17.0.11/24', 'fd17::b/64'],
  routes: [],
  replacedDefaults: [],
  gateways: ['172.17.0.1', 'fd17::1'],
  requiresGateway: true,
  logicalPort: 'p.default.lan.default.ovn',
  localnetPatch: undefined,
  ingress: undefined,
  egress: undefined,
  pod: { namespace: 'default', name: 'p' },
  provider: 'lan.default.ovn',
  ...changes,
});

/**
 * Applies differences to a real northbound database, which must accept each transaction and end
 * with the rows of the simulated database.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import type { Operation } from '../../../lib/ovsdb/transaction.ts';
import type { Row } from '../../../lib/ovsdb/values.ts';
import { nameOf, NorthboundView } from '../northbound/northbound-view.ts';
import { type OwnedTable, ownedTables, parentTables } from '../rows/desired-row.ts';
import { DesiredRows } from '../rows/desired-rows.ts';
import {
  type ConnectedView,
  connectView,
  type NorthboundServer,
  startNorthbound,
} from '../testing/northbound-server.ts';
import { randomContents, randomRows } from '../testing/random-database.ts';
import { testLedger } from '../testing/row-inputs.ts';
import { SimulatedDatabase } from '../testing/simulated-database.ts';
import { diffRows } from './diff.ts';

/** Describes rows without UUIDs: a port has the name of its switch. */
function contentOf(view: NorthboundView, rows: (table: OwnedTable) => Iterable<readonly [string, object]>): string[] {
  const all = ownedTables.flatMap((table) =>
    [...rows(table)].map(([uuid, row]) => {
      const { ports: _, up: __, dhcpv4_options: v4, dhcpv6_options: v6, ...columns } = row as Record<string, unknown>;
      const options = [v4, v6].map((each) => view.row('DHCP_Options', String(each))?.row['external_ids']);
      const parents = [...view.parentsOf(uuid)].map((parent) =>
        Object.values(parentTables).map((container) => view.row(container, parent)?.row['name'] ?? ''),
      );
      return JSON.stringify([
        table,
        listOf(Object.entries(columns).map(([name, value]) => [name, listOf(value)])),
        listOf(parents),
        options.map(listOf),
      ]);
    }),
  );
  return all.sort();
}

/** Sorts the elements of a set, map or list. */
const listOf = (value: unknown): unknown =>
  value instanceof Set || value instanceof Map || Array.isArray(value)
    ? [...(value as Iterable<unknown>)].map((each) => JSON.stringify(each)).sort()
    : value;

/**
 * Whether two switches, routers or DHCP options have the same name. The one with the lower UUID
 * stays, and UUIDs differ between the databases.
 */
function hasTwins(contents: readonly Operation[]): boolean {
  const keys = contents.flatMap((operation) => {
    if (operation.op !== 'insert') return [];
    if (operation.table === 'DHCP_Options') return [nameOf(operation.row as Row)];
    return 'ports' in operation.row ? [JSON.stringify([operation.table, operation.row['name']])] : [];
  });
  return new Set(keys).size < keys.length;
}

describe('The difference on a real northbound database', function () {
  this.timeout(120_000);
  let northbound: NorthboundServer;
  let connected: ConnectedView;
  const stop = new AbortController();

  before(async function () {
    northbound = await startNorthbound(this);
    connected = await connectView(northbound.server, stop.signal);
  });
  after(() => {
    stop.abort();
    return northbound?.run.end();
  });

  const clear = async (): Promise<void> => {
    const tables = ['Logical_Switch', 'Logical_Router', 'DHCP_Options'] as const;
    await connected.client.transact(tables.map((table): Operation => ({ op: 'delete', table, where: [] })));
  };
  const realRows = (table: OwnedTable) => connected.client.replica.rows(table);

  it('A real northbound database accepts the difference and ends with the same rows as the simulated one', async () => {
    const property = fc.asyncProperty(randomContents, randomRows, fc.integer({ min: 1, max: 8 }), async (...random) => {
      const [contents, { inputs }, limit] = random;
      fc.pre(!hasTwins(contents));
      const desired = new DesiredRows(inputs);
      const simulated = new SimulatedDatabase();
      const view = new NorthboundView(testLedger);
      await clear();
      view.apply({ changes: simulated.transact(contents) });
      if (contents.length > 0) await connected.client.transact(contents);
      for (let isDone = false, rounds = 0; !isDone; rounds++) {
        expect(rounds, 'the comparisons do not end').to.be.below(200);
        const options = { scope: 'all', limit } as const;
        const [real, expected] = [diffRows(desired, connected.view, options), diffRows(desired, view, options)];
        if (real.operations.length > 0) await connected.client.transact(real.operations);
        view.apply({ changes: simulated.transact(expected.operations) });
        isDone = real.operations.length === 0 && expected.operations.length === 0;
      }
      expect(contentOf(connected.view, realRows)).to.deep.equal(contentOf(view, (table) => simulated.rows(table)));
    });
    await fc.assert(property, { numRuns: 100 });
  });
});

import { expect } from 'chai';
import fc from 'fast-check';
import { areEqual, type Row } from '../../../lib/ovsdb/values.ts';
import { nameOf, NorthboundView } from '../northbound/northbound-view.ts';
import {
  type DesiredContainer,
  type DesiredOptions,
  type DesiredPort,
  isOwned,
  optionsName,
  ownedTables,
  ownerIds,
  parentTables,
  rowKey,
} from '../rows/desired-row.ts';
import { DesiredRows } from '../rows/desired-rows.ts';
import { randomContents, randomRows } from '../testing/random-database.ts';
import { allocationOf, rowInputs, subnetNamed, testLedger } from '../testing/row-inputs.ts';
import { SimulatedDatabase } from '../testing/simulated-database.ts';
import { type Diff, diffRows } from './diff.ts';

class Fixture {
  readonly database = new SimulatedDatabase();
  readonly view = new NorthboundView(testLedger);

  write(operations: Parameters<SimulatedDatabase['transact']>[0]): void {
    this.view.apply({ changes: this.database.transact(operations) });
  }

  /**
   * Applies differences until there are none. Returns the last difference and the number of
   * transactions.
   */
  converge(desired: DesiredRows, limit = 1_000): Diff & { readonly transactions: number } {
    for (let transactions = 0; transactions < 200; transactions++) {
      const diff = diffRows(desired, this.view, { scope: 'all', limit });
      expect(diff.keys.length).to.be.at.most(limit);
      if (diff.operations.length === 0 && diff.isComplete) return { ...diff, transactions };
      this.write(diff.operations);
    }
    return expect.fail('the comparisons do not end');
  }

  /** The rows of other owners, by UUID. */
  foreign(): Record<string, Row> {
    const rows = ownedTables.flatMap((table) => [...this.database.rows(table)]);
    return Object.fromEntries(rows.filter(([, row]) => !isOwned(row['external_ids'], testLedger)));
  }
}

/** Lists desired rows that are missing or different, and own rows that are not desired. */
function defects({ database, view }: Fixture, desired: DesiredRows): string[] {
  const expected: (DesiredContainer | DesiredOptions | DesiredPort)[] = [
    ...desired.dhcpOptions.values(),
    ...desired.containers.values(),
    ...desired.connections.values(),
    ...desired.ports.values(),
  ];
  const wrong = expected.flatMap((row) => {
    const [found] = view.named(row.table, row.name).filter((each) => view.owns(each));
    if (!found) return [rowKey(row)];
    if (!('columns' in row)) return [];
    const isSame = Object.entries(row.columns).every(([column, value]) => areEqual(found.row[column], value));
    if (row.table === 'DHCP_Options') return isSame ? [] : [rowKey(row)];
    const references = row.hasDhcp === true ? ['IPv4', 'IPv6'] : [];
    const isReferred = references.every((family) => {
      const options = desired.dhcpOptions.has(optionsName(row.parent, family));
      const [own] = view.named('DHCP_Options', optionsName(row.parent, family)).filter((each) => view.owns(each));
      return found.row[family === 'IPv4' ? 'dhcpv4_options' : 'dhcpv6_options'] === (options ? own?.uuid : undefined);
    });
    const parents = [...view.parentsOf(found.uuid)].map((uuid) => view.row(parentTables[row.table], uuid));
    const isPlaced = parents.length === 1 && parents[0] && nameOf(parents[0].row) === row.parent;
    return isSame && isReferred && isPlaced ? [] : [rowKey(row)];
  });
  const keys = new Set(expected.map(rowKey));
  const surplus = ownedTables.flatMap((table) =>
    [...database.rows(table).values()]
      .filter((row) => isOwned(row['external_ids'], testLedger))
      .map((row) => rowKey({ table, name: nameOf(row) }))
      .filter((key) => !keys.has(key)),
  );
  return [...wrong, ...surplus];
}

describe('The difference', () => {
  it('The difference gives any database the desired rows, in transactions of any size, and keeps the rows of other owners', () => {
    fc.assert(
      fc.property(randomContents, randomRows, fc.integer({ min: 1, max: 8 }), (contents, { desired }, limit) => {
        const fixture = new Fixture();
        fixture.write(contents);
        const foreign = fixture.foreign();
        const { conflicts } = fixture.converge(desired, limit);
        expect(fixture.foreign()).to.deep.equal(foreign);
        const blocked = new Set(conflicts.map(({ key }) => key));
        const excused = [...desired.connections.values(), ...desired.ports.values()].filter((port) =>
          [
            rowKey(port),
            rowKey({ table: parentTables[port.table], name: port.parent }),
            rowKey({ table: 'Logical_Router', name: port.router ?? '' }),
          ].some((key) => blocked.has(key)),
        );
        const allowed = new Set([...blocked, ...excused.map(rowKey)]);
        expect(defects(fixture, desired).filter((key) => !allowed.has(key))).to.deep.equal([]);
        if (Object.keys(foreign).length === 0) expect(conflicts).to.deep.equal([]);
      }),
      { numRuns: 1_000 },
    );
  });

  it('Differences of single ports end with the same rows as a complete difference', () => {
    fc.assert(
      fc.property(randomContents, randomRows, randomRows, (contents, before, after) => {
        const fixture = new Fixture();
        fixture.write(contents);
        const { inputs } = before;
        const desired = new DesiredRows(inputs);
        fixture.converge(desired);
        const changed = new Set([...inputs.allocations.keys(), ...after.inputs.allocations.keys()]);
        inputs.allocations.clear();
        for (const [name, allocation] of after.inputs.allocations) inputs.allocations.set(name, allocation);
        for (const name of changed) desired.recomputePort(name);
        const diff = diffRows(desired, fixture.view, { scope: changed, limit: 1_000 });
        fixture.write(diff.operations);
        expect(diffRows(desired, fixture.view, { scope: 'all', limit: 1_000 }).operations).to.deep.equal([]);
      }),
      { numRuns: 500 },
    );
  });

  const lan = { subnets: [subnetNamed('lan')] };

  it('The difference is one transaction for a Subnet with its router and its ports', () => {
    const desired = new DesiredRows(rowInputs({ ...lan, allocations: [allocationOf('a'), allocationOf('b')] }));
    expect(new Fixture().converge(desired).transactions).to.equal(1);
  });

  it('The difference moves a port and its row to another switch in one transaction', () => {
    const subnets = [subnetNamed('lan'), subnetNamed('wan')];
    const fixture = new Fixture();
    fixture.converge(new DesiredRows(rowInputs({ subnets, allocations: [allocationOf('a')] })));
    const [before] = fixture.view.named('Logical_Switch_Port', 'a.default.net.default.ovn');
    const moved = new DesiredRows(rowInputs({ subnets, allocations: [allocationOf('a', { subnet: 'wan' })] }));
    expect(fixture.converge(moved).transactions).to.equal(1);
    const [after] = fixture.view.named('Logical_Switch_Port', 'a.default.net.default.ovn');
    expect(after?.uuid).to.equal(before?.uuid);
  });

  it('The difference keeps an entry of external_ids that an operator added', () => {
    const fixture = new Fixture();
    const externalIds = new Map([...ownerIds(testLedger), ['note', 'do not touch']]);
    fixture.write([{ op: 'insert', table: 'Logical_Switch', row: { name: 'lan', external_ids: externalIds } }]);
    fixture.converge(new DesiredRows(rowInputs(lan)));
    expect(fixture.view.named('Logical_Switch', 'lan')[0]?.row['external_ids']).to.deep.equal(externalIds);
  });

  it('The difference reports a switch of another owner as a conflict, and inserts neither that switch nor its ports', () => {
    const fixture = new Fixture();
    fixture.write([
      { op: 'insert', table: 'Logical_Switch', row: { name: 'lan', external_ids: new Map([['vendor', 'kube-ovn']]) } },
    ]);
    const { conflicts } = fixture.converge(new DesiredRows(rowInputs({ ...lan, allocations: [allocationOf('a')] })));
    expect(conflicts).to.deep.equal([
      { key: 'Logical_Switch/lan', message: 'Logical_Switch lan exists and has another owner. Rename or delete it' },
    ]);
    expect(fixture.database.rows('Logical_Switch_Port').size).to.equal(0);
  });

  it('The difference keeps an unused switch while it has a port of another owner', () => {
    const fixture = new Fixture();
    fixture.write([
      { op: 'insert', table: 'Logical_Switch_Port', uuidName: 'port', row: { name: 'theirs' } },
      {
        op: 'insert',
        table: 'Logical_Switch',
        row: { name: 'old', external_ids: ownerIds(testLedger), ports: new Set([{ uuidName: 'port' }]) },
      },
    ]);
    const { conflicts } = fixture.converge(new DesiredRows(rowInputs()));
    expect(conflicts.map(({ key }) => key)).to.deep.equal(['Logical_Switch/old']);
    expect(fixture.database.rows('Logical_Switch_Port').size).to.equal(1);
  });

  it('The difference leaves out rows that the server rejected', () => {
    const desired = new DesiredRows(rowInputs({ ...lan, allocations: [allocationOf('a'), allocationOf('b')] }));
    const rejected = new Set(['Logical_Switch_Port/a.default.net.default.ovn']);
    const { keys } = diffRows(desired, new Fixture().view, { scope: 'all', limit: 1_000, rejected });
    expect(keys).to.include('Logical_Switch_Port/b.default.net.default.ovn');
    expect(keys).not.to.include('Logical_Switch_Port/a.default.net.default.ovn');
  });
});

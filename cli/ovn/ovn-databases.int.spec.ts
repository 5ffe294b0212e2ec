/** Reads the databases of OVN and Open vSwitch on real servers. */
import { expect } from 'chai';
import { vendor } from '../../lib/ovn/names.ts';
import { OvsdbClient } from '../../lib/ovsdb/client.ts';
import type { Operation } from '../../lib/ovsdb/transaction.ts';
import { probeOvn } from '../../test/harness/ovn/ovn-programs.ts';
import { type OvsdbServer, startOvsdbServer } from '../../test/harness/ovn/ovsdb-server.ts';
import { openRun, type Run } from '../../test/harness/run.ts';
import { readNodeSwitch, readNorthbound } from './ovn-databases.ts';

describe('The databases that the command line reads', function () {
  this.timeout(60_000);
  let run: Run;
  let northbound: OvsdbServer;
  let node: OvsdbServer;

  async function write(server: OvsdbServer, database: string, operations: readonly Operation[]): Promise<void> {
    const ended = new AbortController();
    const client = new OvsdbClient({ endpoints: [server.unix], database, signal: ended.signal });
    await client.ready(run.signal);
    await client.transact(operations);
    ended.abort();
  }

  before(async function () {
    const ability = probeOvn();
    if (!ability.isAvailable) {
      console.log(`      skipped: ${ability.reason}`);
      this.skip();
    }
    run = openRun();
    northbound = await startOvsdbServer(run, { name: 'nb', schema: 'northbound' });
    node = await startOvsdbServer(run, { name: 'ovs', schema: 'vswitch' });
    const ours = new Map([
      ['vendor', vendor],
      ['ipledger', 'ledger-1'],
    ]);
    const options = new Map([['requested-chassis', 'node-1']]);
    const row = {
      name: 'p',
      addresses: new Set(['02:00:00:00:00:01 10.0.0.2']),
      options,
      up: true,
      external_ids: ours,
    };
    await write(northbound, 'OVN_Northbound', [
      { op: 'insert', table: 'Logical_Switch_Port', row, uuidName: 'port' },
      {
        op: 'insert',
        table: 'Logical_Switch',
        row: { name: 'net', ports: new Set([{ uuidName: 'port' }]), external_ids: ours },
      },
      { op: 'insert', table: 'Logical_Switch', row: { name: 'foreign' } },
    ]);
    const ids = [
      ['vendor', vendor],
      ['iface-id', 'p'],
      ['container_id', 'c1'],
      ['pod_namespace', 'default'],
      ['pod_name', 'web'],
    ] as const;
    const port = (name: string, externalIds: ReadonlyMap<string, string>): Operation[] => [
      { op: 'insert', table: 'Interface', row: { name, external_ids: externalIds }, uuidName: `i_${name}` },
      {
        op: 'insert',
        table: 'Port',
        row: { name, interfaces: new Set([{ uuidName: `i_${name}` }]) },
        uuidName: `p_${name}`,
      },
    ];
    const ports = new Set([{ uuidName: 'p_a' }, { uuidName: 'p_b' }]);
    await write(node, 'Open_vSwitch', [
      ...port('a', new Map(ids)),
      ...port('b', new Map([['iface-id', 'foreign']])),
      { op: 'insert', table: 'Bridge', row: { name: 'br-int', ports }, uuidName: 'bridge' },
      {
        op: 'insert',
        table: 'Open_vSwitch',
        row: { bridges: new Set([{ uuidName: 'bridge' }]), external_ids: new Map([['system-id', 'node-1']]) },
      },
    ]);
  });
  after(() => run?.end());

  it('The databases that the command line reads have switches and ports, and which of them are ours', async () => {
    const state = await readNorthbound({ ovnNb: northbound.unix }, undefined, run.signal);
    expect(state?.switches).to.have.deep.members([
      { name: 'net', isOurs: true },
      { name: 'foreign', isOurs: false },
    ]);
    expect(state?.ports).to.deep.equal([
      {
        name: 'p',
        switch: 'net',
        isOurs: true,
        type: '',
        addresses: ['02:00:00:00:00:01 10.0.0.2'],
        requestedChassis: 'node-1',
        isUp: true,
      },
    ]);
  });

  it('The databases that the command line reads have rows of another ledger that are not ours', async () => {
    const own = await readNorthbound({ ovnNb: northbound.unix }, 'ledger-1', run.signal);
    const other = await readNorthbound({ ovnNb: northbound.unix }, 'ledger-2', run.signal);
    expect(own?.ports[0]?.isOurs).to.equal(true);
    expect(other?.ports[0]?.isOurs).to.equal(false);
  });

  it('The databases that the command line reads have the interfaces of node agents, and the names of the node', async () => {
    const state = await readNodeSwitch({ ovsDb: node.unix }, run.signal);
    expect([...(state?.nodeNames ?? [])]).to.deep.equal(['node-1']);
    expect(state?.interfaces).to.deep.equal([{ name: 'a', port: 'p', containerId: 'c1', pod: 'default/web' }]);
  });

  it('The databases that the command line reads are not read without the option', async () => {
    expect(await readNorthbound({}, undefined, run.signal)).to.equal(undefined);
    expect(await readNodeSwitch({ ovsDb: '' }, run.signal)).to.equal(undefined);
  });

  it('The databases that the command line reads fail with the option and the reason when they cannot be read', async () => {
    const failure = async (promise: Promise<unknown>): Promise<string> =>
      promise.then(
        () => '',
        (error: unknown) => (error instanceof Error ? error.message : ''),
      );
    expect(await failure(readNorthbound({ ovnNb: 'nonsense' }, undefined, run.signal))).to.contain(
      '--ovn-nb: OVN_Northbound cannot be read: nonsense is no OVSDB endpoint',
    );
    expect(await failure(readNorthbound({ ovnNb: node.unix }, undefined, run.signal))).to.contain(
      '--ovn-nb: OVN_Northbound cannot be read: ',
    );
  });
});

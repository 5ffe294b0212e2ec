/** Tests the agent's connection to a real Open_vSwitch database. */
import { textMap } from '../../../lib/ovsdb/values.ts';
import { expect } from 'chai';
import { pino } from 'pino';
import { IpledgerError } from '../../../lib/errors.ts';
import { openOvsRun } from '../../../lib/ovsdb/testing/test-database.ts';
import { type OvsdbServer, startOvsdbServer } from '../../../test/harness/ovn/ovsdb-server.ts';
import type { Run } from '../../../test/harness/run.ts';
import { OvsDatabase } from './ovs-database.ts';

describe('The agent’s Open vSwitch database', () => {
  let run: Run;
  let server: OvsdbServer;
  let ovs: OvsDatabase;
  before(async function () {
    run = openOvsRun(this);
    server = await startOvsdbServer(run, { name: 'ovs', schema: 'vswitch' });
    ovs = new OvsDatabase({ endpoint: server.unix, log: pino({ level: 'silent' }), signal: run.signal });
    await ovs.ready(run.signal);
  });
  after(() => run?.end());

  it('The agent’s Open vSwitch database resolves a wait when a change of the database fulfils it, and finds rows by name', async () => {
    expect(ovs.root()).to.equal(undefined);
    const seen = ovs.when(() => ovs.root(), run.signal);
    await ovs.transact([
      { op: 'insert', table: 'Bridge', uuidName: 'b', row: { name: 'br-int', external_ids: new Map([['k', 'v']]) } },
      { op: 'insert', table: 'Open_vSwitch', row: { bridges: new Set([{ uuidName: 'b' }]) } },
    ]);
    const { row } = await seen;
    const bridge = ovs.named('Bridge', 'br-int');
    expect(row['bridges']).to.deep.equal(new Set([bridge?.uuid]));
    expect(textMap(bridge?.row['external_ids']).get('k')).to.equal('v');
    expect(ovs.named('Bridge', 'br-ex')).to.equal(undefined);
  });

  it('The agent’s Open vSwitch database ends a wait with the reason of its signal, and with an error of its condition', async () => {
    const reason = new Error('too late');
    const outcomes = await Promise.allSettled([
      ovs.when(() => undefined, AbortSignal.abort(reason)),
      ovs.when(() => {
        throw new Error('impossible');
      }, run.signal),
    ]);
    expect(outcomes.map((outcome) => outcome.status === 'rejected' && String(outcome.reason))).to.deep.equal([
      'Error: too late',
      'Error: impossible',
    ]);
  });

  it('The agent’s Open vSwitch database keeps its rows while the server is down, and connects again', async () => {
    await server.stop();
    await ovs.when(() => (ovs.isConnected ? undefined : true), run.signal);
    expect(ovs.named('Bridge', 'br-int')).to.not.equal(undefined);
    const error: unknown = await ovs.ready(AbortSignal.abort()).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(IpledgerError).with.property('code', 'DATA_PATH_FAILED');
    expect((error as IpledgerError).message).to.contain(`correct --ovs-db ${server.unix}`);
    await server.start();
    await ovs.when(() => ovs.isConnected || undefined, run.signal);
    await ovs.ready(run.signal);
  });
});

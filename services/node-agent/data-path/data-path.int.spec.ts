/** Tests the data path on a real Open_vSwitch database, without OVN and links. */
import { expect } from 'chai';
import { pino } from 'pino';
import { openOvsRun } from '../../../lib/ovsdb/testing/test-database.ts';
import { startOvsdbServer } from '../../../test/harness/ovn/ovsdb-server.ts';
import type { Run } from '../../../test/harness/run.ts';
import { OvsDatabase } from '../ovs/ovs-database.ts';
import { allocation, request } from '../testing/fakes.ts';
import { DataPath } from './data-path.ts';
import { ownedPorts } from './ovs-port.ts';
import type { PodLinks } from './pod-links.ts';

const node = 'node-1';
const bridge = 'br-int';

describe('The data path of an agent', () => {
  let run: Run;
  let ovs: OvsDatabase;
  before(async function () {
    run = openOvsRun(this);
    const server = await startOvsdbServer(run, { name: 'ovs', schema: 'vswitch' });
    ovs = new OvsDatabase({ endpoint: server.unix, log: pino({ level: 'silent' }), signal: run.signal });
    await ovs.ready(run.signal);
    await ovs.transact([
      { op: 'insert', table: 'Bridge', uuidName: 'b', row: { name: bridge } },
      {
        op: 'insert',
        table: 'Open_vSwitch',
        row: { bridges: new Set([{ uuidName: 'b' }]), external_ids: new Map([['hostname', node]]) },
      },
    ]);
  });
  after(() => run?.end());

  it('an ADD that ends while the insertion of its port has no answer leaves no port', async () => {
    const caller = new AbortController();
    const done = (): Promise<void> => Promise.resolve();
    const links: PodLinks = { create: done, configure: done, announce: done, remove: done };
    // Ends the caller as soon as the first transaction is sent.
    const transact = ovs.transact.bind(ovs);
    ovs.transact = (operations) => {
      ovs.transact = transact;
      const answer = transact(operations);
      caller.abort();
      return answer;
    };
    const dataPath = new DataPath({
      ovs,
      bridge,
      node,
      read: () => Promise.resolve({ metadata: {}, spec: { mtu: 1_400 } }),
      links,
      mtuOf: () => undefined,
      readSouthbound: () => Promise.reject(new Error('not read')),
      metrics: { time: (_step, work) => work(), failed: () => undefined },
      signal: run.signal,
      log: pino({ level: 'silent' }),
    });
    const attachment = { namespace: 'default', pod: 'p', provider: 'macvlan.default', ordinal: 0 };
    const limit = { until: performance.now() + 20_000, signal: caller.signal };
    const failed = await dataPath
      .attach(request({ netns: '/run/netns/x' }), { ...allocation, attachment, mac: '02:00:00:00:00:11' }, limit)
      .catch((error: unknown) => error);
    expect(failed).to.have.property('code', 'CANCELLED');
    // The database answers in order: what was sent before is in the replica now.
    await ovs.transact([]);
    expect(ownedPorts(ovs)).to.deep.equal([]);
  });
});

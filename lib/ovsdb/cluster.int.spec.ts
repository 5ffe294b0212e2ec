/** Tests the client on a cluster of three ovsdb-servers. */
import { expect } from 'chai';
import { type OvsdbServer, startOvsdbCluster } from '../../test/harness/ovn/ovsdb-server.ts';
import type { Run } from '../../test/harness/run.ts';
import { connectClient, failuresOf, insertItem, openOvsRun, testSchema } from './testing/test-database.ts';

describe('On a cluster, the OVSDB client', () => {
  let run: Run;
  let servers: OvsdbServer[];
  before(async function () {
    run = openOvsRun(this);
    servers = await startOvsdbCluster(run, { name: 'test', schema: testSchema, size: 3 });
  });
  after(() => run?.end());

  const endpoints = (): string[] => servers.map(({ unix }) => unix);
  const isLeader = async (server: OvsdbServer): Promise<boolean> =>
    /^Role: leader$/m.test(await server.control(['cluster/status', testSchema.name]));

  it('On a cluster, the OVSDB client connects to the leader', async () => {
    const own = connectClient(run, { endpoints: endpoints() });
    await own.client.ready();
    for (const server of servers) expect(await isLeader(server)).to.equal(own.client.endpoint === server.unix);
    await own.end();
  });

  it('On a cluster, the OVSDB client uses a follower only if needsLeader is false', async () => {
    const leader = connectClient(run, { endpoints: endpoints() });
    await leader.client.ready();
    const followers = endpoints().filter((endpoint) => endpoint !== leader.client.endpoint);
    const strict = connectClient(run, { endpoints: followers });
    await strict.until(() =>
      failuresOf(strict).some(({ message }) => message === 'the server is not the leader of Test'),
    );
    const reader = connectClient(run, { endpoints: followers, needsLeader: false });
    await reader.client.ready();
    await leader.client.transact([insertItem({ name: 'follower' })]);
    await reader.until(() => reader.items().includes('follower'));
    await Promise.all([leader, strict, reader].map((each) => each.end()));
  });

  it('On a cluster, the OVSDB client follows the next leader when the leader is killed, and receives only what its replica lacks', async () => {
    const own = connectClient(run, { endpoints: endpoints() });
    const witness = connectClient(run, { endpoints: endpoints() });
    await Promise.all([own.client.ready(), witness.client.ready()]);
    await own.client.transact([insertItem({ name: 'before' })]);
    await witness.until(() => witness.items().includes('before'));
    const lost = servers.find(({ unix }) => unix === own.client.endpoint);
    await lost?.kill();
    for (const each of [own, witness]) await each.until(() => each.client.endpoint !== lost?.unix);

    await witness.client.ready();
    await witness.client.transact([insertItem({ name: 'after' })]);
    await own.until(() => own.items().includes('after'));
    expect(own.items()).to.include.members(['before', 'after']);
    await own.client.ready();
    expect(own.client.endpoint).to.not.equal(lost?.unix);
    expect(own.updates.filter(({ isReload }) => isReload)).to.have.lengthOf(1);
    expect(own.statuses.at(-1)).to.deep.equal({ isConnected: true, isResumed: true, endpoint: own.client.endpoint });
    await Promise.all([own.end(), witness.end()]);
    await lost?.start();
  });

  it('On a cluster, the OVSDB client disconnects from a server that transfers its leadership', async () => {
    const own = connectClient(run, { endpoints: endpoints() });
    await own.client.ready();
    const first = own.client.endpoint;
    const leader = servers.find(({ unix }) => unix === first);
    // The election may give the leadership to the same server again.
    while (own.client.endpoint === first) {
      const known = own.statuses.length;
      await leader?.control(['cluster/failure-test', 'transfer-leadership']);
      await own.until(() => own.statuses.slice(known).some(({ isConnected }) => isConnected));
      expect(own.statuses[known]).to.have.nested.property('error.message', 'the server is not the leader of Test');
    }
    await own.end();
  });
});

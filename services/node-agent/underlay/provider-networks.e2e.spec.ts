/**
 * Tests the agent as a process: it reads ProviderNetworks of a real API server with its own
 * account, and reports those that it refuses.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { stringify } from 'yaml';
import { openOvsRun } from '../../../lib/ovsdb/testing/test-database.ts';
import { eventually } from '../../../test/e2e/support/eventually.ts';
import { type Cluster, startCluster } from '../../../test/harness/kubernetes/cluster.ts';
import { runOvn } from '../../../test/harness/ovn/ovn-programs.ts';
import { startOvsdbServer } from '../../../test/harness/ovn/ovsdb-server.ts';
import { root } from '../../../test/harness/paths.ts';
import { findFreePort } from '../../../test/harness/processes/free-ports.ts';
import { type Server, startServer } from '../../../test/harness/processes/server.ts';
import type { Run } from '../../../test/harness/run.ts';
import { agentLaunch } from '../../../test/harness/services.ts';
import { startLedger } from '../../../test/harness/stack.ts';

const account = 'system:serviceaccount:kube-system:ipledger-node-agent';

describe('The agent of a node with Open vSwitch', function () {
  this.timeout(120_000);
  let run: Run;
  let cluster: Cluster;
  let agent: Server;
  let health: string;

  before(async function () {
    run = openOvsRun(this);
    const [started, [, allocator], ovs] = await Promise.all([
      startCluster(run, { controllers: false }),
      startLedger(run),
      startOvsdbServer(run, { name: 'ovs', schema: 'vswitch' }),
    ]);
    cluster = started;
    await runOvn(run.folder, 'ovs-vsctl', [`--db=${ovs.unix}`, '--no-wait', 'init']);
    await cluster.apply(readFileSync(join(root, 'deploy/rbac.yaml'), 'utf8'));
    // Names interfaces that this machine does not have, so that the test changes none.
    const networks = [
      { name: 'missing', spec: { defaultInterface: 'no-such-nic' } },
      { name: 'exchanged', spec: { defaultInterface: 'no-such-nic', exchangeLinkName: true } },
      { name: 'elsewhere', spec: { defaultInterface: 'no-such-nic', excludeNodes: ['node-1'] } },
    ];
    const object = { apiVersion: 'kubeovn.io/v1', kind: 'ProviderNetwork' };
    await cluster.apply(
      networks.map(({ name, spec }) => stringify({ ...object, metadata: { name }, spec })).join('---\n'),
    );
    health = `127.0.0.1:${await findFreePort()}`;
    const launch = agentLaunch({
      name: 'node-agent',
      allocator: allocator.endpoint,
      kubeconfig: await cluster.kubeconfigFor(account, ['system:serviceaccounts', 'system:authenticated']),
      healthListen: health,
      node: 'node-1',
      sockets: [join(run.folder, 'agent.sock')],
      pendingDels: join(run.folder, 'pending-dels'),
      bindings: join(run.folder, 'bindings'),
    });
    const { env } = launch;
    agent = await startServer(run, { ...launch, env: { ...env, IPLEDGER_OVS_DB: ovs.unix } });
  });
  after(() => run?.end());

  it('The agent counts and logs the networks that it refuses, with the reason', async () => {
    const metrics = async (): Promise<string> => (await fetch(`http://${health}/metrics`)).text();
    await eventually(async () => expect(await metrics()).to.contain('ipledger_provider_networks{state="refused"} 2'));
    expect(await metrics()).to.contain('ipledger_provider_networks{state="served"} 0');
    const log = readFileSync(agent.log, 'utf8');
    expect(log).to.contain('ProviderNetwork missing is not available on this node: the node has no NIC no-such-nic');
    expect(log).to.contain(
      'ProviderNetwork exchanged is not available on this node: spec.exchangeLinkName is not supported',
    );
    expect(log).to.not.match(/forbidden/i);
  });
});

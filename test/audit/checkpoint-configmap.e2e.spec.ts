/** A pod-watcher with the permissions of deploy/rbac.yaml stores checkpoints in a ConfigMap. */
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../e2e/support/eventually.ts';
import { type Cluster, startCluster } from '../harness/kubernetes/cluster.ts';
import { root } from '../harness/paths.ts';
import { findFreePort } from '../harness/processes/free-ports.ts';
import { openRun, type Run } from '../harness/run.ts';
import { startServer } from '../harness/processes/server.ts';
import { watcherLaunch } from '../harness/services.ts';
import { documentedCommands } from '../docs/documented-commands.ts';
import { runDocumented } from '../docs/run-documented.ts';
import { type SigningAllocator, startSigningAllocator } from './signing-allocator.ts';

describe('The checkpoint ConfigMap', function () {
  this.timeout(180_000);
  let run: Run;
  let cluster: Cluster;
  let allocator: SigningAllocator;
  before(async () => {
    run = openRun();
    cluster = await startCluster(run, { controllers: false });
    await cluster.apply(join(root, 'deploy', 'rbac.yaml'));
    allocator = await startSigningAllocator(run, cluster.etcd);
    const kubeconfig = await cluster.kubeconfigFor('system:serviceaccount:kube-system:ipledger-pod-watcher');
    const healthListen = `127.0.0.1:${await findFreePort()}`;
    const launch = watcherLaunch({ name: 'pod-watcher', allocator: allocator.endpoint, kubeconfig, healthListen });
    await startServer(run, { ...launch, env: { ...launch.env, IPLEDGER_CHECKPOINT_INTERVAL: '1' } });
  });
  after(() => run.end());

  const notes = async (): Promise<string[]> => {
    const found = await cluster.get(['configmap', '-n', 'kube-system', 'ipledger-checkpoints']);
    return Object.values((found as { data: Record<string, string> }).data);
  };

  it('The checkpoint ConfigMap receives new checkpoints, which verify the ledger', async () => {
    await eventually(async () => expect(await notes()).to.have.length(1));
    await cluster.apply(
      `{"apiVersion":"kubeovn.io/v1","kind":"Subnet","metadata":{"name":"macvlan"},"spec":{"protocol":"IPv4","cidrBlock":"172.17.0.0/16","gateway":"172.17.0.1","provider":"macvlan.default"}}`,
    );
    await eventually(async () => expect(await notes()).to.have.length.at.least(2));
    const commands = documentedCommands('docs/audit.md', 'checkpoints')
      .replace('http://127.0.0.1:2379', cluster.etcd.endpoint)
      .replace('checkpoint.key.pub', allocator.verifier);
    const { code, stdout, stderr } = await runDocumented(run, commands, { KUBECONFIG: cluster.kubeconfig });
    expect([code, stderr], stdout).to.deep.equal([0, '']);
    expect(stdout).to.match(/no findings/);
  });
});

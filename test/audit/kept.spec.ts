/** Checkpoints in a ConfigMap: kept by a pod-watcher that may do what deploy/rbac.yaml says, and no more. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../e2e/eventually.ts';
import { type Cluster, startCluster } from '../harness/cluster.ts';
import { root } from '../harness/paths.ts';
import { freePort } from '../harness/ports.ts';
import { openRun, type Run } from '../harness/run.ts';
import { startServer } from '../harness/server.ts';
import { ipledger, watcherLaunch } from '../harness/services.ts';
import { type Signing, startSigning } from './allocator.ts';

describe('Checkpoints in the cluster', function () {
  this.timeout(180_000);
  let run: Run;
  let cluster: Cluster;
  let allocator: Signing;
  before(async () => {
    run = openRun();
    cluster = await startCluster(run, { controllers: false });
    await cluster.apply(join(root, 'deploy', 'rbac.yaml'));
    allocator = await startSigning(run, cluster.etcd);
    const kubeconfig = await cluster.kubeconfigFor('system:serviceaccount:kube-system:ipledger-pod-watcher');
    const healthListen = `127.0.0.1:${await freePort()}`;
    const launch = watcherLaunch({ name: 'pod-watcher', allocator: allocator.endpoint, kubeconfig, healthListen });
    await startServer(run, { ...launch, env: { ...launch.env, IPLEDGER_CHECKPOINT_INTERVAL: '1' } });
  });
  after(() => run.end());

  const notes = async (): Promise<string[]> => {
    const found = await cluster.get(['configmap', '-n', 'kube-system', 'ipledger-checkpoints']);
    return Object.values((found as { data: Record<string, string> }).data);
  };

  it('are kept as the ledger goes on, and it is held to them', async () => {
    await eventually(async () => expect(await notes()).to.have.length(1));
    await cluster.apply(
      `{"apiVersion":"kubeovn.io/v1","kind":"Subnet","metadata":{"name":"macvlan"},"spec":{"protocol":"IPv4","cidrBlock":"172.17.0.0/16","gateway":"172.17.0.1","provider":"macvlan.default"}}`,
    );
    await eventually(async () => expect(await notes()).to.have.length.at.least(2));
    const file = join(run.folder, 'kept');
    writeFileSync(file, (await notes()).join('\n'));
    const args = ['verify', '--etcd', cluster.etcd.endpoint, '--checkpoint', file, '--key', allocator.verifier];
    const { code, stdout, stderr } = await ipledger(args);
    expect([code, stderr], stdout).to.deep.equal([0, '']);
  });
});

/** Tests `ipledger uninstall` on a real cluster: it removes the finalizers and keeps the ledger. */
import { expect } from 'chai';
import { runIpledger } from '../../harness/ipledger-cli.ts';
import type { CommandResult } from '../../harness/processes/command.ts';
import { eventually } from '../support/eventually.ts';
import {
  waitForAddress,
  makeNetworkAndSubnet,
  makePod,
  openTestEnvironment,
  type TestEnvironment,
} from '../support/test-environment.ts';

const crds = ['subnets', 'ippools', 'ips', 'vips'].map((plural) => `${plural}.kubeovn.io`);

describe('ipledger uninstall', function () {
  this.timeout(180_000);
  let scene: TestEnvironment;
  let address: string;
  before(async () => {
    scene = await openTestEnvironment({ ownCluster: true });
    const { kubernetes } = scene;
    await makeNetworkAndSubnet(scene, 'lan', '10.8.0.0/24');
    await kubernetes.create({
      kind: 'IPPool',
      metadata: { name: 'few' },
      spec: { subnet: 'lan', ips: ['10.8.0.100'] },
    });
    await kubernetes.create({ kind: 'Vip', metadata: { name: 'front' }, spec: { subnet: 'lan', v4ip: '10.8.0.50' } });
    const later = { podName: 'later', namespace: 'default', subnet: 'lan', v4IpAddress: '10.8.0.60' };
    await kubernetes.create({ kind: 'IP', metadata: { name: 'later.default.lan.default' }, spec: later });
    const ranges = { ipv4Subnets: [{ subnet: '10.9.0.0/24' }] };
    await kubernetes.create({ kind: 'Network', metadata: { name: 'virtual' }, spec: ranges });
    await makePod(scene, 'claimant', JSON.stringify([{ name: 'lan', 'ipam-claim-reference': 'vm1' }]));
    for (const pod of ['web', 'job']) await makePod(scene, pod, 'lan');
    for (const pod of ['claimant', 'web', 'job']) address = await waitForAddress(scene, pod, 'lan');
    await eventually(async () => {
      expect(await listFinalized()).to.have.length(7);
      expect(await listNames()).to.include.members(['web.default.lan.default', 'job.default.lan.default']);
    });
  });
  after(() => scene?.run.end());

  function ipledger(...args: string[]): Promise<CommandResult> {
    const { allocator, cluster } = scene.stack;
    return runIpledger(args, { allocator, kubeconfig: cluster.kubeconfig });
  }
  const kinds = ['Subnet', 'IPPool', 'Vip', 'IP', 'IPAMClaim', 'Network'] as const;
  const listAll = async () => (await Promise.all(kinds.map((kind) => scene.kubernetes.list(kind)))).flat();
  const listNames = async (): Promise<string[]> => (await listAll()).map(({ metadata }) => metadata.name);
  /** Lists the objects with a finalizer. */
  const listFinalized = async (): Promise<string[]> =>
    (await listAll())
      .filter(({ metadata }) => (metadata.finalizers ?? []).length > 0)
      .map(({ metadata }) => metadata.name);

  it('ipledger uninstall fails while a pod-watcher runs', async () => {
    const { code, stderr } = await ipledger('uninstall', '--yes');
    expect(code).to.equal(1);
    expect(stderr).to.contain('a pod-watcher is running').and.contain('kubectl scale deployment ipledger-pod-watcher');
    expect(await listFinalized()).to.have.length(7);
  });

  it('ipledger uninstall without --yes changes nothing', async () => {
    await scene.stack.watcher.stop();
    const { code, stderr } = await ipledger('uninstall');
    expect(code).to.equal(2);
    expect(stderr).to.contain('3 IP objects will be deleted').and.contain('add --yes');
    expect(await listFinalized()).to.have.length(7);
  });

  it('ipledger uninstall keeps the users’ objects without finalizers, and prints the remaining steps', async () => {
    const { code, stdout, stderr } = await ipledger('uninstall', '--yes');
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(await listFinalized()).to.be.empty;
    const ofUsers = ['lan', 'few', 'front', 'later.default.lan.default', 'vm1', 'virtual', 'virtual'];
    expect(await listNames()).to.have.members(ofUsers);
    expect(stdout)
      .to.contain('3 Pods on 1 node still have addresses:')
      .and.contain('DaemonSet')
      .and.contain('helm uninstall ipledger')
      .and.contain('delete crd');
    const leases = await scene.kubernetes.list('Lease', 'fieldSelector=metadata.name=ipledger-pod-watcher');
    expect(leases).to.be.empty;
  });

  it('ipledger uninstall permits the deletion of the CustomResourceDefinitions', async () => {
    const { kubectl } = scene.stack.cluster;
    await kubectl(['delete', 'crd', ...crds, '--timeout=60s']);
    const remaining = await kubectl(['get', 'crd', '-o', 'name']);
    for (const crd of crds) expect(remaining).to.not.contain(crd);
  });

  it('ipledger uninstall keeps the ledger and its history', async () => {
    const { code, stdout } = await ipledger('history', address, '--subnet', 'lan');
    expect({ code, stdout }).to.have.property('code', 0);
    expect(stdout).to.contain('default/job');
  });
});

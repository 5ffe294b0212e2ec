/** `ipledger uninstall`: afterwards nothing of ours holds anything in Kubernetes, and the ledger remembers. */
import { join } from 'node:path';
import { expect } from 'chai';
import { type CommandResult, runCommand } from '../harness/command.ts';
import { childEnvironment } from '../harness/launch.ts';
import { root } from '../harness/paths.ts';
import { eventually } from './eventually.ts';
import { addressOf, makeNetworkAndSubnet, makePod, openScene, type Scene } from './scene.ts';

const crds = ['subnets', 'ippools', 'ips', 'vips'].map((plural) => `${plural}.kubeovn.io`);

describe('ipledger uninstall', function () {
  this.timeout(180_000);
  let scene: Scene;
  let address: string;
  before(async () => {
    scene = await openScene();
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
    for (const pod of ['web', 'job']) await makePod(scene, pod, 'lan');
    for (const pod of ['web', 'job']) address = await addressOf(scene, pod, 'lan');
    await eventually(async () => {
      expect(await held()).to.have.length(4);
      expect(await names()).to.include.members(['web.default.lan.default', 'job.default.lan.default']);
    });
  });
  after(() => scene?.run.end());

  function ipledger(...args: string[]): Promise<CommandResult> {
    const { allocator, cluster } = scene.stack;
    const env = childEnvironment({ IPLEDGER_ENDPOINT: allocator.endpoint, KUBECONFIG: cluster.kubeconfig });
    return runCommand(join(root, 'cli', 'ipledger'), args, { env });
  }
  const kinds = ['Subnet', 'IPPool', 'Vip', 'IP'] as const;
  const all = async () => (await Promise.all(kinds.map((kind) => scene.kubernetes.list(kind)))).flat();
  const names = async (): Promise<string[]> => (await all()).map(({ metadata }) => metadata.name);
  /** What something holds. */
  const held = async (): Promise<string[]> =>
    (await all()).filter(({ metadata }) => (metadata.finalizers ?? []).length > 0).map(({ metadata }) => metadata.name);

  it('refuses while a pod-watcher runs, which would put everything back', async () => {
    const { code, stderr } = await ipledger('uninstall', '--yes');
    expect(code).to.equal(1);
    expect(stderr).to.contain('a pod-watcher is running').and.contain('stop it first');
    expect(await held()).to.have.length(4);
  });

  it('destroys nothing unless it is told to', async () => {
    await scene.stack.watcher.stop();
    const { code, stderr } = await ipledger('uninstall');
    expect(code).to.equal(2);
    expect(stderr).to.contain('2 IP objects will be deleted').and.contain('say --yes');
    expect(await held()).to.have.length(4);
  });

  it('leaves what is the users’, held by nobody, and says what is left to do', async () => {
    const { code, stdout, stderr } = await ipledger('uninstall', '--yes');
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(await held()).to.be.empty;
    expect(await names()).to.have.members(['lan', 'few', 'front', 'later.default.lan.default']);
    expect(stdout)
      .to.contain('addresses are held by 2 Pods on 1 node:')
      .and.contain('DaemonSet')
      .and.contain('delete crd');
    const leases = await scene.kubernetes.list('Lease', 'fieldSelector=metadata.name=ipledger-pod-watcher');
    expect(leases).to.be.empty;
  });

  it('lets the CustomResourceDefinitions be deleted', async () => {
    const { kubectl } = scene.stack.cluster;
    await kubectl(['delete', 'crd', ...crds, '--timeout=60s']);
    const left = await kubectl(['get', 'crd', '-o', 'name']);
    for (const crd of crds) expect(left).to.not.contain(crd);
  });

  it('keeps the ledger, which still tells who had an address', async () => {
    const { code, stdout } = await ipledger('history', address, '--subnet', 'lan');
    expect({ code, stdout }).to.have.property('code', 0);
    expect(stdout).to.contain('default/job');
  });
});

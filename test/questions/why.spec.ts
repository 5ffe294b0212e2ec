import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../e2e/eventually.ts';
import { addressOf, makeNetworkAndSubnet, makePod, openScene, type Scene } from '../e2e/scene.ts';
import { type CommandResult, runCommand } from '../harness/command.ts';
import { childEnvironment } from '../harness/launch.ts';
import { root } from '../harness/paths.ts';
import { findProgram } from '../harness/programs.ts';

describe('kubectl ipledger why, with a cluster', function () {
  this.timeout(120_000);
  let scene: Scene;
  before(async () => {
    scene = await openScene();
    await makeNetworkAndSubnet(scene, 'lan', '10.8.0.0/16');
  });
  after(() => scene?.run.end());

  /** As kubectl runs it: a plugin that it finds on PATH. */
  async function why(pod: string): Promise<CommandResult> {
    const { allocator, cluster } = scene.stack;
    const env = childEnvironment({ IPLEDGER_ENDPOINT: allocator.endpoint, KUBECONFIG: cluster.kubeconfig });
    return runCommand(join(root, 'cli', 'kubectl-ipledger'), ['why', pod], { env, signal: scene.run.signal });
  }

  it('is completed by kubectl', async () => {
    const env = { ...process.env, PATH: `${join(root, 'cli')}:${process.env['PATH']}` };
    const { stdout } = await runCommand(await findProgram('kubectl'), ['__complete', 'ipledger', 'why', '--ind'], {
      env,
      signal: scene.run.signal,
    });
    expect(stdout).to.equal('--index\n:4\n');
  });

  it('tells a Pod that hangs from one that is served, and says what each waits for', async () => {
    await makePod(scene, 'first', 'lan');
    const address = await addressOf(scene, 'first', 'lan');
    await makePod(scene, 'second', 'lan', { 'lan.default.kubernetes.io/ip_address': address });
    await eventually(async () => {
      const { code, stdout, stderr } = await why('default/second');
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
      expect(stdout).to.contain(`it waits for an address for lan.default: `).and.to.contain('Pod default/first');
      expect(stdout).to.match(/in the cluster \(uid [-0-9a-f]+\)\n {2}Pending, on node node-1, created /);
      expect(stdout).to.match(/Event \w+: .*AddressConflict: /);
    });
    const { stdout } = await why('default/first');
    expect(stdout).to.contain(`it has ${address} of subnet lan, and waits for node node-1: no CNI ADD of lan.default`);
  });

  it('says of a Pod that wants no attachment, and of one that nobody knows, that it is so', async () => {
    await makePod(scene, 'plain', '');
    const plain = await why('default/plain');
    expect(plain.code).to.equal(0);
    expect(plain.stdout).to.contain('and so wants no attachment');
    const nobody = await why('default/nobody');
    expect(nobody.code).to.equal(4);
    expect(nobody.stdout).to.contain('neither the ledger nor the cluster knows a Pod of that name');
  });

  it('says so of a Pod that is gone, and was given what it had', async () => {
    await makePod(scene, 'gone', 'lan');
    const address = await addressOf(scene, 'gone', 'lan');
    await scene.kubernetes.remove('Pod', 'gone');
    await eventually(async () => {
      const { code, stdout } = await why('default/gone');
      expect(code).to.equal(0);
      expect(stdout)
        .to.contain('default/gone has no address any more\n')
        .and.to.contain(`lost ${address}: pod-deleted`);
    });
  });
});

/** `kubectl ipledger why` as a kubectl plugin, with a cluster and a ledger. */
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../e2e/support/eventually.ts';
import {
  waitForAddress,
  makeNetworkAndSubnet,
  makePod,
  openTestEnvironment,
  type TestEnvironment,
} from '../e2e/support/test-environment.ts';
import { type CommandResult, runCommand } from '../harness/processes/command.ts';
import { childEnvironment } from '../harness/processes/launch.ts';
import { root } from '../harness/paths.ts';
import { findProgram } from '../harness/programs/find-program.ts';

describe('kubectl ipledger why, with a cluster', function () {
  this.timeout(120_000);
  let environment: TestEnvironment;
  before(async () => {
    environment = await openTestEnvironment();
    await makeNetworkAndSubnet(environment, 'lan', '10.8.0.0/16');
  });
  after(() => environment?.run.end());

  /** Runs the plugin as kubectl does. */
  async function why(pod: string): Promise<CommandResult> {
    const { allocator, cluster } = environment.stack;
    const env = childEnvironment({ IPLEDGER_ENDPOINT: allocator.endpoint, KUBECONFIG: cluster.kubeconfig });
    return runCommand(join(root, 'cli', 'kubectl-ipledger'), ['why', pod], { env, signal: environment.run.signal });
  }

  it('kubectl ipledger why offers completions to kubectl', async () => {
    const env = { ...process.env, PATH: `${join(root, 'cli')}:${process.env['PATH']}` };
    const { stdout } = await runCommand(await findProgram('kubectl'), ['__complete', 'ipledger', 'why', '--read'], {
      env,
      signal: environment.run.signal,
    });
    expect(stdout).to.equal('--read-model\n:4\n');
  });

  it('kubectl ipledger why explains the wait of a Pod, with and without an address', async () => {
    await makePod(environment, 'first', 'lan');
    const address = await waitForAddress(environment, 'first', 'lan');
    await makePod(environment, 'second', 'lan', { 'lan.default.kubernetes.io/ip_address': address });
    await eventually(async () => {
      const { code, stdout, stderr } = await why('default/second');
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
      expect(stdout).to.contain(`it waits for an address of lan.default: `).and.to.contain('Pod default/first');
      expect(stdout).to.match(/in the cluster \(uid [-0-9a-f]+\)\n {2}Pending, on node node-1, created /);
      expect(stdout).to.match(/Event \w+: .*AddressConflict: /);
    });
    const { stdout } = await why('default/first');
    expect(stdout).to.contain(
      `it has ${address} of subnet lan, and no CNI ADD of lan.default has succeeded on node node-1`,
    );
  });

  it('kubectl ipledger why reports a Pod without attachments, and exits with status 4 for an unknown Pod', async () => {
    await makePod(environment, 'plain', '');
    const plain = await why('default/plain');
    expect(plain.code).to.equal(0);
    expect(plain.stdout).to.contain('so it needs no attachment');
    const unknown = await why('default/unknown');
    expect(unknown.code).to.equal(4);
    expect(unknown.stdout).to.contain('no Pod with this name is in the ledger or in the cluster');
  });

  it('kubectl ipledger why prints the release of a deleted Pod', async () => {
    await makePod(environment, 'deleted', 'lan');
    const address = await waitForAddress(environment, 'deleted', 'lan');
    await environment.kubernetes.remove('Pod', 'deleted');
    await eventually(async () => {
      const { code, stdout } = await why('default/deleted');
      expect(code).to.equal(0);
      expect(stdout)
        .to.contain('default/deleted has no address any more\n')
        .and.to.contain(`${address} released: pod-deleted`);
    });
  });
});

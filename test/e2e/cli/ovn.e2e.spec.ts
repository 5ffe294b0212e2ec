/**
 * Tests `ipledger check` and `ipledger why` with OVN: the rows that a real projector writes, and
 * differences that other programs make.
 */
import { expect } from 'chai';
import { pino } from 'pino';
import { insertPortOperations } from '../../../services/node-agent/data-path/ovs-port.ts';
import { nicPlan } from '../../../services/node-agent/data-path/testing/ovs-rows.ts';
import { OvsDatabase } from '../../../services/node-agent/ovs/ovs-database.ts';
import { runIpledger } from '../../harness/ipledger-cli.ts';
import { type OvnCentral, startOvnCentral } from '../../harness/ovn/ovn-central.ts';
import { probeOvn, runOvn } from '../../harness/ovn/ovn-programs.ts';
import { type OvsdbServer, startOvsdbServer } from '../../harness/ovn/ovsdb-server.ts';
import type { CommandResult } from '../../harness/processes/command.ts';
import { startOvnProjector, type WatcherServer } from '../../harness/services.ts';
import { eventually } from '../support/eventually.ts';
import {
  makeNetwork,
  makePod,
  makeSubnet,
  openTestEnvironment,
  type TestEnvironment,
} from '../support/test-environment.ts';

const provider = 'net.default.ovn';
const port = `web.default.${provider}`;

describe('The command line with OVN', function () {
  this.timeout(180_000);
  let scene: TestEnvironment;
  let central: OvnCentral;
  let projector: WatcherServer;
  let node: OvsdbServer;

  const run = (...args: string[]): Promise<CommandResult> => {
    const { allocator, cluster } = scene.stack;
    return runIpledger(args, { allocator, kubeconfig: cluster.kubeconfig });
  };
  const check = (...args: string[]): Promise<CommandResult> =>
    run('check', '--ovn-nb', central.northbound.unix, ...args);

  before(async function () {
    const ovn = probeOvn();
    if (!ovn.isAvailable) {
      console.log(`      skipped: ${ovn.reason}`);
      this.skip();
    }
    scene = await openTestEnvironment();
    const { allocator, cluster } = scene.stack;
    [central, node] = await Promise.all([
      startOvnCentral(scene.run),
      startOvsdbServer(scene.run, { name: 'ovs', schema: 'vswitch' }),
    ]);
    const identity = ['--', 'set', 'open_vswitch', '.', 'external_ids:system-id=node-1'];
    await runOvn(scene.run.folder, 'ovs-vsctl', [`--db=${node.unix}`, '--no-wait', 'init', ...identity]);
    projector = await startOvnProjector(scene.run, { allocator, cluster, northbound: central.northbound });
    await makeNetwork(scene, 'net', { cniVersion: '0.3.1', type: 'kube-ovn', provider });
    await makeSubnet(scene, 'net', { cidrBlock: '10.7.0.0/24', provider });
    await makePod(scene, 'web', 'net');
    await eventually(async () => expect(await central.nbctl(['lsp-list', 'net'])).to.contain(port));
  });
  after(() => scene?.run.end());

  it('ipledger check finds no disagreement in the rows of the projector', async () => {
    const { code, stdout } = await check('--ovs-db', node.unix);
    expect(code, stdout).to.equal(0);
    expect(stdout).to.match(/ \d+ logical ports, 0 OVS interfaces compared at seq \d+: no disagreement\n$/);
  });

  it('ipledger check names the port of a container without a binding, which an agent made on the node', async () => {
    const { run: own } = scene;
    const vsctl = (args: readonly string[]): Promise<string> =>
      runOvn(own.folder, 'ovs-vsctl', [`--db=${node.unix}`, '--no-wait', ...args]);
    await vsctl(['add-br', 'br-int']);
    const ovs = new OvsDatabase({ endpoint: node.unix, log: pino({ level: 'silent' }), signal: own.signal });
    await ovs.ready(own.signal);
    await ovs.transact(insertPortOperations(ovs, ovs.named('Bridge', 'br-int')?.uuid ?? '', nicPlan()));
    const { code, stdout } = await check('--ovs-db', node.unix);
    expect(code, stdout).to.equal(1);
    const { hostLink, containerId, pod } = nicPlan();
    expect(stdout).to.contain(
      `interface ${hostLink} is of container ${containerId} of Pod ${pod.namespace}/${pod.name}, which has no binding`,
    );
    await vsctl(['--if-exists', 'del-port', hostLink]);
    expect(await check('--ovs-db', node.unix)).to.include({ code: 0 });
  });

  it('ipledger why explains why the port of a Pod is not up', async () => {
    const { code, stdout } = await run('why', 'default/web', '--ovn-nb', central.northbound.unix);
    expect(code, stdout).to.equal(0);
    expect(stdout).to.contain(`\nin OVN\n  port ${port} is not up, because no container has it yet`);
  });

  it('ipledger check reports changes of another program while no projector runs, and none after a projector has started', async () => {
    await projector.stop();
    await central.nbctl(['lsp-set-addresses', port, '02:00:00:00:00:99 10.7.0.99']);
    const ledger = (await central.nbctl(['get', 'logical_switch_port', port, 'external_ids:ipledger'])).trim();
    const left = [
      'set',
      'logical_switch_port',
      'left',
      'external_ids:vendor=ipledger',
      `external_ids:ipledger=${ledger}`,
    ];
    await central.nbctl(['lsp-add', 'net', 'left', '--', ...left]);
    const { code, stdout } = await check();
    expect(code, stdout).to.equal(1);
    expect(stdout).to.match(
      new RegExp(`OVN port differs +port ${port.replaceAll('.', String.raw`\.`)} +its addresses is `),
    );
    expect(stdout).to.match(/OVN port without allocation +port left +it has no address/);
    expect(stdout).to.contain('kubectl rollout restart -n ipledger-system deployment/ipledger-ovn-projector');
    await central.nbctl(['lsp-del', 'left', '--', 'lsp-del', port]);
    const missing = await run('why', 'default/web', '--ovn-nb', central.northbound.unix);
    expect(missing.stdout).to.contain(`OVN port missing: port ${port}: it does not exist`);
    await projector.start();
    expect(await check()).to.include({ code: 0 });
  });

  it('ipledger check reports a northbound database that cannot be read', async () => {
    const failed = await run('check', '--ovn-nb', 'tcp:127.0.0.1:1');
    expect(failed.code).to.equal(2);
    expect(failed.stderr).to.contain('--ovn-nb: OVN_Northbound cannot be read: cannot connect to tcp:127.0.0.1:1');
    const why = await run('why', 'default/web', '--ovn-nb', 'tcp:127.0.0.1:1');
    expect(why.code).to.equal(0);
    expect(why.stderr).to.contain('--ovn-nb: OVN_Northbound cannot be read');
  });
});

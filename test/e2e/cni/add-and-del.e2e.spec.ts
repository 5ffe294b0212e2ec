/** Tests ADD and DEL in each order in which runtimes call them, with real macvlan links. */
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { createNodeNamespace, ip, type Namespace, removeNamespace } from '../../harness/network/network-namespaces.ts';
import { expectConsistency } from '../support/consistency.ts';
import {
  attach,
  detach,
  expectBound,
  readHeadSeq,
  readLastEvent,
  callMacvlanPlugin,
  readAddressRecord,
} from '../support/attachments.ts';
import { eventually } from '../support/eventually.ts';
import { callKubeOvnPlugin } from '../support/plugin-call.ts';
import { createSandbox, itOnMacvlan, readLink, type Nic } from '../support/sandbox.ts';
import {
  waitForAddress,
  macvlanConfig,
  makeNetwork,
  makePod,
  makeSubnet,
  openTestEnvironment,
  type TestEnvironment,
} from '../support/test-environment.ts';

describe('the CNI contract: ADD and DEL', function () {
  this.timeout(180_000);
  let scene: TestEnvironment;
  let node: Namespace;
  before(async () => {
    scene = await openTestEnvironment({ nodes: ['node-1', 'node-2'] });
    await makeNetwork(scene, 'lan');
    await makeSubnet(scene, 'lan', { cidrBlock: '10.9.0.0/24' });
  });
  after(() => scene?.run.end());
  afterEach(() => expectConsistency(scene.stack));

  /** Creates a Pod, waits for its address, and creates a sandbox. */
  async function prepare(pod: string): Promise<{ nic: Nic; address: string }> {
    node ??= await createNodeNamespace(scene.run, 'node-1');
    await makePod(scene, pod, 'lan');
    const sandbox = await createSandbox(scene.run, pod);
    return { nic: { node, sandbox, pod, network: 'lan' }, address: await waitForAddress(scene, pod, 'lan') };
  }

  const pendingDelFiles = (): string[] => {
    const { pendingDels } = scene.stack.agents[0];
    return existsSync(pendingDels) ? readdirSync(pendingDels) : [];
  };

  itOnMacvlan('WB-291 a repeated ADD for one container returns the same addresses, and writes no event', async () => {
    const { nic, address } = await prepare('repeated');
    const first = await attach(scene, nic);
    const head = await readHeadSeq(scene);
    await ip(nic.sandbox, ['link', 'delete', 'net1']); // deletes the link, because macvlan cannot create it twice
    const again = await attach(scene, nic);
    expect((again.result as { ips: unknown }).ips).to.deep.equal((first.result as { ips: unknown }).ips);
    expect((await readLink(nic.sandbox)).addresses).to.deep.equal([`${address}/24`]);
    expect(await readHeadSeq(scene)).to.equal(head);
    await expectBound(scene, ['lan', address], nic.sandbox.containerId);
  });

  itOnMacvlan('a repeated DEL succeeds, and writes no event', async () => {
    const { nic, address } = await prepare('deleted-twice');
    await attach(scene, nic);
    await detach(scene, nic);
    await expectBound(scene, ['lan', address]);
    const head = await readHeadSeq(scene);
    for (let times = 0; times < 2; times++) await detach(scene, nic);
    expect(await readHeadSeq(scene)).to.equal(head);
  });

  itOnMacvlan('ADD gets its address after an earlier DEL', async () => {
    const { nic, address } = await prepare('deleted-first');
    const head = await readHeadSeq(scene);
    await detach(scene, nic);
    expect(await readHeadSeq(scene)).to.equal(head);
    await attach(scene, nic);
    await expectBound(scene, ['lan', address], nic.sandbox.containerId);
  });

  itOnMacvlan('WB-70 DEL without ADD succeeds, also for an unknown Pod and container', async () => {
    const { nic, address } = await prepare('never-added');
    await detach(scene, nic);
    await detach(scene, { ...nic, pod: 'absent' });
    await expectBound(scene, ['lan', address]);
    expect((await readAddressRecord(scene, 'lan', address))?.state).to.equal('allocated');
  });

  itOnMacvlan('DEL with an empty CNI_NETNS ends the binding of a container without network namespace', async () => {
    const { nic, address } = await prepare('namespaceless');
    await attach(scene, nic);
    await removeNamespace(nic.sandbox);
    const answer = await callMacvlanPlugin('DEL', nic, macvlanConfig(scene, 'lan.default'), '');
    expect(answer, answer.stdout).to.include({ code: 0, stdout: '' });
    await expectBound(scene, ['lan', address]);
  });

  itOnMacvlan('DEL without agent and allocator takes effect after both have started', async () => {
    const { nic, address } = await prepare('left-behind');
    const { allocator, agents } = scene.stack;
    await attach(scene, nic);
    await agents[0].kill();
    await allocator.kill();
    await detach(scene, nic);
    expect(pendingDelFiles()).to.deep.equal([`${nic.sandbox.containerId}@net1.json`]);
    await agents[0].start(); // reads the file while the allocator is down
    await detach(scene, nic); // saved by the agent
    expect(pendingDelFiles()).to.deep.equal([`${nic.sandbox.containerId}@net1.json`]);
    await allocator.start();
    await eventually(() => expect(pendingDelFiles()).to.deep.equal([]));
    await expectBound(scene, ['lan', address]);
  });

  it('a starting agent ends the bindings of earlier boots of its node, and delays no ADD', async () => {
    const {
      allocator,
      agents: [one, two],
    } = scene.stack;
    await makePod(scene, 'survivor', 'lan');
    await scene.kubernetes.create({
      kind: 'Pod',
      metadata: { name: 'elsewhere', annotations: { 'k8s.v1.cni.cncf.io/networks': 'lan' } },
      spec: { nodeName: 'node-2', containers: [{ name: 'box', image: 'box' }] },
    });
    const [here, there] = [
      await waitForAddress(scene, 'survivor', 'lan'),
      await waitForAddress(scene, 'elsewhere', 'lan'),
    ];
    const config = macvlanConfig(scene, 'lan.default');
    const atNode2 = { ...config, name: 'lan', ipam: { ...config.ipam, server_socket: two?.socket } };
    for (const containerId of ['old-1', 'same'])
      expect((await callKubeOvnPlugin(scene, { pod: 'survivor', network: 'lan', containerId })).code).to.equal(0);
    expect((await callKubeOvnPlugin(scene, { pod: 'elsewhere', network: 'lan', config: atNode2 })).code).to.equal(0);
    await expectBound(scene, ['lan', here], 'old-1', 'same');

    await one.kill();
    await allocator.kill();
    writeFileSync(one.bootIdFile, 'second-boot-of-node-1\n');
    await one.start(); // is ready without the allocator
    const waiting = callKubeOvnPlugin(scene, { pod: 'survivor', network: 'lan', containerId: 'same' });
    await allocator.start();
    expect((await waiting).code, (await waiting).stdout).to.equal(0);

    await expectBound(scene, ['lan', here], 'same');
    const record = await readAddressRecord(scene, 'lan', here);
    expect(record?.bindings.map(({ bootId }) => bootId)).to.deep.equal(['second-boot-of-node-1']);
    expect((await readAddressRecord(scene, 'lan', there))?.bindings).to.have.length(1);
    expect((await readLastEvent(scene, 'lan', there))?.type).to.equal('AddressBound');
  });

  it('a starting agent records a reboot of its node as the cause of the end of bindings', async () => {
    const [one] = scene.stack.agents;
    const address = await waitForAddress(scene, 'survivor', 'lan');
    await one.stop();
    writeFileSync(one.bootIdFile, 'third-boot-of-node-1\n');
    await one.start();
    await expectBound(scene, ['lan', address]);
    const last = await readLastEvent(scene, 'lan', address);
    expect(last).to.deep.include({ type: 'AddressUnbound' });
    expect(last?.addressUnbound).to.include({ containerId: 'same', cause: 'UNBIND_CAUSE_NODE_REBOOTED' });
  });
});

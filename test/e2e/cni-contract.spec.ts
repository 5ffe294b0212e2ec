/** ADD and DEL in every order that runtimes call them in, with real macvlan links. */
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { createNode, ip, type Namespace, removeNamespace } from '../harness/network.ts';
import { expectAgreement } from './agreement.ts';
import { attach, detach, expectBound, headOf, lastEventOf, macvlan, recordOf } from './attached.ts';
import { eventually } from './eventually.ts';
import { plugin } from './plugin.ts';
import { createSandbox, itOnMacvlan, linkOf, type Nic } from './sandbox.ts';
import { addressOf, macvlanConfig, makeNetwork, makePod, makeSubnet, openScene, type Scene } from './scene.ts';

describe('the CNI contract: ADD and DEL', function () {
  this.timeout(120_000);
  let scene: Scene;
  let node: Namespace;
  before(async () => {
    scene = await openScene({ nodes: ['node-1', 'node-2'] });
    await makeNetwork(scene, 'lan');
    await makeSubnet(scene, 'lan', { cidrBlock: '10.9.0.0/24' });
  });
  after(() => scene?.run.end());
  afterEach(() => expectAgreement(scene.stack));

  /** A Pod with its address, and a sandbox for it. */
  async function prepare(pod: string): Promise<{ nic: Nic; address: string }> {
    node ??= await createNode(scene.run, 'node-1');
    await makePod(scene, pod, 'lan');
    const sandbox = await createSandbox(scene.run, pod);
    return { nic: { node, sandbox, pod, network: 'lan' }, address: await addressOf(scene, pod, 'lan') };
  }

  const left = (): string[] => {
    const { journal } = scene.stack.agents[0];
    return existsSync(journal) ? readdirSync(journal) : [];
  };

  itOnMacvlan('WB-291 ADD repeated for one container answers the same, and writes no event', async () => {
    const { nic, address } = await prepare('repeated');
    const first = await attach(scene, nic);
    const head = await headOf(scene);
    await ip(nic.sandbox, ['link', 'delete', 'net1']); // macvlan itself makes a link once
    const again = await attach(scene, nic);
    expect((again.result as { ips: unknown }).ips).to.deep.equal((first.result as { ips: unknown }).ips);
    expect((await linkOf(nic.sandbox)).addresses).to.deep.equal([`${address}/24`]);
    expect(await headOf(scene)).to.equal(head);
    await expectBound(scene, ['lan', address], nic.sandbox.containerId);
  });

  itOnMacvlan('DEL repeated succeeds, and writes no event', async () => {
    const { nic, address } = await prepare('deleted-twice');
    await attach(scene, nic);
    await detach(scene, nic);
    await expectBound(scene, ['lan', address]);
    const head = await headOf(scene);
    for (let times = 0; times < 2; times++) await detach(scene, nic);
    expect(await headOf(scene)).to.equal(head);
  });

  itOnMacvlan('DEL before ADD does not keep the ADD from its address', async () => {
    const { nic, address } = await prepare('deleted-first');
    const head = await headOf(scene);
    await detach(scene, nic);
    expect(await headOf(scene)).to.equal(head);
    await attach(scene, nic);
    await expectBound(scene, ['lan', address], nic.sandbox.containerId);
  });

  itOnMacvlan('WB-70 DEL without ADD succeeds, also for a Pod and a container that nobody knows', async () => {
    const { nic, address } = await prepare('never-added');
    await detach(scene, nic);
    await detach(scene, { ...nic, pod: 'nobody' });
    await expectBound(scene, ['lan', address]);
    expect((await recordOf(scene, 'lan', address))?.state).to.equal('allocated');
  });

  itOnMacvlan('DEL of a container whose namespace is gone, with an empty CNI_NETNS, ends its binding', async () => {
    const { nic, address } = await prepare('namespaceless');
    await attach(scene, nic);
    await removeNamespace(nic.sandbox);
    const answer = await macvlan('DEL', nic, macvlanConfig(scene, 'lan.default'), '');
    expect(answer, answer.stdout).to.include({ code: 0, stdout: '' });
    await expectBound(scene, ['lan', address]);
  });

  itOnMacvlan('DEL while agent and allocator are both away is done when both are back', async () => {
    const { nic, address } = await prepare('left-behind');
    const { allocator, agents } = scene.stack;
    await attach(scene, nic);
    await agents[0].kill();
    await allocator.kill();
    await detach(scene, nic);
    expect(left()).to.deep.equal([`${nic.sandbox.containerId}@net1.json`]);
    await agents[0].start(); // finds the file, and nobody to tell
    await detach(scene, nic); // this time by the agent
    expect(left()).to.deep.equal([`${nic.sandbox.containerId}@net1.json`]);
    await allocator.start();
    await eventually(() => expect(left()).to.deep.equal([]));
    await expectBound(scene, ['lan', address]);
  });

  it('an agent that starts ends what earlier boots of its own node left bound, and holds no ADD up for it', async () => {
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
    const [here, there] = [await addressOf(scene, 'survivor', 'lan'), await addressOf(scene, 'elsewhere', 'lan')];
    const config = macvlanConfig(scene, 'lan.default');
    const atNode2 = { ...config, name: 'lan', ipam: { ...config.ipam, server_socket: two?.socket } };
    for (const containerId of ['old-1', 'same'])
      expect((await plugin(scene, { pod: 'survivor', network: 'lan', containerId })).code).to.equal(0);
    expect((await plugin(scene, { pod: 'elsewhere', network: 'lan', config: atNode2 })).code).to.equal(0);
    await expectBound(scene, ['lan', here], 'old-1', 'same');

    await one.kill();
    await allocator.kill();
    writeFileSync(one.bootIdFile, 'second boot of node-1\n');
    await one.start(); // ready, though it can't ask
    const waiting = plugin(scene, { pod: 'survivor', network: 'lan', containerId: 'same' });
    await allocator.start();
    expect((await waiting).code, (await waiting).stdout).to.equal(0);

    await expectBound(scene, ['lan', here], 'same');
    const record = await recordOf(scene, 'lan', here);
    expect(record?.bindings.map(({ bootId }) => bootId)).to.deep.equal(['second boot of node-1']);
    expect((await recordOf(scene, 'lan', there))?.bindings).to.have.length(1);
    expect((await lastEventOf(scene, 'lan', there))?.type).to.equal('AddressBound');
  });

  it('and says in the ledger that it was for a reboot', async () => {
    const [one] = scene.stack.agents;
    const address = await addressOf(scene, 'survivor', 'lan');
    await one.stop();
    writeFileSync(one.bootIdFile, 'third boot of node-1\n');
    await one.start();
    await expectBound(scene, ['lan', address]);
    const last = await lastEventOf(scene, 'lan', address);
    expect(last).to.deep.include({ type: 'AddressUnbound' });
    expect(last?.addressUnbound).to.include({ containerId: 'same', cause: 'UNBIND_CAUSE_NODE_REBOOTED' });
  });
});

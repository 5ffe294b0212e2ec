/** CHECK, GC and STATUS, which runtimes call beside ADD and DEL, with real macvlan links. */
import { expect } from 'chai';
import type { CniAnswer } from '../harness/cni.ts';
import { createNode, type Namespace } from '../harness/network.ts';
import { expectAgreement } from './agreement.ts';
import { attach, expectBound, headOf, lastEventOf, macvlan, recordOf } from './attached.ts';
import { eventually } from './eventually.ts';
import { addressesIn, plugin } from './plugin.ts';
import { cnitool, createSandbox, itOnMacvlan, type Nic } from './sandbox.ts';
import { addressOf, macvlanConfig, makeNetwork, makePod, makeSubnet, openScene, type Scene } from './scene.ts';

describe('the CNI contract: CHECK, GC and STATUS', function () {
  this.timeout(120_000);
  let scene: Scene;
  let node: Namespace;
  before(async () => {
    scene = await openScene();
    for (const [network, cniVersion, cidrBlock] of [
      ['lan', '1.1.0', '10.10.0.0/24'],
      ['older', '0.4.0', '10.11.0.0/24'],
      ['tiny', '1.1.0', '10.12.0.0/30'],
    ] as const) {
      await makeNetwork(scene, network, { ...macvlanConfig(scene, `${network}.default`), cniVersion });
      await makeSubnet(scene, network, { cidrBlock });
    }
  });
  after(() => scene?.run.end());
  afterEach(() => expectAgreement(scene.stack));

  const configOf = (network: string, more: object = {}) => ({
    ...macvlanConfig(scene, `${network}.default`),
    cniVersion: '1.1.0',
    name: network,
    ...more,
  });

  /** A Pod that has its NIC. */
  async function attached(pod: string, network = 'lan'): Promise<{ nic: Nic; address: string }> {
    node ??= await createNode(scene.run, 'node-1');
    await makePod(scene, pod, network);
    const address = await addressOf(scene, pod, network);
    const nic = { node, sandbox: await createSandbox(scene.run, pod), pod, network };
    await attach(scene, nic);
    return { nic, address };
  }

  const check = (nic: Nic): Promise<CniAnswer> => cnitool(scene, 'check', nic);
  const said = ({ stdout, stderr }: CniAnswer): string => `${stdout}${stderr}`;

  describe('CHECK', () => {
    itOnMacvlan(
      'is content with what ADD made, by way of macvlan, in CNI 1.1.0 and 0.4.0, and writes nothing',
      async () => {
        for (const network of ['lan', 'older']) {
          const { nic } = await attached(`checked-on-${network}`, network);
          const head = await headOf(scene);
          const answer = await check(nic);
          expect(answer, said(answer)).to.include({ code: 0, stdout: '' });
          expect(await headOf(scene)).to.equal(head);
        }
      },
    );

    itOnMacvlan('says that a container is not bound to the address any more', async () => {
      const { nic, address } = await attached('unbound');
      const { containerId } = nic.sandbox;
      await plugin(scene, { pod: 'unbound', network: 'lan', containerId, command: 'DEL' });
      const answer = await check(nic);
      expect(answer.code).to.equal(1);
      expect(said(answer)).to.contain(
        `interface net1 of pod default/unbound (container ${containerId}): ${address}/24 is not bound to it, but to no container`,
      );
    });

    itOnMacvlan('says that the Pod is gone', async () => {
      const { nic, address } = await attached('gone');
      await scene.kubernetes.remove('Pod', 'gone');
      await eventually(async () => expect((await recordOf(scene, 'lan', address))?.state).to.equal('held'));
      const answer = await check(nic);
      expect(answer.code).to.equal(1);
      expect(said(answer)).to.contain('get pod default/gone failed pod "gone" not found');
    });

    it('says which address the ledger has and which the runtime remembers', async () => {
      await makePod(scene, 'mistaken', 'lan');
      const address = await addressOf(scene, 'mistaken', 'lan');
      expect(addressesIn(await plugin(scene, { pod: 'mistaken', network: 'lan' }))).to.deep.equal([`${address}/24`]);
      const prevResult = { cniVersion: '1.1.0', ips: [{ address: '10.10.0.250/24' }] };
      const config = configOf('lan', { prevResult });
      const answer = await plugin(scene, { pod: 'mistaken', network: 'lan', command: 'CHECK', config });
      expect(answer.result).to.have.property('code', 101);
      expect(answer.result)
        .to.have.property('msg')
        .that.contains(`the ledger says ${address}/24, and prevResult says 10.10.0.250/24`);
    });
  });

  describe('GC', () => {
    const collect = (network: string, valid: readonly string[] | undefined): Promise<CniAnswer> => {
      const list = valid?.map((containerID) => ({ containerID, ifname: 'net1' }));
      const config = configOf(network, valid && { 'cni.dev/valid-attachments': list });
      return plugin(scene, { pod: '', network, command: 'GC', config, containerId: '', netns: '' });
    };

    it('ends what is not listed, on its own network, and releases nothing', async () => {
      for (const pod of ['kept', 'stale']) {
        await makePod(scene, pod, 'lan,older');
        for (const network of ['lan', 'older'])
          expect((await plugin(scene, { pod, network, containerId: `${pod}-${network}` })).code).to.equal(0);
      }
      const [kept, stale] = [await addressOf(scene, 'kept', 'lan'), await addressOf(scene, 'stale', 'lan')];
      const elsewhere = await addressOf(scene, 'stale', 'older');
      expect(await collect('lan', ['kept-lan', 'stale-older'])).to.include({ code: 0, stdout: '' });

      await expectBound(scene, ['lan', kept], 'kept-lan');
      await expectBound(scene, ['older', elsewhere], 'stale-older');
      await expectBound(scene, ['lan', stale]);
      expect((await recordOf(scene, 'lan', stale))?.state).to.equal('allocated');
      const last = await lastEventOf(scene, 'lan', stale);
      expect(last?.addressUnbound).to.include({ containerId: 'stale-lan', cause: 'UNBIND_CAUSE_GARBAGE_COLLECTED' });
    });

    it('without a list is an error, and ends nothing', async () => {
      const head = await headOf(scene);
      const answer = await collect('lan', undefined);
      expect(answer.result).to.include({ code: 7, msg: 'Invalid Configuration' });
      expect(answer.stdout).to.contain('cni.dev/valid-attachments is required');
      expect(await headOf(scene)).to.equal(head);
    });

    it('of an empty list ends all of its network', async () => {
      expect(await collect('lan', [])).to.include({ code: 0, stdout: '' });
      await expectBound(scene, ['lan', await addressOf(scene, 'kept', 'lan')]);
      await expectBound(scene, ['older', await addressOf(scene, 'kept', 'older')], 'kept-older');
    });

    itOnMacvlan('is not passed on by macvlan, so that there is only its own to report', async () => {
      const { nic, address } = await attached('uncollected');
      expect(await macvlan('GC', nic, configOf('lan'), '')).to.include({ code: 0, stdout: '' });
      await expectBound(scene, ['lan', address], nic.sandbox.containerId);
    });
  });

  describe('STATUS', () => {
    const status = (network = 'lan'): Promise<CniAnswer> =>
      plugin(scene, { pod: '', network, command: 'STATUS', config: configOf(network), containerId: '', netns: '' });

    const expectUnavailable = async (details: RegExp): Promise<void> => {
      const { code, result } = await status();
      expect(code).to.equal(1);
      expect(result).to.include({ cniVersion: '1.1.0', code: 50, msg: 'ipledger is not available' });
      expect(result).to.have.property('details').that.matches(details);
    };

    itOnMacvlan('is well, by way of macvlan', async () => {
      const { nic } = await attached('status');
      const head = await headOf(scene);
      const answer = await cnitool(scene, 'status', nic);
      expect(answer, said(answer)).to.include({ code: 0, stdout: '' });
      expect(await headOf(scene)).to.equal(head);
    });

    it('is well though a subnet is full', async () => {
      await makePod(scene, 'only-one', 'tiny');
      await addressOf(scene, 'only-one', 'tiny');
      expect(await status('tiny')).to.include({ code: 0, stdout: '' });
    });

    it('says that the agent is away, or does not answer', async () => {
      const [agent] = scene.stack.agents;
      agent.freeze();
      await expectUnavailable(/^status: .*timeout/);
      agent.thaw();
      await agent.stop();
      await expectUnavailable(/is the node agent running\?$/);
      await agent.start();
      expect(await status()).to.include({ code: 0, stdout: '' });
    });

    it('says that the allocator is away, and that etcd is, and is well when they are back', async () => {
      const { allocator, etcd } = scene.stack;
      await allocator.kill();
      await expectUnavailable(/^status return 500 the allocator could not be asked: /);
      await allocator.start();
      expect(await status()).to.include({ code: 0, stdout: '' });
      etcd.freeze();
      await expectUnavailable(/^status return 500 the allocator could not be asked: /);
      etcd.thaw();
      await eventually(async () => expect(await status()).to.include({ code: 0, stdout: '' }));
    });
  });
});

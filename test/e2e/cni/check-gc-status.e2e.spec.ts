/** Tests CHECK, GC and STATUS, which runtimes call beside ADD and DEL, with real macvlan links. */
import { expect } from 'chai';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CniAnswer } from '../../harness/cni.ts';
import { createNodeNamespace, type Namespace } from '../../harness/network/network-namespaces.ts';
import { expectConsistency } from '../support/consistency.ts';
import {
  attach,
  expectBound,
  readHeadSeq,
  readLastEvent,
  callMacvlanPlugin,
  readAddressRecord,
} from '../support/attachments.ts';
import { eventually } from '../support/eventually.ts';
import { resultAddresses, callKubeOvnPlugin } from '../support/plugin-call.ts';
import { cnitool, createSandbox, itOnMacvlan, type Nic } from '../support/sandbox.ts';
import {
  waitForAddress,
  macvlanConfig,
  makeNetwork,
  makePod,
  makeSubnet,
  openTestEnvironment,
  type TestEnvironment,
} from '../support/test-environment.ts';

describe('the CNI contract: CHECK, GC and STATUS', function () {
  this.timeout(180_000);
  let scene: TestEnvironment;
  let node: Namespace;
  before(async () => {
    scene = await openTestEnvironment();
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
  afterEach(() => expectConsistency(scene.stack));

  const configOf = (network: string, more: object = {}) => ({
    ...macvlanConfig(scene, `${network}.default`),
    cniVersion: '1.1.0',
    name: network,
    ...more,
  });

  /** Creates a Pod and attaches its NIC. */
  async function attached(pod: string, network = 'lan'): Promise<{ nic: Nic; address: string }> {
    node ??= await createNodeNamespace(scene.run, 'node-1');
    await makePod(scene, pod, network);
    const address = await waitForAddress(scene, pod, network);
    const nic = { node, sandbox: await createSandbox(scene.run, pod), pod, network };
    await attach(scene, nic);
    return { nic, address };
  }

  const check = (nic: Nic): Promise<CniAnswer> => cnitool(scene, 'check', nic);
  const outputOf = ({ stdout, stderr }: CniAnswer): string => `${stdout}${stderr}`;

  describe('CHECK', () => {
    itOnMacvlan(
      'CHECK accepts the result of ADD, called by macvlan, in CNI 1.1.0 and 0.4.0, and writes no event',
      async () => {
        for (const network of ['lan', 'older']) {
          const { nic } = await attached(`checked-on-${network}`, network);
          const head = await readHeadSeq(scene);
          const answer = await check(nic);
          expect(answer, outputOf(answer)).to.include({ code: 0, stdout: '' });
          expect(await readHeadSeq(scene)).to.equal(head);
        }
      },
    );

    itOnMacvlan('CHECK reports an address that is no longer bound to the container', async () => {
      const { nic, address } = await attached('unbound');
      const { containerId } = nic.sandbox;
      await callKubeOvnPlugin(scene, { pod: 'unbound', network: 'lan', containerId, command: 'DEL' });
      const answer = await check(nic);
      expect(answer.code).to.equal(1);
      expect(outputOf(answer)).to.contain(
        `interface net1 of pod default/unbound (container ${containerId}): ${address}/24 is bound to no container, not to this one`,
      );
    });

    itOnMacvlan('CHECK reports a deleted Pod', async () => {
      const { nic, address } = await attached('deleted');
      await scene.kubernetes.remove('Pod', 'deleted');
      await eventually(async () => expect((await readAddressRecord(scene, 'lan', address))?.state).to.equal('held'));
      const answer = await check(nic);
      expect(answer.code).to.equal(1);
      expect(outputOf(answer)).to.contain('get pod default/deleted failed pod "deleted" not found');
    });

    it('CHECK reports the addresses in the ledger and in prevResult when they differ', async () => {
      await makePod(scene, 'mistaken', 'lan');
      const address = await waitForAddress(scene, 'mistaken', 'lan');
      expect(resultAddresses(await callKubeOvnPlugin(scene, { pod: 'mistaken', network: 'lan' }))).to.deep.equal([
        `${address}/24`,
      ]);
      const prevResult = { cniVersion: '1.1.0', ips: [{ address: '10.10.0.250/24' }] };
      const config = configOf('lan', { prevResult });
      const answer = await callKubeOvnPlugin(scene, { pod: 'mistaken', network: 'lan', command: 'CHECK', config });
      expect(answer.result).to.have.property('code', 101);
      expect(answer.result)
        .to.have.property('msg')
        .that.contains(`the ledger has ${address}/24, prevResult has 10.10.0.250/24`);
    });
  });

  describe('GC', () => {
    const collect = (network: string, valid: readonly string[] | undefined): Promise<CniAnswer> => {
      const list = valid?.map((containerID) => ({ containerID, ifname: 'net1' }));
      const config = configOf(network, valid && { 'cni.dev/valid-attachments': list });
      return callKubeOvnPlugin(scene, { pod: '', network, command: 'GC', config, containerId: '', netns: '' });
    };

    /** Returns the path of a sandbox's network namespace. */
    const namespaceOf = (containerId: string): string => join(scene.run.folder, `netns-${containerId}`);

    it('GC ends the unlisted bindings of deleted sandboxes on its own network, and releases no address', async () => {
      for (const pod of ['kept', 'stale', 'running']) {
        await makePod(scene, pod, 'lan,older');
        for (const network of ['lan', 'older']) {
          const containerId = `${pod}-${network}`;
          const netns = namespaceOf(containerId);
          writeFileSync(netns, '');
          expect((await callKubeOvnPlugin(scene, { pod, network, netns, containerId })).code).to.equal(0);
        }
      }
      const [kept, stale] = [await waitForAddress(scene, 'kept', 'lan'), await waitForAddress(scene, 'stale', 'lan')];
      const elsewhere = await waitForAddress(scene, 'stale', 'older');
      rmSync(namespaceOf('stale-lan'));
      expect(await collect('lan', ['kept-lan', 'stale-older'])).to.include({ code: 0, stdout: '' });

      await expectBound(scene, ['lan', kept], 'kept-lan');
      await expectBound(scene, ['older', elsewhere], 'stale-older');
      await expectBound(scene, ['lan', stale]);
      expect((await readAddressRecord(scene, 'lan', stale))?.state).to.equal('allocated');
      const last = await readLastEvent(scene, 'lan', stale);
      expect(last?.addressUnbound).to.include({ containerId: 'stale-lan', cause: 'UNBIND_CAUSE_GARBAGE_COLLECTED' });
      expect(last?.addressUnbound?.evidence).to.equal(`its network namespace ${namespaceOf('stale-lan')} is deleted`);
    });

    it('GC fails without a list, and ends no binding', async () => {
      const head = await readHeadSeq(scene);
      const answer = await collect('lan', undefined);
      expect(answer.result).to.include({ code: 7, msg: 'Invalid Configuration' });
      expect(answer.stdout).to.contain('cni.dev/valid-attachments is required');
      expect(await readHeadSeq(scene)).to.equal(head);
    });

    it('GC with an empty list ends the bindings of all deleted sandboxes of its network', async () => {
      rmSync(namespaceOf('kept-lan'));
      expect(await collect('lan', [])).to.include({ code: 0, stdout: '' });
      await expectBound(scene, ['lan', await waitForAddress(scene, 'kept', 'lan')]);
      await expectBound(scene, ['older', await waitForAddress(scene, 'kept', 'older')], 'kept-older');
    });

    it('GC with an empty list ends no binding of an existing sandbox on its network', async () => {
      expect(await collect('lan', [])).to.include({ code: 0, stdout: '' });
      await expectBound(scene, ['lan', await waitForAddress(scene, 'running', 'lan')], 'running-lan');
    });

    itOnMacvlan('GC ends no binding of a running Pod', async () => {
      const { nic, address } = await attached('victim');
      expect(await collect('lan', [])).to.include({ code: 0, stdout: '' });
      await expectBound(scene, ['lan', address], nic.sandbox.containerId);
    });

    itOnMacvlan('GC on macvlan, which does not delegate it, ends no binding', async () => {
      const { nic, address } = await attached('uncollected');
      expect(await callMacvlanPlugin('GC', nic, configOf('lan'), '')).to.include({ code: 0, stdout: '' });
      await expectBound(scene, ['lan', address], nic.sandbox.containerId);
    });
  });

  describe('STATUS', () => {
    const status = (network = 'lan'): Promise<CniAnswer> =>
      callKubeOvnPlugin(scene, {
        pod: '',
        network,
        command: 'STATUS',
        config: configOf(network),
        containerId: '',
        netns: '',
      });

    const expectUnavailable = async (details: RegExp): Promise<void> => {
      const { code, result } = await status();
      expect(code).to.equal(1);
      expect(result).to.include({ cniVersion: '1.1.0', code: 50, msg: 'ipledger is not available' });
      expect(result).to.have.property('details').that.matches(details);
    };

    itOnMacvlan('STATUS succeeds when called by macvlan', async () => {
      const { nic } = await attached('status');
      const head = await readHeadSeq(scene);
      const answer = await cnitool(scene, 'status', nic);
      expect(answer, outputOf(answer)).to.include({ code: 0, stdout: '' });
      expect(await readHeadSeq(scene)).to.equal(head);
    });

    it('STATUS succeeds while a subnet is full', async () => {
      await makePod(scene, 'only-one', 'tiny');
      await waitForAddress(scene, 'only-one', 'tiny');
      expect(await status('tiny')).to.include({ code: 0, stdout: '' });
    });

    it('STATUS reports that the agent is stopped, or does not reply', async () => {
      const [agent] = scene.stack.agents;
      agent.freeze();
      await expectUnavailable(/^status: .*timeout/);
      agent.resume();
      await agent.stop();
      await expectUnavailable(/is the node agent running\?$/);
      await agent.start();
      expect(await status()).to.include({ code: 0, stdout: '' });
    });

    it('STATUS reports that the allocator or etcd is unavailable, and succeeds when both are available again', async () => {
      const { allocator, etcd } = scene.stack;
      await allocator.kill();
      await expectUnavailable(/^status return 500 the allocator is unavailable: /);
      await allocator.start();
      expect(await status()).to.include({ code: 0, stdout: '' });
      etcd.freeze();
      await expectUnavailable(/^status return 500 the allocator is unavailable: /);
      etcd.resume();
      await eventually(async () => expect(await status()).to.include({ code: 0, stdout: '' }));
    });
  });
});

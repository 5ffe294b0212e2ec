/**
 * An ADD without an address waits up to 20 s, then fails with the cause. The ADDs of the first
 * suite run at the same time, while the watcher is stopped, so that the file waits only twice.
 */
import { expect } from 'chai';
import type { CniAnswer } from '../../harness/cni.ts';
import { expectConsistency } from '../support/consistency.ts';
import { eventually } from '../support/eventually.ts';
import { readSystemSnapshot } from '../support/system-snapshot.ts';
import { resultAddresses, callKubeOvnPlugin } from '../support/plugin-call.ts';
import {
  waitForAddress,
  waitForEvent,
  makeNetworkAndSubnet,
  makePod,
  openTestEnvironment,
  type TestEnvironment,
} from '../support/test-environment.ts';

const ip = 'lan.default.kubernetes.io/ip_address';

/**
 * Expects CNI code 11 ("try again later") with Kube-OVN's text, the cause, and the command to run.
 */
function expectNotAllocated({ code, result, stdout }: CniAnswer, pod: string, cause: RegExp): void {
  expect(code, stdout).to.equal(1);
  expect(result).to.include({ code: 11, msg: 'RPC failed' });
  const { details } = result as { details: string };
  const start = `request ip return 500 no address allocated to pod default/${pod} provider lan.default`;
  expect(details.slice(0, start.length)).to.equal(start);
  expect(details.slice(start.length)).to.match(cause);
  expect(details).to.contain(`. Run: kubectl ipledger why default/${pod} (or kubectl describe pod)`);
  expect(Buffer.byteLength(details)).to.be.at.most(512);
}

describe('bad input: ADD without an address', function () {
  this.timeout(180_000);
  let scene: TestEnvironment;
  before(async () => {
    scene = await openTestEnvironment();
    await makeNetworkAndSubnet(scene, 'lan', '10.5.0.0/24');
    await makePod(scene, 'holder', 'lan', { [ip]: '10.5.0.10' });
    await waitForAddress(scene, 'holder', 'lan');
  });
  after(() => scene?.run.end());
  afterEach(() => expectConsistency(scene.stack));

  const add = (pod: string, uid?: string): Promise<CniAnswer> =>
    callKubeOvnPlugin(scene, { pod, network: 'lan', ...(uid !== undefined && { uid }) });

  describe('while the watcher is stopped', () => {
    let answers: Readonly<Record<'late' | 'refused' | 'earlier' | 'recreated', Promise<CniAnswer>>>;
    before(async () => {
      await makePod(scene, 'refused', 'lan', { [ip]: '10.5.0.10' });
      await waitForEvent(scene, 'refused', 'AcquireAddressFailed', /default\/holder/);
      const first = await makePod(scene, 'twin', 'lan', { [ip]: '10.5.0.20' });
      await waitForAddress(scene, 'twin', 'lan');
      await scene.kubernetes.remove('Pod', 'twin');
      const second = await makePod(scene, 'twin', 'lan', { [ip]: '10.5.0.21' });
      await waitForAddress(scene, 'twin', 'lan');

      await expectConsistency(scene.stack);
      await scene.stack.watcher.stop();
      await makePod(scene, 'late', 'lan');
      const recreated = add('twin', second.metadata.uid);
      answers = { late: add('late'), refused: add('refused'), earlier: add('twin', first.metadata.uid), recreated };
    });
    after(async () => {
      if (!scene.stack.watcher.isAlive) await scene.stack.watcher.start();
    });

    it('ADD returns the address of the new Pod after the Pod was created again', async () => {
      expect(resultAddresses(await answers.recreated)).to.deep.equal(['10.5.0.21/24']);
    });

    it('ADD of an earlier Pod of the same name fails and names the uid that has the address', async () => {
      expectNotAllocated(
        await answers.earlier,
        'twin',
        /^: the address belongs to uid [0-9a-f-]{36}, and this call is for uid [0-9a-f-]{36}: the Pod was re-created under its name\. /,
      );
    });

    it('ADD of a refused Pod fails with the reason of the refusal', async () => {
      expectNotAllocated(
        await answers.refused,
        'refused',
        /^: (refused at \d{4}-.*Z: )?AddressConflict: 10\.5\.0\.10 of subnet lan is in use by Pod default\/holder /,
      );
    });

    it('ADD of a new Pod fails while the watcher is stopped, because no address was requested, and names pod-watcher', async () => {
      expectNotAllocated(
        await answers.late,
        'late',
        /^, please see kube-ovn-controller logs to find errors .*: pod-watcher has requested no address within [\d.]+ s\. Check that pod-watcher runs, and that the Pod's networks annotation names this network\. /,
      );
    });

    it('ADD succeeds after the watcher has started', async () => {
      await scene.stack.watcher.start();
      expect(resultAddresses(await add('late'))).to.deep.equal([`${await waitForAddress(scene, 'late', 'lan')}/24`]);
    });
  });

  describe('while the allocator is stopped', () => {
    it('while the allocator is stopped, ADD fails and DEL is saved; both succeed after its start', async () => {
      await scene.stack.allocator.kill();
      const [added, deleted] = await Promise.all([
        add('holder'),
        callKubeOvnPlugin(scene, { pod: 'late', network: 'lan', command: 'DEL' }),
      ]);
      expectNotAllocated(added, 'holder', /^: the allocator did not answer: .*ECONNREFUSED/);
      expect(deleted.code, deleted.stdout).to.equal(0);
      await scene.stack.allocator.start();
      expect(resultAddresses(await add('holder'))).to.deep.equal(['10.5.0.10/24']);
      await eventually(async () => {
        const { allocations } = await readSystemSnapshot(scene.stack, scene.run.signal);
        const bound = allocations.filter(({ bindings }) => bindings.length > 0);
        expect(bound.map(({ attachment }) => attachment?.pod)).to.have.members(['holder', 'twin']);
      });
    });
  });
});

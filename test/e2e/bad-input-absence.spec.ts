/**
 * An ADD that cannot be served waits, up to 20 s, and then says what it waited for. To wait only twice, all that are told
 * something by the allocator wait at the same time, while the watcher is away.
 */
import { expect } from 'chai';
import type { CniAnswer } from '../harness/cni.ts';
import { expectAgreement } from './agreement.ts';
import { eventually } from './eventually.ts';
import { takePicture } from './picture.ts';
import { addressesIn, plugin } from './plugin.ts';
import { addressOf, eventOf, makeNetworkAndSubnet, makePod, openScene, type Scene } from './scene.ts';

const ip = 'lan.default.kubernetes.io/ip_address';

/** CNI code 11, "try again later", with the beginning of Kube-OVN's sentence, the cause and what to do. */
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

describe('bad input: ADDs without an answer', function () {
  this.timeout(120_000);
  let scene: Scene;
  before(async () => {
    scene = await openScene();
    await makeNetworkAndSubnet(scene, 'lan', '10.5.0.0/24');
    await makePod(scene, 'holder', 'lan', { [ip]: '10.5.0.10' });
    await addressOf(scene, 'holder', 'lan');
  });
  after(() => scene?.run.end());
  afterEach(() => expectAgreement(scene.stack));

  const add = (pod: string, uid?: string): Promise<CniAnswer> =>
    plugin(scene, { pod, network: 'lan', ...(uid !== undefined && { uid }) });

  describe('while the watcher is away', () => {
    let answers: Readonly<Record<'late' | 'refused' | 'gone' | 'anew', Promise<CniAnswer>>>;
    before(async () => {
      await makePod(scene, 'refused', 'lan', { [ip]: '10.5.0.10' });
      await eventOf(scene, 'refused', 'AcquireAddressFailed', /default\/holder/);
      const first = await makePod(scene, 'twin', 'lan', { [ip]: '10.5.0.20' });
      await addressOf(scene, 'twin', 'lan');
      await scene.kubernetes.remove('Pod', 'twin');
      const second = await makePod(scene, 'twin', 'lan', { [ip]: '10.5.0.21' });
      await addressOf(scene, 'twin', 'lan');

      await expectAgreement(scene.stack);
      await scene.stack.watcher.stop();
      await makePod(scene, 'late', 'lan');
      const anew = add('twin', second.metadata.uid);
      answers = { late: add('late'), refused: add('refused'), gone: add('twin', first.metadata.uid), anew };
    });
    after(async () => {
      if (!scene.stack.watcher.alive) await scene.stack.watcher.start();
    });

    it('that of a Pod re-created under its name gets the new Pod’s address', async () => {
      expect(addressesIn(await answers.anew)).to.deep.equal(['10.5.0.21/24']);
    });

    it('that of the Pod which had the name before is told whose the address is', async () => {
      expectNotAllocated(
        await answers.gone,
        'twin',
        /^: the address belongs to uid [0-9a-f-]{36}, and this call is for uid [0-9a-f-]{36}: the Pod was re-created under its name\. /,
      );
    });

    it('that of a Pod which was refused is told why', async () => {
      expectNotAllocated(
        await answers.refused,
        'refused',
        /^: refused at \d{4}-.*Z: AddressConflict: 10\.5\.0\.10 of subnet lan is in use by Pod default\/holder /,
      );
    });

    it('that of a new Pod is told that nobody asked for an address, and to look at the watcher', async () => {
      expectNotAllocated(
        await answers.late,
        'late',
        /^, please see kube-ovn-controller logs to find errors .*: pod-watcher has requested no address within \d+ ms\. Check that pod-watcher runs, and that the Pod's networks annotation names this network\. /,
      );
    });

    it('once the watcher is back, the runtime’s next try succeeds', async () => {
      await scene.stack.watcher.start();
      expect(addressesIn(await add('late'))).to.deep.equal([`${await addressOf(scene, 'late', 'lan')}/24`]);
    });
  });

  describe('while the allocator is away', () => {
    it('an ADD says so and a DEL is kept; once it is back, both are done', async () => {
      await scene.stack.allocator.kill();
      const [added, deleted] = await Promise.all([
        add('holder'),
        plugin(scene, { pod: 'late', network: 'lan', command: 'DEL' }),
      ]);
      expectNotAllocated(added, 'holder', /^: the allocator cannot be reached: .*ECONNREFUSED/);
      expect(deleted.code, deleted.stdout).to.equal(0);
      await scene.stack.allocator.start();
      expect(addressesIn(await add('holder'))).to.deep.equal(['10.5.0.10/24']);
      await eventually(async () => {
        const { allocations } = await takePicture(scene.stack, scene.run.signal);
        const bound = allocations.filter(({ bindings }) => bindings.length > 0);
        expect(bound.map(({ attachment }) => attachment?.pod)).to.have.members(['holder', 'twin']);
      });
    });
  });
});

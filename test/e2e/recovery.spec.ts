/** etcd restored from an old backup, as its documentation says: noticed, halted, compared with the cluster, and gone on with. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { call, connect } from '../../lib/rpc.ts';
import { IpamService, LedgerService } from '../../proto/ipledger.ts';
import { type CommandResult, runCommand } from '../harness/command.ts';
import { childEnvironment } from '../harness/launch.ts';
import { root } from '../harness/paths.ts';
import { openCounter } from '../faults/counting.ts';
import { expectAgreement } from './agreement.ts';
import { expectBound } from './attached.ts';
import { backUp, restore } from './backup.ts';
import { eventually } from './eventually.ts';
import { plugin } from './plugin.ts';
import { addressOf, makeNetworkAndSubnet, makePod, openScene, type Scene } from './scene.ts';

describe('A ledger that was restored from a backup', function () {
  this.timeout(300_000);
  let scene: Scene;
  before(async () => {
    scene = await openScene();
    await makeNetworkAndSubnet(scene, 'lan', '10.8.0.0/24');
  });
  after(() => scene?.run.end());

  function ipledgerAt(endpoint: string, args: readonly string[]): Promise<CommandResult> {
    const env = childEnvironment({ IPLEDGER_ENDPOINT: endpoint, KUBECONFIG: scene.stack.cluster.kubeconfig });
    return runCommand(join(root, 'cli', 'ipledger'), args, { env });
  }
  const ipledger = (...args: string[]): Promise<CommandResult> => ipledgerAt(scene.stack.allocator.endpoint, args);
  const recover = (...args: string[]): Promise<CommandResult> => ipledger('recover', ...args);

  /** A run that ends when it has changed something so many times, as one that is killed then. */
  async function recoverUntil(changes: number, ...args: string[]): Promise<CommandResult> {
    let left = changes;
    const changing = ['restore', 'release', 'unbind', 'applySubnet', 'applyPool', 'allocate', 'thaw'];
    const admits = (name: string): boolean => !changing.includes(name) || left-- > 0;
    const counter = openCounter(scene.run, admits);
    return ipledgerAt(await counter.before(scene.stack.allocator.endpoint), ['recover', ...args]);
  }

  async function asked<T>(ask: (client: ReturnType<typeof connect>) => Promise<T>): Promise<T> {
    const client = connect(scene.stack.allocator.endpoint, undefined);
    try {
      return await ask(client);
    } finally {
      client.close();
    }
  }
  const isFrozen = () =>
    asked(async (client) => (await call(client, LedgerService.getStatus, {}, { timeoutMs: 10_000 })).freeze);

  /** What a stranger is told who asks for an address. */
  const refusal = (): Promise<unknown> =>
    asked((client) =>
      call(
        client,
        IpamService.allocate,
        {
          pod: { namespace: 'default', name: 'x', uid: 'x' },
          attachments: [{ provider: 'lan.default', subnets: ['lan'] }],
        },
        { timeoutMs: 10_000 },
      ).catch((error: unknown) => error),
    );

  /** Until the Lease remembers all that the ledger has. */
  async function remembered(): Promise<void> {
    const { position } = await asked((client) => call(client, LedgerService.getStatus, {}, { timeoutMs: 10_000 }));
    await eventually(async () => {
      const leases = await scene.kubernetes.list('Lease');
      const lease = leases.find(({ metadata }) => metadata.name === 'ipledger-pod-watcher');
      const memory = JSON.parse(lease?.metadata.annotations?.['ipledger.io/memory'] ?? '{}') as {
        readonly ledger?: { readonly seq: number };
      };
      expect(memory.ledger?.seq).to.equal(position?.seq);
    });
  }

  describe('while everything stood still', () => {
    let addresses: Record<string, string>;
    /** An export that was made after the backup. */
    let exported: string;

    before(async () => {
      const { stack, kubernetes } = scene;
      for (const pod of ['stays', 'goes']) await makePod(scene, pod, 'lan');
      const [stays, goes] = [await addressOf(scene, 'stays', 'lan'), await addressOf(scene, 'goes', 'lan')];
      const file = await backUp(scene.run, scene.stack.etcd);
      // What the backup does not know: a container gets its address, one goes, another gets its address, and a third comes.
      expect((await plugin(scene, { pod: 'stays', network: 'lan' })).code).to.equal(0);
      await kubernetes.remove('Pod', 'goes');
      await eventually(async () => expect(await kubernetes.list('IP')).to.have.length(1));
      await makePod(scene, 'heir', 'lan', { 'lan.default.kubernetes.io/ip_address': goes });
      await makePod(scene, 'comes', 'lan');
      addresses = { stays, heir: await addressOf(scene, 'heir', 'lan'), comes: await addressOf(scene, 'comes', 'lan') };
      expect(addresses['heir']).to.equal(goes);
      await ipledger('reserve', '10.8.0.70', '--for', 'vip/printer', '--reason', 'floor 3');
      exported = join(scene.run.folder, 'export.ndjson');
      await writeFile(exported, (await ipledger('export')).stdout);
      await expectAgreement(stack);
      await remembered();
      await stack.watcher.stop();
      await stack.allocator.stop();
      await restore(scene.run, scene.stack.etcd, file);
      await stack.allocator.start();
    });

    it('is frozen as soon as the pod-watcher is back, which remembers it', async () => {
      // It is not ready before the ledger can be believed again.
      void scene.stack.watcher.start().catch(() => undefined);
      await eventually(async () => expect(await isFrozen()).to.have.property('by', 'anonymous'));
      await makePod(scene, 'late', 'lan');
      const error = await refusal();
      expect(error).to.have.property('code', 'LEDGER_FROZEN');
      expect(error).to.have.property('message').that.contains('ipledger recover');
      const late = await scene.kubernetes.get('Pod', 'late');
      expect(late.metadata.annotations).to.not.have.property('lan.default.kubernetes.io/ip_address');
      for (const [pod, address] of Object.entries(addresses))
        expect(await addressOf(scene, pod, 'lan'), 'what was shown stays').to.equal(address);
    });

    it('stays frozen whoever is started again', async () => {
      await scene.stack.allocator.restart();
      await eventually(async () => expect(await refusal()).to.have.property('code', 'LEDGER_FROZEN'));
    });

    it('is not compared as if the cluster were wrong', async () => {
      const { code, stdout } = await ipledger('check');
      expect(code).to.equal(1);
      expect(stdout).to.match(/^frozen +the ledger +etcd was put back .* {2}ipledger recover {2}# /m);
      expect(stdout).to.contain(': 1 disagreement\n');
    });

    it('is compared with the cluster', async () => {
      const { code, stdout, stderr } = await recover();
      expect({ code, stderr }).to.deep.equal({
        code: 0,
        stderr: 'nothing was changed: --apply --reason … does it\n',
      });
      const lines = stdout.split('\n').map((line) => line.replaceAll(/ {2,}/g, ' | '));
      const { heir, comes } = addresses;
      expect(lines.slice(1, 4)).to.satisfy((told: string[]) =>
        [
          `holds what it should not | Pod default/goes | take back ${heir} of subnet lan`,
          `address is missing | Pod default/heir | import ${heir} of subnet lan`,
          `address is missing | Pod default/comes | import ${comes} of subnet lan`,
        ].every((start) => told.some((line) => line.startsWith(start))),
      );
      expect(stdout).to.match(/, and frozen since [^:]+:\d\d:\d\d: anonymous remembers event \d+ of epoch 1$/m);
      expect(stdout).to.match(/^lost: events \d+ to \d+ are gone, \d+ at least, of the time from .* to /m);
      expect(stdout).to.contain('1 allocation to take back, 2 attachments to import\n');
      expect(stdout).to.contain('ipledger quarantine ADDRESS');
    });

    it('is told what was done by hand, from an export that has it', async () => {
      const { code, stdout } = await recover('--remembered', exported);
      expect(code).to.equal(0);
      expect(stdout).to.match(/^the export has events that the ledger lacks: .*\b1 AddressReserved\b/m);
      expect(stdout).to.match(
        /^ {2}ipledger reserve 10\.8\.0\.70 --for vip\/printer --subnet lan --reason 'floor 3' {2}# event \d+, .*, by anonymous$/m,
      );
    });

    it('stays frozen while a run to recover it breaks off, after whichever step', async () => {
      for (const changes of [1, 2, 3]) {
        const { code, stderr } = await recoverUntil(changes, '--apply', '--reason', 'the disk of etcd was lost');
        expect({ code, stderr }).to.deep.equal({ code: 1, stderr: 'ipledger: nobody answers here any more\n' });
        expect(await isFrozen(), `after ${changes}`).to.have.property('by', 'anonymous');
      }
    });

    it('goes on when an operator says so, from where that broke off: nobody changes its address, and all agree', async () => {
      const { stack } = scene;
      const { code, stdout, stderr } = await recover('--apply', '--reason', 'the disk of etcd was lost');
      expect({ code, stderr }, stdout).to.deep.equal({ code: 0, stderr: '' });
      expect(stdout).to.contain(': done\n');
      expect(await isFrozen()).to.equal(undefined);
      const late = await addressOf(scene, 'late', 'lan');
      for (const [pod, address] of Object.entries(addresses)) {
        expect(await addressOf(scene, pod, 'lan')).to.equal(address);
        expect(late).to.not.equal(address);
      }
      await expectAgreement(stack);
      expect((await recover()).stdout)
        .to.contain('epoch 2')
        .and.to.contain('not frozen');
    });

    it('gets the binding of a container back from its node, without an ADD, also when the agent was restarted', async () => {
      const stays: [string, string] = ['lan', addresses['stays'] ?? ''];
      await scene.stack.agents[0].restart();
      await expectBound(scene, stays, 'container-of-stays');
    });

    it('tells in its history what was done', async () => {
      const { events } = await asked((client) =>
        call(client, LedgerService.history, { pageSize: 1_000 }, { timeoutMs: 10_000 }),
      );
      const [restored, ...others] = events.filter(({ type }) => type === 'LedgerRestored');
      expect(others).to.deep.equal([]);
      expect(restored?.ledgerRestored).to.include({ epoch: 2, reason: 'the disk of etcd was lost' });
      expect(restored?.ledgerRestored?.lostSeq).to.be.above(restored?.ledgerRestored?.seq ?? Infinity);
      const imported = events.filter(({ addressAllocated }) => addressAllocated?.cause === 'ALLOCATION_CAUSE_IMPORT');
      expect(imported).to.have.length(2);
    });

    it('does not say that it knows what was so in the time that is lost', async () => {
      const reserved = (await readFile(exported, 'utf8'))
        .split('\n')
        .find((line) => line.includes('"AddressReserved"'));
      const { at } = JSON.parse(reserved ?? '{}') as { readonly at: string };
      const said = /^what happened between .* and .* is lost: etcd was restored from a backup/m;
      expect((await ipledger('who-had', addresses['heir'] ?? '', '--at', at)).stderr).to.match(said);
      expect((await ipledger('state', '--at', at)).stdout).to.match(said);
      expect((await ipledger('who-had', addresses['heir'] ?? '')).stderr).to.equal('');
    });
  });

  describe('under an allocator that lives on', () => {
    it('is noticed by it, and it leaves word for the next one; of two who recover it at once only one begins an epoch', async () => {
      const { stack } = scene;
      const file = await backUp(scene.run, scene.stack.etcd);
      await makePod(scene, 'lost', 'lan');
      const lost = await addressOf(scene, 'lost', 'lan');
      await expectAgreement(stack);
      await stack.watcher.stop();
      await restore(scene.run, scene.stack.etcd, file);
      await eventually(() => expect(stack.allocator.alive).to.be.false);
      await stack.allocator.start();
      expect(await isFrozen()).to.have.property('by', 'ipledger://allocator/allocator');
      const both = await Promise.all(['one', 'other'].map((reason) => recover('--apply', '--reason', reason)));
      const told = JSON.stringify(both);
      expect(
        both.some(({ code }) => code === 0),
        told,
      ).to.be.true;
      for (const { code, stderr } of both)
        if (code !== 0) expect(stderr, told).to.match(/the ledger was recovered meanwhile: |: it is not frozen: /);
      const { events } = await asked((client) =>
        call(client, LedgerService.history, { pageSize: 1_000 }, { timeoutMs: 10_000 }),
      );
      const epochs = events.flatMap(({ ledgerRestored }) => ledgerRestored?.epoch ?? []);
      expect(epochs, told).to.have.members([2, 3]);
      expect(await isFrozen(), told).to.equal(undefined);
      await stack.watcher.start();
      expect(await addressOf(scene, 'lost', 'lan')).to.equal(lost);
      await expectAgreement(stack);
    });
  });
});

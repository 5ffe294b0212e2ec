/**
 * Tests a ledger whose etcd is restored from an old backup: it is frozen, compared with the
 * cluster, and recovered.
 */
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { call, connect } from '../../../lib/grpc/client.ts';
import { IpamService, LedgerService } from '../../../proto/generated/ipledger.ts';
import { documentedCommands } from '../../docs/documented-commands.ts';
import { runDocumented } from '../../docs/run-documented.ts';
import { executeIpledger, runIpledger } from '../../harness/ipledger-cli.ts';
import type { CommandResult } from '../../harness/processes/command.ts';
import { createCountingProxy } from '../../faults/counting-proxy.ts';
import { expectConsistency } from '../support/consistency.ts';
import { expectBound } from '../support/attachments.ts';
import { backUpEtcd, restoreEtcd } from '../support/etcd-backup.ts';
import { eventually } from '../support/eventually.ts';
import { callKubeOvnPlugin } from '../support/plugin-call.ts';
import {
  waitForAddress,
  makeNetworkAndSubnet,
  makePod,
  openTestEnvironment,
  type TestEnvironment,
} from '../support/test-environment.ts';

/** No Pod of these tests ends during a recovery. */
const atOnce = ['--wait-seconds', '0'];

describe('A ledger that was restored from a backup', function () {
  this.timeout(300_000);
  let scene: TestEnvironment;
  before(async () => {
    scene = await openTestEnvironment();
    await makeNetworkAndSubnet(scene, 'lan', '10.8.0.0/24');
  });
  after(() => scene?.run.end());

  function ipledgerAt(endpoint: string, args: readonly string[]): Promise<CommandResult> {
    return runIpledger(args, { allocator: { endpoint }, kubeconfig: scene.stack.cluster.kubeconfig });
  }
  const ipledger = (...args: string[]): Promise<CommandResult> => ipledgerAt(scene.stack.allocator.endpoint, args);
  const recover = (...args: string[]): Promise<CommandResult> => ipledger('recover', ...atOnce, ...args);

  /** Runs the commands of a document, which end with `ipledger recover`. */
  const follow = (commands: string): Promise<CommandResult> =>
    runDocumented(scene.run, commands, {
      IPLEDGER_ENDPOINT: scene.stack.allocator.endpoint,
      KUBECONFIG: scene.stack.cluster.kubeconfig,
    });

  /** Runs a recovery whose connection fails after this number of changes. */
  async function recoverUntil(changes: number, ...args: string[]): Promise<CommandResult> {
    let remaining = changes;
    const changing = ['restore', 'release', 'unbind', 'applySubnet', 'applyPool', 'allocate', 'unfreeze'];
    const admits = (name: string): boolean => !changing.includes(name) || remaining-- > 0;
    const counter = createCountingProxy(scene.run, admits);
    return ipledgerAt(await counter.startFor(scene.stack.allocator.endpoint), ['recover', ...atOnce, ...args]);
  }

  async function withClient<T>(request: (client: ReturnType<typeof connect>) => Promise<T>): Promise<T> {
    const client = connect(scene.stack.allocator.endpoint, undefined);
    try {
      return await request(client);
    } finally {
      client.close();
    }
  }
  const readFreeze = () =>
    withClient(async (client) => (await call(client, LedgerService.getStatus, {}, { timeoutMs: 10_000 })).freeze);

  /** Returns the error of a request for an address. */
  const requestAddress = (): Promise<unknown> =>
    withClient((client) =>
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

  /** Waits until the Lease has the position of the ledger. */
  async function waitForLease(): Promise<void> {
    const { position } = await withClient((client) => call(client, LedgerService.getStatus, {}, { timeoutMs: 10_000 }));
    await eventually(async () => {
      const leases = await scene.kubernetes.list('Lease');
      const lease = leases.find(({ metadata }) => metadata.name === 'ipledger-pod-watcher');
      const state = JSON.parse(lease?.metadata.annotations?.['ipledger.io/memory'] ?? '{}') as {
        readonly ledger?: { readonly seq: number };
      };
      expect(state.ledger?.seq).to.equal(position?.seq);
    });
  }

  describe('while all programs are stopped', () => {
    let addresses: Record<string, string>;
    /** The path of an export that is newer than the backup. */
    let exported: string;

    before(async () => {
      const { stack, kubernetes } = scene;
      for (const pod of ['stays', 'goes']) await makePod(scene, pod, 'lan');
      const [stays, goes] = [await waitForAddress(scene, 'stays', 'lan'), await waitForAddress(scene, 'goes', 'lan')];
      const file = await backUpEtcd(scene.run, scene.stack.etcd);
      // Changes the ledger after the backup: a bind, a deletion, an allocation of the released
      // address, and a new allocation.
      expect((await callKubeOvnPlugin(scene, { pod: 'stays', network: 'lan' })).code).to.equal(0);
      await kubernetes.remove('Pod', 'goes');
      await eventually(async () => expect(await kubernetes.list('IP')).to.have.length(1));
      await makePod(scene, 'successor', 'lan', { 'lan.default.kubernetes.io/ip_address': goes });
      await makePod(scene, 'comes', 'lan');
      addresses = {
        stays,
        successor: await waitForAddress(scene, 'successor', 'lan'),
        comes: await waitForAddress(scene, 'comes', 'lan'),
      };
      expect(addresses['successor']).to.equal(goes);
      await ipledger('reserve', '10.8.0.70', '--for', 'vip/printer', '--reason', 'floor 3');
      exported = join(scene.run.folder, 'export.ndjson');
      await writeFile(exported, (await ipledger('export')).stdout);
      expect((await callKubeOvnPlugin(scene, { pod: 'comes', network: 'lan' })).code).to.equal(0);
      await expectConsistency(stack);
      await waitForLease();
      await stack.watcher.stop();
      // Claims an address in annotations that the Pod does not have.
      await makePod(scene, 'thief', 'lan', {
        'lan.default.kubernetes.io/ip_address': stays,
        'lan.default.kubernetes.io/allocated': 'true',
      });
      await stack.allocator.stop();
      await restoreEtcd(scene.run, scene.stack.etcd, file);
      await stack.allocator.start();
    });

    it('A restored ledger is frozen when the pod-watcher starts, because its Lease has a later position', async () => {
      // Does not wait: the watcher becomes ready after the recovery.
      void scene.stack.watcher.start().catch(() => undefined);
      await eventually(async () => expect(await readFreeze()).to.have.property('reportedBy', 'anonymous'));
      await makePod(scene, 'late', 'lan');
      const error = await requestAddress();
      expect(error).to.have.property('code', 'LEDGER_FROZEN');
      expect(error).to.have.property('message').that.contains('ipledger recover');
      const late = await scene.kubernetes.get('Pod', 'late');
      expect(late.metadata.annotations).to.not.have.property('lan.default.kubernetes.io/ip_address');
      for (const [pod, address] of Object.entries(addresses))
        expect(await waitForAddress(scene, pod, 'lan'), 'the Pod keeps its address').to.equal(address);
    });

    it('A restored ledger stays frozen after a restart of the allocator', async () => {
      await scene.stack.allocator.restart();
      await eventually(async () => expect(await requestAddress()).to.have.property('code', 'LEDGER_FROZEN'));
    });

    it('A restored ledger has the freeze as its only disagreement', async () => {
      const { code, stdout } = await ipledger('check');
      expect(code).to.equal(1);
      expect(stdout).to.match(/^frozen +the ledger +etcd was restored from a backup: .* {2}ipledger recover {2}# /m);
      expect(stdout).to.contain(': 1 disagreement\n');
    });

    it('A restored ledger is compared with the cluster by recover', async () => {
      const { code, stdout, stderr } = await recover();
      expect({ code, stderr }).to.deep.equal({
        code: 1,
        stderr: 'nothing was changed: add --apply --reason … to recover\n',
      });
      const lines = stdout.split('\n').map((line) => line.replaceAll(/ {2,}/g, ' | '));
      const { successor, comes } = addresses;
      expect(lines.slice(1, 4)).to.satisfy((rows: string[]) =>
        [
          `wrong allocation | Pod default/goes | release ${successor} of subnet lan`,
          `missing allocation | Pod default/successor | import ${successor} of subnet lan`,
          `missing allocation | Pod default/comes | import ${comes} of subnet lan`,
        ].every((start) => rows.some((line) => line.startsWith(start))),
      );
      expect(stdout).to.match(
        /, and frozen since [^:]+:\d\d:\d\d: anonymous has seen event \d+ of epoch 1, which the ledger lacks$/m,
      );
      expect(stdout).to.match(/^lost: events \d+ to \d+, at least \d+, of the time from .* to /m);
      expect(stdout).to.contain('1 allocation to release, 2 attachments to import, 1 conflict left out\n');
      expect(stdout).to.match(
        new RegExp(
          `^in the ledger +Pod default/thief +only its annotation has ${addresses['stays']} .* Pod default/stays `,
          'm',
        ),
      );
      expect(stdout).to.contain('ipledger quarantine ADDRESS');
    });

    it('A restored ledger has missing events, which become commands for the operator', async () => {
      const archive = join(scene.run.folder, 'archive');
      await mkdir(archive);
      await writeFile(join(archive, '1-100.events.ndjson.gz'), gzipSync(await readFile(exported)));
      const commands = documentedCommands('docs/operations.md', 'recover-archive');
      const { code, stdout } = await follow(commands.replace('ARCHIVE/LEDGER', archive));
      expect(code).to.equal(1);
      expect(stdout).to.match(/^the ledger lacks these events of the export: .*\b1 AddressReserved\b/m);
      expect(stdout).to.match(
        /^ {2}ipledger reserve 10\.8\.0\.70 --for vip\/printer --subnet lan --reason 'floor 3' {2}# event \d+, .*, by anonymous$/m,
      );
    });

    it('A restored ledger is compared with the binding files of nodes, which decide between two annotations', async () => {
      const comes = addresses['comes'] ?? '';
      await scene.kubernetes.remove('IP', 'comes.default.lan.default');
      await makePod(scene, 'copy', 'lan', {
        'lan.default.kubernetes.io/ip_address': comes,
        'lan.default.kubernetes.io/allocated': 'true',
      });
      const [agent] = scene.stack.agents;
      const imported = new RegExp(
        `^missing allocation +Pod default/comes +import ${comes.replaceAll('.', '\\.')} `,
        'm',
      );
      expect((await recover()).stdout).to.not.match(imported);
      const disk = join(scene.run.folder, 'var-lib-ipledger');
      await cp(agent.bindings, join(disk, 'bindings'), { recursive: true });
      const commands = documentedCommands('docs/operations.md', 'recover-bindings');
      const { code, stdout } = await follow(commands.replace('ssh node-1 sudo', '').replace('/var/lib/ipledger', disk));
      expect(code).to.equal(1);
      expect(stdout)
        .to.match(imported)
        .and.to.match(/^allocated twice +Pod default\/comes and Pod default\/copy /m);
      await scene.kubernetes.remove('Pod', 'copy');
    });

    it('A restored ledger stays frozen when a recovery is interrupted after any step', async () => {
      for (const changes of [1, 2, 3]) {
        const { code, stderr } = await recoverUntil(changes, '--apply', '--reason', 'the disk of etcd was lost');
        expect({ code, stderr }).to.deep.equal({ code: 1, stderr: 'ipledger: the proxy refuses this call\n' });
        expect(await readFreeze(), `after ${changes}`).to.have.property('reportedBy', 'anonymous');
      }
    });

    it('A restored ledger is recovered by the next run: every Pod keeps its address, and no disagreement remains', async () => {
      const { stack } = scene;
      const { code, stdout, stderr } = await recover('--apply', '--reason', 'the disk of etcd was lost');
      expect({ code, stderr }, stdout).to.deep.equal({ code: 1, stderr: '' });
      expect(stdout).to.contain(': done\n');
      expect(await readFreeze()).to.equal(undefined);
      const { allocations } = JSON.parse((await ipledger('allocations', '-o', 'json')).stdout) as {
        readonly allocations: readonly { attachment: { pod: string }; addresses: { address: string }[] }[];
      };
      const holders = allocations.filter((each) =>
        each.addresses.some(({ address }) => address === addresses['stays']),
      );
      expect(holders.map(({ attachment }) => attachment.pod)).to.deep.equal(['stays']);
      await scene.kubernetes.remove('Pod', 'thief');
      const late = await waitForAddress(scene, 'late', 'lan');
      for (const [pod, address] of Object.entries(addresses)) {
        expect(await waitForAddress(scene, pod, 'lan')).to.equal(address);
        expect(late).to.not.equal(address);
      }
      await expectConsistency(stack);
      expect((await recover()).stdout)
        .to.contain('epoch 2')
        .and.to.contain('not frozen');
    });

    it('A restored ledger gets lost bindings from the node agents again, also after their restart', async () => {
      const stays: [string, string] = ['lan', addresses['stays'] ?? ''];
      await scene.stack.agents[0].restart();
      await expectBound(scene, stays, 'container-of-stays');
    });

    it('A restored ledger has the recovery in its history', async () => {
      const { events } = await withClient((client) =>
        call(client, LedgerService.history, { pageSize: 1_000 }, { timeoutMs: 10_000 }),
      );
      const [restored, ...others] = events.filter(({ type }) => type === 'LedgerRestored');
      expect(others).to.deep.equal([]);
      expect(restored?.ledgerRestored).to.include({ epoch: 2, reason: 'the disk of etcd was lost' });
      expect(restored?.ledgerRestored?.lostSeq).to.be.above(restored?.ledgerRestored?.seq ?? Infinity);
      const imported = events.filter(({ addressAllocated }) => addressAllocated?.cause === 'ALLOCATION_CAUSE_IMPORT');
      expect(imported).to.have.length(2);
    });

    it('A restored ledger reports the lost period in who-had and state', async () => {
      const reserved = (await readFile(exported, 'utf8'))
        .split('\n')
        .find((line) => line.includes('"AddressReserved"'));
      const { at } = JSON.parse(reserved ?? '{}') as { readonly at: string };
      const lostPeriod = /^events between .* and .* are lost: etcd was restored from a backup/m;
      expect((await ipledger('who-had', addresses['successor'] ?? '', '--at', at)).stderr).to.match(lostPeriod);
      expect((await ipledger('state', '--at', at)).stdout).to.match(lostPeriod);
      expect((await ipledger('who-had', addresses['successor'] ?? '')).stderr).to.equal('');
    });
  });

  describe('while the allocator runs', () => {
    it('A running allocator freezes a restored ledger, and only one of two concurrent recoveries starts an epoch', async () => {
      const { stack } = scene;
      const file = await backUpEtcd(scene.run, scene.stack.etcd);
      await makePod(scene, 'lost', 'lan');
      const lost = await waitForAddress(scene, 'lost', 'lan');
      await expectConsistency(stack);
      await stack.watcher.stop();
      await restoreEtcd(scene.run, scene.stack.etcd, file);
      await eventually(() => expect(stack.allocator.isAlive).to.be.false);
      await stack.allocator.start();
      expect(await readFreeze()).to.have.property('reportedBy', 'ipledger://allocator/allocator');
      const options = { allocator: stack.allocator, kubeconfig: stack.cluster.kubeconfig };
      const both = await Promise.all(
        ['one', 'other'].map((reason) =>
          executeIpledger(['recover', ...atOnce, '--apply', '--reason', reason], options),
        ),
      );
      const output = JSON.stringify(both);
      expect(
        both.some(({ code }) => code === 0),
        output,
      ).to.be.true;
      for (const { code, stderr } of both)
        if (code !== 0)
          expect(stderr, output).to.match(/another run has recovered the ledger: |the ledger is not frozen: /);
      const { events } = await withClient((client) =>
        call(client, LedgerService.history, { pageSize: 1_000 }, { timeoutMs: 10_000 }),
      );
      const epochs = events.flatMap(({ ledgerRestored }) => ledgerRestored?.epoch ?? []);
      expect(epochs, output).to.have.members([2, 3]);
      expect(await readFreeze(), output).to.equal(undefined);
      await stack.watcher.start();
      expect(await waitForAddress(scene, 'lost', 'lan')).to.equal(lost);
      await expectConsistency(stack);
    });
  });
});

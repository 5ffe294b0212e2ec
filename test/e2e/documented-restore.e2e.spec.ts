/** Restores etcd by the documented command, while no other program has seen later events. */
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { IpamService, LedgerService } from '../../proto/generated/ipledger.ts';
import { documentedCommands } from '../docs/documented-commands.ts';
import { type Etcd, startEtcd } from '../harness/etcd.ts';
import { mustRun } from '../harness/processes/command.ts';
import { findFreePort } from '../harness/processes/free-ports.ts';
import { type Server, startServer } from '../harness/processes/server.ts';
import { findProgram } from '../harness/programs/find-program.ts';
import { openRun, type Run } from '../harness/run.ts';
import { allocatorLaunch } from '../harness/services.ts';
import { backUpEtcd } from './support/etcd-backup.ts';
import { allocateOfMacvlan, applyMacvlanSubnet } from './support/macvlan-subnet.ts';
import { connectReplicas, type ReplicaClient } from './support/replica-client.ts';

describe('A ledger that was restored by the documented command', function () {
  this.timeout(120_000);
  let run: Run;
  let etcd: Etcd;
  let allocator: Server;
  let client: ReplicaClient;
  before(async () => {
    run = openRun();
    etcd = await startEtcd(run);
    const endpoint = `127.0.0.1:${await findFreePort()}`;
    allocator = await startServer(run, allocatorLaunch({ name: 'allocator', etcd: [etcd.endpoint], listen: endpoint }));
    client = connectReplicas([{ endpoint }]);
    await applyMacvlanSubnet(client);
  });
  after(async () => {
    client?.close();
    await run.end();
  });

  const allocate = (name: string) => allocateOfMacvlan(client, name);
  const readStatus = () => client.call(LedgerService.getStatus, {});

  /** Restores a backup, as docs/operations.md has it. */
  async function restore(backup: string): Promise<void> {
    const data = join(run.folder, etcd.name);
    await etcd.stop();
    await rm(data, { recursive: true });
    const folder = join(run.folder, 'restore');
    await mkdir(folder);
    await rename(backup, join(folder, 'backup.db'));
    const commands = documentedCommands('docs/operations.md', 'restore-etcd').replace('/var/lib/etcd', data);
    const PATH = `${dirname(await findProgram('etcdutl', run.signal))}:${process.env['PATH']}`;
    await mustRun('sh', ['-euc', commands], { folder, env: { PATH } });
    await etcd.start();
  }

  it('A ledger that was restored by the documented command is frozen before the first request, although no client has seen a later event', async () => {
    const { position: inBackup } = await allocate('kept');
    const backup = await backUpEtcd(run, etcd);
    const { allocations } = await allocate('lost');
    await allocator.stop();
    await restore(backup);
    await allocator.start();
    const { freeze } = await readStatus();
    const { ledger: _, ...known } = inBackup ?? {};
    expect(freeze).to.deep.include({ reportedBy: 'ipledger://allocator/allocator', known, head: known });
    expect(await allocate('other').catch((error: unknown) => error)).to.have.property('code', 'LEDGER_FROZEN');
    const { allocations: kept } = await client.call(IpamService.listAllocations, {});
    expect(kept.map(({ attachment }) => attachment?.pod)).to.deep.equal(['kept']);
    expect(allocations).to.have.length(1);
  });

  it('A ledger that was restored by the documented command stays frozen after a restart of the allocator, and is not frozen again after a recovery', async () => {
    await allocator.restart();
    const { position: comparedPosition, freeze } = await readStatus();
    expect(freeze).to.have.property('reportedBy', 'ipledger://allocator/allocator');
    await client.call(LedgerService.restore, { reason: 'the backup is all there is', comparedPosition });
    await client.call(LedgerService.unfreeze, {});
    await allocator.restart();
    expect((await readStatus()).freeze).to.equal(undefined);
    expect((await allocate('other')).allocations).to.have.length(1);
  });
});

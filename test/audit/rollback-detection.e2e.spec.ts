/**
 * Restores etcd from a backup while all programs are stopped. Only an allocator's checkpoint file
 * has newer events.
 */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { IpledgerError } from '../../lib/errors.ts';
import { LedgerService } from '../../proto/generated/ipledger.ts';
import { parseCheckpoints } from '../../ledger/audit/checkpoints/checkpoint.ts';
import { allocateOfMacvlan, applyMacvlanSubnet } from '../e2e/support/macvlan-subnet.ts';
import { connectReplicas, type ReplicaClient } from '../e2e/support/replica-client.ts';
import { backUpEtcd, restoreEtcd } from '../e2e/support/etcd-backup.ts';
import { eventually } from '../e2e/support/eventually.ts';
import { type Etcd, startEtcd } from '../harness/etcd.ts';
import { openRun, type Run } from '../harness/run.ts';
import { type SigningAllocator, startSigningAllocator } from './signing-allocator.ts';

describe('An allocator with checkpoints of a rewound ledger', function () {
  this.timeout(120_000);
  let run: Run;
  let etcd: Etcd;
  let allocator: SigningAllocator;
  let client: ReplicaClient;
  before(async () => {
    run = openRun();
    etcd = await startEtcd(run);
    allocator = await startSigningAllocator(run, etcd);
    client = connectReplicas([allocator]);
    await applyMacvlanSubnet(client);
  });
  after(async () => {
    client?.close();
    await run.end();
  });

  const allocate = (name: string) => allocateOfMacvlan(client, name);
  const freeze = async () => (await client.call(LedgerService.getStatus, {})).freeze;
  /** Waits until the last checkpoint in the file names this event. */
  async function waitForCheckpoint(seq: number): Promise<void> {
    await eventually(() => {
      const last = parseCheckpoints(readFileSync(allocator.checkpoints, 'utf8')).at(-1);
      expect(last?.head.seq).to.equal(seq);
    });
  }

  it('An allocator with checkpoints of a rewound ledger freezes the ledger at start, so no address is allocated twice', async () => {
    const file = await backUpEtcd(run, etcd);
    const { position } = await allocate('lost');
    await waitForCheckpoint(position?.seq ?? 0);
    await allocator.stop();
    await restoreEtcd(run, etcd, file);
    await allocator.start();
    const { ledger: _, ...known } = position ?? {};
    expect(await freeze()).to.deep.include({ reportedBy: 'ipledger://allocator/allocator', known });
    const refused = await allocate('other').catch((error: unknown) => error);
    expect(IpledgerError.from(refused).code).to.equal('LEDGER_FROZEN');
  });

  it('An allocator with checkpoints of a rewound ledger does not freeze a ledger again that an operator recovered', async () => {
    const { position: comparedPosition } = await client.call(LedgerService.getStatus, {});
    const { position } = await client.call(LedgerService.restore, {
      reason: 'the backup is all there is',
      comparedPosition,
    });
    await client.call(LedgerService.unfreeze, {});
    await allocator.restart();
    expect(await freeze()).to.equal(undefined);
    await waitForCheckpoint(position?.seq ?? 0);
    await allocator.restart();
    expect(await freeze()).to.equal(undefined);
    await allocate('other');
  });
});

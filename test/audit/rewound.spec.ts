/** etcd restored from a backup while everything was stopped, where nobody remembers anything but an allocator's checkpoints. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { IpledgerError } from '../../lib/errors.ts';
import { IpamService, LedgerService, SubnetsService } from '../../proto/ipledger.ts';
import { parseCheckpoints } from '../../services/allocator/checkpoint/checkpoint.ts';
import { connectEverywhere, type Everywhere } from '../e2e/allocators.ts';
import { backUp, restore } from '../e2e/backup.ts';
import { eventually } from '../e2e/eventually.ts';
import { type Etcd, startEtcd } from '../harness/etcd.ts';
import { openRun, type Run } from '../harness/run.ts';
import { type Signing, startSigning } from './allocator.ts';

describe('An allocator that kept checkpoints of a ledger that was rewound', function () {
  this.timeout(120_000);
  let run: Run;
  let etcd: Etcd;
  let allocator: Signing;
  let client: Everywhere;
  before(async () => {
    run = openRun();
    etcd = await startEtcd(run);
    allocator = await startSigning(run, etcd);
    client = connectEverywhere([allocator]);
    const spec = { cidrBlock: '172.17.0.0/16', gateway: '172.17.0.1', provider: 'macvlan.default' };
    await client.call(SubnetsService.applySubnet, { name: 'macvlan', spec });
  });
  after(async () => {
    client?.close();
    await run.end();
  });

  const allocate = (name: string) =>
    client.call(IpamService.allocate, {
      pod: { namespace: 'default', name, uid: `uid-${name}` },
      attachments: [{ provider: 'macvlan.default', subnets: ['macvlan'] }],
    });
  const freeze = async () => (await client.call(LedgerService.getStatus, {})).freeze;
  /** The last event that a checkpoint was kept of, once that is this one. */
  async function keptOf(seq: number): Promise<void> {
    await eventually(() => {
      const last = parseCheckpoints(readFileSync(allocator.checkpoints, 'utf8')).at(-1);
      expect(last?.head.seq).to.equal(seq);
    });
  }

  it('freezes it when it is started, so that no address is given once more', async () => {
    const file = await backUp(run, etcd);
    const { position } = await allocate('lost');
    await keptOf(position?.seq ?? 0);
    await allocator.stop();
    await restore(run, etcd, file);
    await allocator.start();
    expect(await freeze()).to.deep.include({ by: 'ipledger://allocator/allocator', known: position });
    const refused = await allocate('other').catch((error: unknown) => error);
    expect(IpledgerError.from(refused).code).to.equal('LEDGER_FROZEN');
  });

  it('leaves it alone once an operator has let it go on', async () => {
    const { position: compared } = await client.call(LedgerService.getStatus, {});
    const { position } = await client.call(LedgerService.restore, { reason: 'the backup is all there is', compared });
    await client.call(LedgerService.thaw, {});
    await allocator.restart();
    expect(await freeze()).to.equal(undefined);
    await keptOf(position?.seq ?? 0);
    await allocator.restart();
    expect(await freeze()).to.equal(undefined);
    await allocate('other');
  });
});

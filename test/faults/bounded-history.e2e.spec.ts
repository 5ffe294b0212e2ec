import { expect } from 'chai';
import { call, connect, type Connection } from '../../lib/grpc/client.ts';
import { IpledgerError } from '../../lib/errors.ts';
import { ArchivedLedger } from '../../ledger/archive/archived-ledger.ts';
import { EtcdArchive } from '../../ledger/archive/etcd-archive.ts';
import { verifyLedger } from '../../ledger/audit/verification/verify-ledger.ts';
import { connectEtcd } from '../../ledger/log/store/etcd-client.ts';
import { EtcdLedger } from '../../ledger/log/store/etcd-ledger.ts';
import type { MessageInput, Method } from '../../proto/codec.ts';
import { type GetStatusReply, IpamService, LedgerService, SubnetsService } from '../../proto/generated/ipledger.ts';
import { eventually } from '../e2e/support/eventually.ts';
import { type Etcd, readEtcdStatus, startEtcd } from '../harness/etcd.ts';
import { openRun, type Run } from '../harness/run.ts';
import { type AllocatorServer, startAllocator } from '../harness/services.ts';
import { forEachConcurrent } from '../scale/for-each-concurrent.ts';

/** The minutes of the long form: `MINUTES=60 QUOTA_MIB=64` has the settings of the chart. */
const minutes = Number(process.env['MINUTES'] ?? 0);
const quotaBytes = Number(process.env['QUOTA_MIB'] ?? (minutes > 0 ? 64 : 16)) << 20;
const small = { keepEvents: 1_500, segmentEvents: 1_500, env: { IPLEDGER_ARCHIVE_MAX_BYTES: String(1 << 20) } };
const settings = minutes > 0 ? { env: {} } : small;
/** The number of Pods, whose events exceed the quota without an archive. */
const pods = 7_500;
const concurrency = minutes > 0 ? 8 : 64;

describe('A ledger with its archive in etcd, under more events than etcd can hold', function () {
  this.timeout(minutes * 60_000 + 300_000);
  let run: Run;
  let etcd: Etcd;
  let allocator: AllocatorServer;
  let client: Connection;
  before(async () => {
    run = openRun();
    etcd = await startEtcd(run, { quotaBytes });
    const env = { ...settings.env, IPLEDGER_ETCD_QUOTA: String(quotaBytes) };
    allocator = await startAllocator(run, { etcd, archive: { ...settings, location: 'etcd:', env } });
    client = connect(allocator.endpoint, undefined);
    const spec = { cidrBlock: '172.17.0.0/24', provider: 'macvlan.default', cooldownMs: 0 };
    await send(SubnetsService.applySubnet, { name: 'macvlan', spec });
    await send(IpamService.allocate, requestOf('resident'));
  });
  after(async () => {
    client.close();
    await run.end();
  });

  /** Sends a request without a repetition: each has to succeed. */
  const send = <Request, Reply>(
    method: Method<Request, Reply, 'unary'>,
    request: MessageInput<Request>,
  ): Promise<Reply> => call(client, method, request, { timeoutMs: 20_000 });
  const requestOf = (name: string) => ({
    pod: { namespace: 'default', name, uid: `uid-${name}` },
    attachments: [{ provider: 'macvlan.default', subnets: ['macvlan'] }],
  });

  async function allocateAndRelease(name: string): Promise<void> {
    await send(IpamService.allocate, requestOf(name));
    const cause = 'RELEASE_CAUSE_POD_DELETED';
    await send(IpamService.release, { namespace: 'default', pod: name, podUid: `uid-${name}`, cause });
  }

  function* names(): Generator<string> {
    const end = performance.now() + minutes * 60_000;
    for (let index = 0; index < pods || performance.now() < end; index++) yield `pod-${index}`;
  }

  const largest = { allocated: 0, inUse: 0 };
  async function observe({ storage }: GetStatusReply): Promise<void> {
    const { dbSize, dbSizeInUse } = await readEtcdStatus(etcd);
    largest.allocated = Math.max(largest.allocated, dbSize);
    largest.inUse = Math.max(largest.inUse, dbSizeInUse, storage?.usedBytes ?? 0);
  }

  it('A ledger with its archive in etcd, under more events than etcd can hold accepts each request, and reports the start of its history', async () => {
    let count = 0;
    const startedAt = performance.now();
    const inMiB = (bytes: number): string => (bytes / 2 ** 20).toFixed(1);
    await forEachConcurrent(names(), concurrency, async (name) => {
      await allocateAndRelease(name);
      if (++count % (minutes > 0 ? 10_000 : 1_500) === 0) {
        const status = await send(LedgerService.getStatus, {});
        await observe(status);
        console.log(
          `      ${status.position?.seq} events, history since ${status.oldestSeq}, in etcd since ${status.logStartSeq}: at most ${inMiB(largest.allocated)} MiB, ${inMiB(largest.inUse)} in use, ${Math.round((performance.now() - startedAt) / 1_000)} s`,
        );
      }
    });
    const oldestSeq = await eventually(async () => {
      const status = await send(LedgerService.getStatus, {});
      // A slow machine does not reach the limit of the long form in some minutes
      const isOverLimit = minutes === 0 || (status.position?.seq ?? 0) > 300_000;
      expect(status.oldestSeq, 'history was dropped').to.be.within(isOverLimit ? 2 : 1, status.logStartSeq);
      return status.oldestSeq;
    }, 60_000);
    expect(await etcd.etcdctl(['alarm', 'list'])).to.equal('');

    await allocator.stop();
    const etcdClient = connectEtcd([etcd.endpoint]);
    try {
      const ledger = new ArchivedLedger(new EtcdLedger(etcdClient), new EtcdArchive(etcdClient));
      const { findings, start } = await verifyLedger(ledger, { signal: run.signal });
      expect(findings).to.deep.equal([]);
      const last = start?.seq ?? 0;
      expect(last).to.be.at.least(oldestSeq - 1);
      if (last === 0) return;
      const refused = await ledger.readEach([last], run.signal).then(() => undefined, IpledgerError.from);
      expect(refused?.message).to.match(
        new RegExp(`^the history begins with event ${last + 1}, after 20.*Z: older events`),
      );
      expect(await ledger.readEach([last + 1], run.signal)).to.have.length(1);
    } finally {
      etcdClient.close();
    }
  });
});

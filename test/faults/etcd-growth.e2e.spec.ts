import { globSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ArchivedLedger } from '../../ledger/archive/archived-ledger.ts';
import { FolderArchive } from '../../ledger/archive/folder-archive.ts';
import { EtcdLedger } from '../../ledger/log/store/etcd-ledger.ts';
import { connectEtcd } from '../../ledger/log/store/etcd-client.ts';
import { verifyLedger } from '../../ledger/audit/verification/verify-ledger.ts';
import { IpamService, SubnetsService } from '../../proto/generated/ipledger.ts';
import { connectReplicas, type ReplicaClient } from '../e2e/support/replica-client.ts';
import { eventually } from '../e2e/support/eventually.ts';
import { compactEtcd, type Etcd, readEtcdStatus, startEtcd } from '../harness/etcd.ts';
import { openRun, type Run } from '../harness/run.ts';
import { type AllocatorServer, startAllocator } from '../harness/services.ts';
import { testSize } from './test-size.ts';
import { forEachConcurrent } from '../scale/for-each-concurrent.ts';

const events = testSize.sealedEvents;
const keepEvents = Math.ceil(events / 20);
const segmentEvents = Math.min(10_000, 2 * keepEvents);
const rounds = 10;
const concurrency = 64;
const patienceMs = 300_000;

interface Size {
  readonly head: number;
  /** Size of the database. */
  readonly bytes: number;
  /** Bytes of the file that are in use. */
  readonly inUse: number;
}

/** Pods that keep their addresses: the state's part of the database, beside the sealed events. */
const livePods = Math.min(events / 10, 100_000);

describe('etcd with an archive, under continuous allocation and release beside many allocations that stay', function () {
  this.timeout(testSize.timeoutMs + events * 10);
  let run: Run;
  let etcd: Etcd;
  let folder: string;
  let allocator: AllocatorServer;
  let client: ReplicaClient;
  before(async () => {
    run = openRun();
    etcd = await startEtcd(run);
    folder = join(run.folder, 'archive');
    mkdirSync(folder);
    allocator = await startAllocator(run, { etcd, archive: { location: folder, keepEvents, segmentEvents } });
    client = connectReplicas([allocator]);
    const spec = { cidrBlock: '172.17.0.0/22', gateway: '172.17.0.1', provider: 'macvlan.default', cooldownMs: 0 };
    await client.call(SubnetsService.applySubnet, { name: 'macvlan', spec });
    const staying = { cidrBlock: '10.0.0.0/12', gateway: '10.0.0.1', provider: 'staying.default' };
    await client.call(SubnetsService.applySubnet, { name: 'staying', spec: staying });
  });
  after(async () => {
    client.close();
    await run.end();
  });

  async function allocate(name: string, subnet: string): Promise<void> {
    const pod = { namespace: 'default', name, uid: `uid-${name}` };
    const attachments = [{ provider: `${subnet}.default`, subnets: [subnet] }];
    await client.call(IpamService.allocate, { pod, attachments });
  }

  async function allocateAndRelease(name: string): Promise<void> {
    await allocate(name, 'macvlan');
    const cause = 'RELEASE_CAUSE_POD_DELETED';
    await client.call(IpamService.release, { namespace: 'default', pod: name, podUid: `uid-${name}`, cause });
  }

  const archivedBytes = (kind: string): number =>
    globSync(`*/*.${kind}`, { cwd: folder }).reduce((sum, file) => sum + statSync(join(folder, file)).size, 0);

  const head = async (): Promise<number> =>
    (await client.call(SubnetsService.listSubnets, {})).position?.seq ?? Number.NaN;

  /** Compacts etcd, as its auto-compaction does every few minutes. Returns its size. */
  async function compact(): Promise<Size> {
    await compactEtcd(etcd, '--physical');
    const { dbSize, dbSizeInUse } = await readEtcdStatus(etcd);
    return { head: await head(), bytes: dbSize, inUse: dbSizeInUse };
  }

  async function oldestLive(): Promise<number> {
    const key = await etcd.etcdctl(['get', '--prefix', '/ipledger/v1/log/', '--keys-only', '--limit=1']);
    return Number(key.trim().slice(-16));
  }

  it(`An etcd with an archive, under continuous allocation and release, keeps the last ${keepEvents} events and one segment, does not grow, writes twice its events, and loses none`, async () => {
    const sizes: Size[] = [];
    const live = Array.from({ length: livePods }, (_, index) => `live-${index}`);
    await forEachConcurrent(live, concurrency, (name) => allocate(name, 'staying'));
    const pods = Math.ceil(events / 2 / rounds);
    for (let round = 0; round < rounds; round++) {
      const names = Array.from({ length: pods }, (_, index) => `pod-${round}-${index}`);
      await forEachConcurrent(names, concurrency, allocateAndRelease);
      await eventually(async () => {
        expect((await head()) - (await oldestLive())).to.be.below(keepEvents + segmentEvents);
      }, patienceMs);
      const size = await compact();
      sizes.push(size);
      const megabytes = (bytes: number): string => (bytes / (1 << 20)).toFixed(1);
      console.log(`      ${size.head} events: etcd ${megabytes(size.bytes)} MiB, ${megabytes(size.inUse)} in use`);
      if (round === rounds / 2) await allocator.restart();
    }
    const [, , early = 0] = sizes.map(({ inUse }) => inUse);
    expect(sizes.at(-1)?.inUse, 'bytes in use').to.be.below(early * 1.5);
    expect(await head()).to.be.above(events);
    expect(archivedBytes('state.ndjson.gz'), 'bytes of end states').to.be.below(archivedBytes('events.ndjson.gz'));

    const etcdClient = connectEtcd([etcd.endpoint]);
    try {
      const ledger = new ArchivedLedger(new EtcdLedger(etcdClient), new FolderArchive(folder));
      const { findings, head: last } = await verifyLedger(ledger, { signal: run.signal });
      expect(findings).to.deep.equal([]);
      expect(last.seq).to.equal(await head());
    } finally {
      etcdClient.close();
    }
  });
});

import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { bundlePrograms } from '../../../build/bundle/bundle-programs.ts';
import { connect, type Connection, stream } from '../../../lib/grpc/client.ts';
import { IpamService, LedgerService, SubnetsService } from '../../../proto/generated/ipledger.ts';
import { startEtcd } from '../../harness/etcd.ts';
import { openRun, type Run } from '../../harness/run.ts';
import { type AllocatorServer, bundlesVariable, startAllocator } from '../../harness/services.ts';
import { forEachConcurrent } from '../../scale/for-each-concurrent.ts';
import { eventually } from '../support/eventually.ts';
import { connectReplicas, type ReplicaClient } from '../support/replica-client.ts';

const pods = 150;

describe('A bundled allocator', function () {
  this.timeout(120_000);
  let run: Run;
  let folder: string;
  let allocator: AllocatorServer;
  let client: ReplicaClient;
  let connection: Connection;
  before(async () => {
    run = openRun();
    const bundles = join(run.folder, 'bundle');
    await bundlePrograms(['allocator'], bundles);
    folder = join(run.folder, 'archive');
    mkdirSync(folder);
    const etcd = await startEtcd(run);
    const former = process.env[bundlesVariable];
    process.env[bundlesVariable] = bundles;
    try {
      const archive = { location: folder, keepEvents: 50, segmentEvents: 50 };
      allocator = await startAllocator(run, { etcd, archive });
    } finally {
      if (former === undefined) delete process.env[bundlesVariable];
      else process.env[bundlesVariable] = former;
    }
    client = connectReplicas([allocator]);
    connection = connect(allocator.endpoint, undefined);
    const spec = { cidrBlock: '172.17.0.0/16', gateway: '172.17.0.1', provider: 'macvlan.default' };
    await client.call(SubnetsService.applySubnet, { name: 'macvlan', spec });
    const names = Array.from({ length: pods }, (_, index) => `pod-${index}`);
    await forEachConcurrent(names, 32, async (name) => {
      const pod = { namespace: 'default', name, uid: `uid-${name}` };
      const attachments = [{ provider: 'macvlan.default', subnets: ['macvlan'] }];
      await client.call(IpamService.allocate, { pod, attachments });
    });
  });
  after(async () => {
    connection.close();
    client.close();
    await run.end();
  });

  const options = () => ({ signal: run.signal, silenceMs: 60_000 });

  it('A bundled allocator seals events in a separate thread', async () => {
    await eventually(() => {
      const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
      expect(files.filter((name) => name.endsWith('manifest.json'))).to.have.length.of.at.least(2);
    });
  });

  it('A bundled allocator answers StateAt, Diff and Verify in separate threads, with the archive', async () => {
    const held: string[] = [];
    for await (const { records } of stream(connection, LedgerService.stateAt, { pointInTime: { seq: 100 } }, options()))
      held.push(...records.map(({ address }) => address));
    expect(held).to.have.length(98); // the first two events create the ledger and its Subnet
    const changed: string[] = [];
    for await (const { addresses } of stream(
      connection,
      LedgerService.diff,
      { from: { seq: 10 }, to: { seq: 100 } },
      options(),
    ))
      changed.push(...addresses.map(({ after }) => after?.address ?? ''));
    expect(changed).to.have.length(90);
    const findings: string[] = [];
    let isDone = false;
    for await (const reply of stream(connection, LedgerService.verify, {}, options())) {
      findings.push(...reply.findings.map(({ what }) => what));
      isDone ||= reply.done;
    }
    expect([isDone, findings]).to.deep.equal([true, []]);
  });
});

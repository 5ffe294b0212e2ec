/** Export, replay, and checkpoints of a running allocator. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { IpamService } from '../../proto/generated/ipledger.ts';
import { addressPrefix, headKey } from '../../ledger/log/store/keys.ts';
import { parseCheckpoints } from '../../ledger/audit/checkpoints/checkpoint.ts';
import { generateKey } from '../../ledger/audit/checkpoints/signing-key.ts';
import { allocateOfMacvlan, applyMacvlanSubnet } from '../e2e/support/macvlan-subnet.ts';
import { connectReplicas, type ReplicaClient } from '../e2e/support/replica-client.ts';
import { eventually } from '../e2e/support/eventually.ts';
import { type Etcd, startEtcd } from '../harness/etcd.ts';
import { openRun, type Run } from '../harness/run.ts';
import { startAllocator } from '../harness/services.ts';
import { runIpledger } from '../harness/ipledger-cli.ts';
import { type SigningAllocator, startSigningAllocator } from './signing-allocator.ts';

const ledgerKeys = '/ipledger/v1/';

describe('The record', function () {
  this.timeout(180_000);
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
    for (let number = 1; number <= 40; number++) await allocate(`pod-${number}`);
    for (let number = 1; number <= 10; number++)
      await client.call(IpamService.release, {
        namespace: 'default',
        pod: `pod-${number}`,
        podUid: `uid-pod-${number}`,
        cause: 'RELEASE_CAUSE_POD_DELETED',
        // The text of an event can contain characters that other programs treat as a line end.
        evidence: 'a line\u2028and another',
      });
  });
  after(async () => {
    client?.close();
    await run.end();
  });

  const allocate = (name: string) => allocateOfMacvlan(client, name);

  /** Reads all keys in an etcd except those with a lease. */
  const everything = async ({ etcdctl }: Etcd): Promise<string> => {
    const log = await etcdctl(['get', '--prefix', `${ledgerKeys}log/`]);
    const rest = ['head', 'addr/', 'subnet/', 'pool/'].map((name) => etcdctl(['get', '--prefix', ledgerKeys + name]));
    return [log, ...(await Promise.all(rest))].join('');
  };
  const exported = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await runIpledger(['export', ...args]);
    expect([code, stderr]).to.deep.equal([0, '']);
    return stdout;
  };

  it('The record is exported completely, from the allocator and from etcd', async () => {
    const log = await etcd.etcdctl(['get', '--prefix', '--print-value-only', `${ledgerKeys}log/`]);
    expect(await exported('--etcd', etcd.endpoint)).to.equal(log);
    expect(await exported('--allocator', allocator.endpoint)).to.equal(log);
  });

  it('The record is exported by range, and a range that ends after the last event is refused', async () => {
    for (const where of [
      ['--etcd', etcd.endpoint],
      ['--allocator', allocator.endpoint],
    ]) {
      const lines = (await exported('--from', '5', '--to', '7', ...where)).trimEnd().split('\n');
      expect(lines.map((line) => (JSON.parse(line) as { seq: number }).seq)).to.deep.equal([5, 6, 7]);
      const { code, stdout, stderr } = await runIpledger(['export', '--to', '999', ...where]);
      expect([code, stdout]).to.deep.equal([1, '']);
      expect(stderr).to.match(/^ipledger: event 999 does not exist: the ledger ends with event \d+$/m);
      const last = /event (\d+)$/m.exec(stderr)?.[1];
      expect(await exported('--from', String(Number(last) + 1), ...where), 'nothing new').to.equal('');
      const never = await runIpledger(['export', '--from', '999', ...where]);
      expect([never.code, never.stdout, never.stderr]).to.deep.equal([
        1,
        '',
        `ipledger: event 999 does not exist: the ledger ends with event ${last}\n`,
      ]);
      const backwards = await runIpledger(['export', '--from', '7', '--to', '5', ...where]);
      expect([backwards.code, backwards.stderr]).to.deep.equal([
        1,
        'ipledger: the range from event 7 to event 5 ends before it begins\n',
      ]);
    }
  });

  it('The record becomes the same ledger in another etcd, where an allocator continues', async () => {
    const file = join(run.folder, 'ledger.ndjson');
    writeFileSync(file, await exported('--etcd', etcd.endpoint));
    const other = await startEtcd(run, { name: 'other' });
    const { code, stdout, stderr } = await runIpledger(['replay', file, '--etcd', other.endpoint]);
    expect([code, stderr]).to.deep.equal([0, '']);
    expect(stdout).to.match(/^52 events written, up to [0-9a-f]{64}\n$/);
    expect(await everything(other)).to.equal(await everything(etcd));
    expect((await runIpledger(['verify', '--etcd', other.endpoint])).code).to.equal(0);

    const again = await runIpledger(['replay', file, '--etcd', other.endpoint]);
    expect(again.code).to.equal(1);
    expect(again.stderr).to.match(/^ipledger: this ledger is not empty: it has 52 events/);
    expect((await runIpledger(['replay', file, '--etcd', other.endpoint, '--resume'])).code).to.equal(0);

    const next = await startAllocator(run, { etcd: other, name: 'next' });
    const held = await runIpledger(['allocations', '--allocator', next.endpoint, '-o', 'json']);
    expect((JSON.parse(held.stdout) as { allocations: unknown[] }).allocations).to.have.length(30);
  });

  it('The record is not served during its replay: an allocator that started earlier waits for the end', async () => {
    const file = join(run.folder, 'ledger.ndjson');
    const copy = await startEtcd(run, { name: 'copy' });
    expect((await runIpledger(['replay', file, '--etcd', copy.endpoint])).code).to.equal(0);
    const complete = await everything(copy);
    // An interrupted replay leaves a mark in the head, and a part of the claims.
    const head = (await copy.etcdctl(['get', '--print-value-only', headKey])).trim();
    await copy.etcdctl(['put', headKey, head.replace(/}$/, ',"claims":0}')]);
    await copy.etcdctl(['del', '--prefix', `${addressPrefix}macvlan/172.17.0.1`]);

    const starting = startAllocator(run, { etcd: copy, name: 'early' });
    starting.catch(() => undefined); // awaited below
    const log = join(run.folder, 'early.log');
    await eventually(() => expect(readFileSync(log, 'utf8')).to.contain('a replay is in progress, or was interrupted'));
    const verified = await runIpledger(['verify', '--etcd', copy.endpoint]);
    expect(verified.code).to.equal(1);
    expect(verified.stdout).to.match(/^\/ipledger\/v1\/head +a replay is in progress, .* ipledger replay --resume/m);
    const resumed = await runIpledger(['replay', file, '--etcd', copy.endpoint, '--resume']);
    expect([resumed.code, resumed.stderr]).to.deep.equal([0, '']);
    const early = await starting;
    expect(await everything(copy)).to.equal(complete);
    const held = await runIpledger(['allocations', '--allocator', early.endpoint, '-o', 'json']);
    expect((JSON.parse(held.stdout) as { allocations: unknown[] }).allocations).to.have.length(30);
  });

  it('The record is not replayed from an incomplete export', async () => {
    const lines = (await exported('--etcd', etcd.endpoint)).split('\n');
    const file = join(run.folder, 'broken.ndjson');
    writeFileSync(file, lines.toSpliced(20, 1).join('\n'));
    const empty = await startEtcd(run, { name: 'empty' });
    const { code, stderr } = await runIpledger(['replay', file, '--etcd', empty.endpoint]);
    expect(code).to.equal(1);
    expect(stderr).to.match(/is damaged: .*event 21 is missing: the next event is 22; nothing was written/);
    expect(await empty.etcdctl(['get', '--prefix', '/', '--keys-only'])).to.equal('');
  });

  it('The record is verified by the allocator', async () => {
    const clean = await runIpledger(['verify', '--allocator', allocator.endpoint]);
    expect([clean.code, clean.stderr]).to.deep.equal([0, '']);
    await etcd.etcdctl(['put', `${ledgerKeys}note`, 'hello']);
    const { code, stdout } = await runIpledger(['verify', '--allocator', allocator.endpoint]);
    await etcd.etcdctl(['del', `${ledgerKeys}note`]);
    expect(code).to.equal(1);
    expect(stdout).to.match(/^\/ipledger\/v1\/note +ipledger has no such key/m);
  });

  it('The record is signed on a schedule, to a file and stdout, and on request', async () => {
    await eventually(() => expect(seqsSigned().at(-1)).to.be.at.least(52));
    const now = await runIpledger(['checkpoint', '--allocator', allocator.endpoint]);
    expect(now.code).to.equal(0);
    expect(parseCheckpoints(now.stdout)[0]?.head.seq).to.equal(52);
    const args = ['verify', '--checkpoint', allocator.checkpoints, '--verifier-key', allocator.verifier];
    for (const where of [
      ['--etcd', etcd.endpoint],
      ['--allocator', allocator.endpoint],
    ])
      expect((await runIpledger([...args, ...where])).stdout).to.match(
        /, \d+ checkpoints? up to event \d+ verified, up to .*: no findings$/m,
      );
  });

  it('The record contains the rotation to a new key, signed by the previous key', async () => {
    const next = generateKey('audit.example/ledger');
    writeFileSync(`${allocator.keyFile}.new`, `${next.signer}\n`);
    renameSync(`${allocator.keyFile}.new`, allocator.keyFile);
    await eventually(() => expect(seqsSigned().at(-1)).to.be.at.least(53));
    await allocate('after-rotation');
    await eventually(() => expect(seqsSigned().at(-1)).to.be.at.least(54));
    const lines = (await exported('--etcd', etcd.endpoint, '--from', '53', '--to', '53')).trimEnd();
    const { type, data } = JSON.parse(lines) as { type: string; data: { publicKey: string } };
    expect([type, data.publicKey]).to.deep.equal(['KeyRotated', next.verifier]);
    const verify = ['verify', '--etcd', etcd.endpoint, '--checkpoint', allocator.checkpoints, '--verifier-key'];
    // The first key is enough to verify the second.
    expect((await runIpledger([...verify, allocator.verifier])).code).to.equal(0);
    expect((await runIpledger([...verify, next.verifier])).stdout).to.match(/is not a trusted key at this event$/m);
  });

  const seqsSigned = (): number[] => {
    try {
      return parseCheckpoints(readFileSync(allocator.checkpoints, 'utf8')).map(({ head }) => head.seq);
    } catch {
      return []; // no checkpoint yet
    }
  };
});

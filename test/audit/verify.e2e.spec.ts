/** `ipledger verify` on a real etcd, as an operator or a script runs it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import type { Etcd3 } from 'etcd3';
import { signCheckpoint } from '../../ledger/audit/checkpoints/checkpoint.ts';
import { generateKey, parseSignerKey } from '../../ledger/audit/checkpoints/signing-key.ts';
import { EtcdLedger } from '../../ledger/log/store/etcd-ledger.ts';
import { connectEtcd } from '../../ledger/log/store/etcd-client.ts';
import { logKey, logPrefix, poolKey, segmentKey, subnetKey } from '../../ledger/log/store/keys.ts';
import { never } from '../../ledger/log/testing/running-writer.ts';
import { mustRun } from '../harness/processes/command.ts';
import { type Etcd, etcdctlVariables, startEtcd } from '../harness/etcd.ts';
import { childEnvironment } from '../harness/processes/launch.ts';
import { findProgram } from '../harness/programs/find-program.ts';
import { openRun, type Run } from '../harness/run.ts';
import { startAllocator } from '../harness/services.ts';
import { runIpledger } from '../harness/ipledger-cli.ts';
import { readLedgerKeys } from './ledger-keys.ts';
import { writeExampleLedger } from './example-ledger.ts';

describe('ipledger verify', function () {
  this.timeout(120_000);
  const keys = generateKey('audit.example/ledger');
  let run: Run;
  let etcd: Etcd;
  let client: Etcd3;
  let ledger: EtcdLedger;
  let checkpoints: string;
  before(async () => {
    run = openRun();
    etcd = await startEtcd(run);
    client = connectEtcd([etcd.endpoint]);
    ledger = new EtcdLedger(client);
    checkpoints = join(run.folder, 'checkpoints');
    await writeExampleLedger(ledger, async () => {
      writeFileSync(checkpoints, signCheckpoint(await ledger.head(never), parseSignerKey(keys.signer)));
    });
  });
  after(async () => {
    client?.close();
    await run.end();
  });

  /** The lines of an edited export. */
  async function exported(edit: (line: string) => string = (line) => line): Promise<string> {
    const lines = [...(await readLedgerKeys(ledger))]
      .filter(([key]) => key.startsWith(logPrefix))
      .map(([, text]) => edit(text));
    const file = join(run.folder, 'ledger.ndjson');
    writeFileSync(file, lines.map((line) => `${line}\n`).join(''));
    return file;
  }

  it('ipledger verify reports no findings and exits with 0', async () => {
    const { hash } = await ledger.head(never);
    const { code, stdout, stderr } = await runIpledger(['verify', '--etcd', etcd.endpoint]);
    expect([code, stderr]).to.deep.equal([0, '']);
    expect(stdout).to.equal(`12 events, 7 other keys verified, up to ${hash}: no findings\n`);
  });

  it('ipledger verify compares the ledger with the checkpoints of a file', async () => {
    const args = ['verify', '--checkpoint', checkpoints, '--verifier-key', keys.verifier, '-o', 'json'];
    const { code, stdout } = await runIpledger(args, { env: { IPLEDGER_ETCD: etcd.endpoint } });
    expect(code).to.equal(0);
    expect(JSON.parse(stdout)).to.deep.include({ comparedKeys: 7, findings: [] });
  });

  it('ipledger verify rejects a checkpoint of an unknown key and requests the key', async () => {
    const other = generateKey('audit.example/ledger').verifier;
    const named = await runIpledger([
      'verify',
      '--etcd',
      etcd.endpoint,
      '--checkpoint',
      checkpoints,
      '--verifier-key',
      other,
    ]);
    expect(named.code).to.equal(1);
    expect(named.stdout).to.match(
      /log\/0000000000000010 +the checkpoint of event 10 is signed by audit.example\/ledger \(key/,
    );
    const none = await runIpledger(['verify', '--etcd', etcd.endpoint, '--checkpoint', checkpoints]);
    expect(none.code).to.equal(2);
    expect(none.stderr).to.match(/name the key with --verifier-key/);
  });

  it('ipledger verify names the unreadable line of a checkpoint file', async () => {
    const torn = join(run.folder, 'torn');
    writeFileSync(torn, `${readFileSync(checkpoints, 'utf8')}\nipledger/`);
    const args = ['verify', '--etcd', etcd.endpoint, '--checkpoint', torn, '--verifier-key', keys.verifier];
    const { code, stderr } = await runIpledger(args);
    expect(code).to.equal(2);
    expect(stderr).to.match(/^ipledger: the verification failed: .*\/torn, line 9: this is not a signed note/);
  });

  it('ipledger verify verifies an export without etcd and names the bad line', async () => {
    const honest = await runIpledger([
      'verify',
      '--export',
      await exported(),
      '--checkpoint',
      checkpoints,
      '--verifier-key',
      keys.verifier,
    ]);
    expect([honest.code, honest.stderr]).to.deep.equal([0, '']);
    expect(honest.stdout).to.match(
      /^12 events, 1 checkpoint up to event 10 verified, up to [0-9a-f]{64}: no findings$/m,
    );
    const forged = await runIpledger([
      'verify',
      '--export',
      await exported((line) => line.replace('pod-deleted', 'operator')),
    ]);
    expect(forged.code).to.equal(1);
    expect(forged.stdout).to.match(/^\/ipledger\/v1\/log\/0000000000000007 +event 7 does not follow event 6: /m);
  });

  it('ipledger verify names the first bad key and exits with 1', async () => {
    const text = await client.get(logKey(9)).string();
    await client.delete().key(logKey(9));
    const { code, stdout, stderr } = await runIpledger(['verify', '--etcd', etcd.endpoint]);
    const csv = await runIpledger(['verify', '--etcd', etcd.endpoint, '-o', 'csv']);
    await client.put(logKey(9)).value(text ?? '');
    expect(code).to.equal(1);
    expect(stdout).to.match(/^\/ipledger\/v1\/log\/0000000000000009 +event 9 is missing: the next event is 10$/m);
    expect(stderr).to.match(/^the keys beside the log were not compared/);
    expect(csv.code).to.equal(1);
    expect(csv.stdout).to.match(/^key,finding\r\n.*0009,event 9 is missing: the next event is 10\r\n$/);
  });

  it('ipledger verify prints the commands that repair keys which prevent an allocator from starting', async () => {
    const keys = [subnetKey('macvlan'), poolKey('stray'), segmentKey(1)];
    for (const key of keys) {
      await client.put(key).value('garbage');
      const started: unknown = await startAllocator(run, { etcd, name: 'refusing' }).catch((error: unknown) => error);
      const expected = `the value of ${key} is not a valid \\w+: garbage. Another program wrote it. Run: ipledger verify --etcd URLS`;
      expect(started).to.have.property('message').that.matches(new RegExp(expected));
      const { code, stdout } = await runIpledger(['verify', '--etcd', etcd.endpoint]);
      expect(code).to.equal(1);
      const commands = [...stdout.matchAll(/^ {2}(etcdctl .*)$/gm)].map(([, command]) => command ?? '');
      expect(commands, stdout).to.have.length(1);
      const bin = dirname(await findProgram('etcdctl'));
      const env = { ...childEnvironment(etcdctlVariables(etcd.endpoint, undefined)) };
      await mustRun('sh', ['-c', commands.join('\n')], { env: { ...env, PATH: `${bin}:${env['PATH']}` } });
      expect((await runIpledger(['verify', '--etcd', etcd.endpoint])).code, key).to.equal(0);
    }
  });

  it('ipledger verify exits with 2 without an etcd, a file or a ledger', async () => {
    const nothing = join(run.folder, 'nothing');
    writeFileSync(nothing, '');
    const empty = (await startEtcd(run, { name: 'empty' })).endpoint;
    const elsewhere = ['--etcd', 'http://127.0.0.1:1'];
    for (const args of [
      elsewhere,
      ['--etcd', empty],
      ['--export', join(run.folder, 'none')],
      ['--export', nothing],
      [],
    ]) {
      const { code, stderr } = await runIpledger(['verify', ...args]);
      expect(code, stderr).to.equal(2);
      expect(stderr).to.match(/^ipledger: the verification failed: /);
    }
  });
});

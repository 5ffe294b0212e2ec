/** `ipledger verify` as a person or a script runs it, on a real etcd. */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import type { Etcd3 } from 'etcd3';
import { signCheckpoint } from '../../services/allocator/checkpoint/checkpoint.ts';
import { generateKey, parseSignerKey } from '../../services/allocator/checkpoint/key.ts';
import { EtcdLedger } from '../../services/allocator/ledger/etcd.ts';
import { connectEtcd } from '../../services/allocator/ledger/etcd-client.ts';
import { logKey, logPrefix, poolKey, segmentKey, subnetKey } from '../../services/allocator/ledger/keys.ts';
import { never } from '../../services/allocator/ledger/specification.ts';
import { mustRun } from '../harness/command.ts';
import { type Etcd, etcdctlVariables, startEtcd } from '../harness/etcd.ts';
import { childEnvironment } from '../harness/launch.ts';
import { findProgram } from '../harness/programs.ts';
import { openRun, type Run } from '../harness/run.ts';
import { ipledger, startAllocator } from '../harness/services.ts';
import { keysOf } from './store.ts';
import { tellStory } from './story.ts';

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
    await tellStory(ledger, async () => {
      writeFileSync(checkpoints, signCheckpoint(await ledger.head(never), parseSignerKey(keys.signer)));
    });
  });
  after(async () => {
    client?.close();
    await run.end();
  });

  /** The log as an export has it, after an edit. */
  async function exported(edit: (line: string) => string = (line) => line): Promise<string> {
    const lines = [...(await keysOf(ledger))]
      .filter(([key]) => key.startsWith(logPrefix))
      .map(([, text]) => edit(text));
    const file = join(run.folder, 'ledger.ndjson');
    writeFileSync(file, lines.map((line) => `${line}\n`).join(''));
    return file;
  }

  it('says that nothing is wrong, and ends with 0', async () => {
    const { hash } = await ledger.head(never);
    const { code, stdout, stderr } = await ipledger(['verify', '--etcd', etcd.endpoint]);
    expect([code, stderr]).to.deep.equal([0, '']);
    expect(stdout).to.equal(`12 events, 6 other keys verified, up to ${hash}: nothing is wrong\n`);
  });

  it('holds the ledger to the checkpoints of a file', async () => {
    const args = ['verify', '--checkpoint', checkpoints, '--key', keys.verifier, '-o', 'json'];
    const { code, stdout } = await ipledger(args, { env: { IPLEDGER_ETCD: etcd.endpoint } });
    expect(code).to.equal(0);
    expect(JSON.parse(stdout)).to.deep.include({ keys: 6, findings: [] });
  });

  it('believes no checkpoint of a key that is not named, and asks for one', async () => {
    const other = generateKey('audit.example/ledger').verifier;
    const named = await ipledger(['verify', '--etcd', etcd.endpoint, '--checkpoint', checkpoints, '--key', other]);
    expect(named.code).to.equal(1);
    expect(named.stdout).to.match(
      /log\/0000000000000010 +the checkpoint of event 10 is signed by audit.example\/ledger \(key/,
    );
    const none = await ipledger(['verify', '--etcd', etcd.endpoint, '--checkpoint', checkpoints]);
    expect(none.code).to.equal(2);
    expect(none.stderr).to.match(/name the key by --key/);
  });

  it('names the line of a file of checkpoints that cannot be read', async () => {
    const torn = join(run.folder, 'torn');
    writeFileSync(torn, `${readFileSync(checkpoints, 'utf8')}\nipledger/`);
    const args = ['verify', '--etcd', etcd.endpoint, '--checkpoint', torn, '--key', keys.verifier];
    const { code, stderr } = await ipledger(args);
    expect(code).to.equal(2);
    expect(stderr).to.match(/^ipledger: could not verify: .*\/torn, line 9: this is no signed note/);
  });

  it('reads an export without etcd, and names the line that is wrong', async () => {
    const honest = await ipledger([
      'verify',
      '--file',
      await exported(),
      '--checkpoint',
      checkpoints,
      '--key',
      keys.verifier,
    ]);
    expect([honest.code, honest.stderr]).to.deep.equal([0, '']);
    expect(honest.stdout).to.match(/^12 events, checkpoints verified, up to [0-9a-f]{64}: nothing is wrong$/m);
    const forged = await ipledger([
      'verify',
      '--file',
      await exported((line) => line.replace('pod-deleted', 'operator')),
    ]);
    expect(forged.code).to.equal(1);
    expect(forged.stdout).to.match(/^\/ipledger\/v1\/log\/0000000000000007 +event 7 does not follow event 6: /m);
  });

  it('names the first bad key, and ends with 1', async () => {
    const text = await client.get(logKey(9)).string();
    await client.delete().key(logKey(9));
    const { code, stdout, stderr } = await ipledger(['verify', '--etcd', etcd.endpoint]);
    const csv = await ipledger(['verify', '--etcd', etcd.endpoint, '-o', 'csv']);
    await client.put(logKey(9)).value(text ?? '');
    expect(code).to.equal(1);
    expect(stdout).to.match(/^\/ipledger\/v1\/log\/0000000000000009 +event 9 is missing: the next one there is 10$/m);
    expect(stderr).to.match(/^the keys beside the log were not compared/);
    expect(csv.code).to.equal(1);
    expect(csv.stdout).to.match(/^key,what_is_wrong\r\n.*0009,event 9 is missing: the next one there is 10\r\n$/);
  });

  it('gives the commands that mend what keeps an allocator from starting', async () => {
    const keys = [subnetKey('macvlan'), poolKey('stray'), segmentKey(1)];
    for (const key of keys) {
      await client.put(key).value('garbage');
      const started: unknown = await startAllocator(run, { etcd, name: 'refusing' }).catch((error: unknown) => error);
      const told = `the value of ${key} is no \\w+: garbage; something else than ipledger wrote it: see ipledger verify --etcd`;
      expect(started).to.have.property('message').that.matches(new RegExp(told));
      const { code, stdout } = await ipledger(['verify', '--etcd', etcd.endpoint]);
      expect(code).to.equal(1);
      const commands = [...stdout.matchAll(/^ {2}(etcdctl .*)$/gm)].map(([, command]) => command ?? '');
      expect(commands, stdout).to.have.length(1);
      const bin = dirname(await findProgram('etcdctl'));
      const env = { ...childEnvironment(etcdctlVariables(etcd.endpoint, undefined)) };
      await mustRun('sh', ['-c', commands.join('\n')], { env: { ...env, PATH: `${bin}:${env['PATH']}` } });
      expect((await ipledger(['verify', '--etcd', etcd.endpoint])).code, key).to.equal(0);
    }
  });

  it('ends with 2 when there is nothing to verify: no etcd, no file, no ledger named', async () => {
    const nothing = join(run.folder, 'nothing');
    writeFileSync(nothing, '');
    const empty = (await startEtcd(run, { name: 'empty' })).endpoint;
    const elsewhere = ['--etcd', 'http://127.0.0.1:1'];
    for (const args of [elsewhere, ['--etcd', empty], ['--file', join(run.folder, 'none')], ['--file', nothing], []]) {
      const { code, stderr } = await ipledger(['verify', ...args]);
      expect(code, stderr).to.equal(2);
      expect(stderr).to.match(/^ipledger: could not verify: /);
    }
  });
});

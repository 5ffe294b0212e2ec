/** The questions of docs/audit.md, asked as they stand there: etcdctl, jq and a shell, and nothing of ipledger. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { EtcdLedger } from '../../services/allocator/ledger/etcd.ts';
import { connectEtcd } from '../../services/allocator/ledger/etcd-client.ts';
import { runCommand } from '../harness/command.ts';
import { type Etcd, startEtcd } from '../harness/etcd.ts';
import { childEnvironment } from '../harness/launch.ts';
import { root } from '../harness/paths.ts';
import { findProgram } from '../harness/programs.ts';
import { openRun, type Run } from '../harness/run.ts';
import { liveThrough } from './day.ts';

const page = readFileSync(join(root, 'docs/audit.md'), 'utf8');
const section = /<!-- questions -->([^]*)<!-- \/questions -->/.exec(page)?.[1] ?? '';

/** Each with the commands and the answer that the page shows. */
const questions = [...section.matchAll(/^### \d+\. (.*)$\n([^]*?)(?=^### |$(?![^]))/gm)].map(
  ([, name = '', text = '']) => {
    const [, commands = '', answer = ''] = /```sh\n([^]*?)```\n\n```text\n([^]*?)```/.exec(text) ?? [];
    return { name, commands, answer };
  },
);

describe('docs/audit.md, with etcdctl and jq alone', function () {
  this.timeout(120_000);
  let run: Run;
  let etcd: Etcd;
  before(async () => {
    run = openRun();
    etcd = await startEtcd(run);
    const client = connectEtcd([etcd.endpoint]);
    await liveThrough(new EtcdLedger(client));
    client.close();
  });
  after(() => run.end());

  it('asks ten questions', () => {
    expect(questions).to.have.length(10);
  });

  for (const { name, commands, answer } of questions)
    it(`answers: ${name}`, async () => {
      expect(commands).to.not.equal('');
      const path = `${dirname(await findProgram('etcdctl'))}:${process.env['PATH']}`;
      const env = childEnvironment({ ETCDCTL_ENDPOINTS: etcd.endpoint, PATH: path });
      const { stdout, stderr, code } = await runCommand('sh', ['-eu', '-c', commands], { env });
      expect([code, stderr]).to.deep.equal([0, '']);
      expect(stdout).to.equal(answer);
    });
});

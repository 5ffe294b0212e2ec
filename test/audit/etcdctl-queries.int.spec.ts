/**
 * Runs the queries of docs/audit.md as printed there: etcdctl, jq and a shell, without ipledger.
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { EtcdLedger } from '../../ledger/log/store/etcd-ledger.ts';
import { connectEtcd } from '../../ledger/log/store/etcd-client.ts';
import { runCommand } from '../harness/processes/command.ts';
import { type Etcd, startEtcd } from '../harness/etcd.ts';
import { childEnvironment } from '../harness/processes/launch.ts';
import { root } from '../harness/paths.ts';
import { findProgram } from '../harness/programs/find-program.ts';
import { openRun, type Run } from '../harness/run.ts';
import { followingDays, recordDay } from './example-day.ts';

const page = readFileSync(join(root, 'docs/audit.md'), 'utf8');
const section = /<!-- questions -->([^]*)<!-- \/questions -->/.exec(page)?.[1] ?? '';

/** Each query with its commands and the answer on the page. */
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
    await recordDay(new EtcdLedger(client));
    client.close();
  });
  after(() => run.end());

  it('docs/audit.md, with etcdctl and jq alone has ten queries', () => {
    expect(questions).to.have.length(10);
  });

  async function runQuery(commands: string): Promise<string> {
    const path = `${dirname(await findProgram('etcdctl'))}:${process.env['PATH']}`;
    const env = childEnvironment({ ETCDCTL_ENDPOINTS: etcd.endpoint, PATH: path });
    const { stdout, stderr, code } = await runCommand('sh', ['-eu', '-c', commands], { env });
    expect([code, stderr]).to.deep.equal([0, '']);
    return stdout;
  }

  for (const { name, commands, answer } of questions)
    it(`docs/audit.md, with etcdctl and jq alone answers ${name}`, async () => {
      expect(commands).to.not.equal('');
      expect(await runQuery(commands)).to.equal(answer);
    });

  it('docs/audit.md, with etcdctl and jq alone returns the history of an address whose claim was dropped twice', async () => {
    const client = connectEtcd([etcd.endpoint]);
    await recordDay(new EtcdLedger(client), followingDays);
    client.close();
    const { commands, answer } = questions[2] as (typeof questions)[number];
    const later = [
      '20 2026-11-18T18:41:00.000Z ClaimsDropped -',
      '19 2026-11-18T17:03:00.000Z AddressReleased late',
      '18 2026-11-18T17:02:00.000Z AddressAllocated late',
      '17 2026-11-18T17:01:00.000Z ClaimsDropped -',
      '16 2026-11-18T15:21:00.000Z AddressUnbound db-0',
      '15 2026-11-18T15:21:00.000Z AddressReleased db-0',
    ];
    expect(await runQuery(commands)).to.equal(`${later.join('\n')}\n${answer}`);
  });
});

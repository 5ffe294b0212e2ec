/** The jobs that restore etcd from a backup: their own commands, on a real snapshot and a real etcd. */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { startEtcd } from '../harness/etcd.ts';
import { mustRun, runCommand } from '../harness/processes/command.ts';
import { findProgram } from '../harness/programs/find-program.ts';
import { openRun, type Run } from '../harness/run.ts';
import { chartFolder, type Container, parseManifests, podSpecOf, renderChart } from './render-chart.ts';
import { root } from '../harness/paths.ts';

const file = 'ipledger-etcd-backup-29384720-x7k2p.db';

describe('The jobs that restore etcd', function () {
  this.timeout(120_000);
  let run: Run;
  let data: string;
  let containers: readonly Container[];
  before(async () => {
    run = openRun();
    data = join(run.folder, 'data');
    mkdirSync(data);
    const etcd = await startEtcd(run);
    await etcd.etcdctl(['put', '/ipledger/v1/example', 'from the backup']);
    await etcd.etcdctl(['snapshot', 'save', join(run.folder, file)]);
    await etcd.kill();
    const values = join(root, 'test', 'chart', 'values', 'restore.yaml');
    const manifests = parseManifests(await renderChart([values]));
    const jobs = manifests.filter(({ metadata }) => metadata.name.startsWith('ipledger-etcd-restore-'));
    expect(jobs.map(({ metadata }) => metadata.name.slice(0, -9))).to.deep.equal(
      [0, 1, 2].map((index) => `ipledger-etcd-restore-${index}`),
    );
    for (const name of ['ipledger-etcd', 'ipledger-allocator'])
      expect(
        manifests.find(({ kind, metadata }) => /^(StatefulSet|Deployment)$/.test(kind) && metadata.name === name)?.spec,
      ).to.have.property('replicas', 0);
    const spec = jobs[0] && podSpecOf(jobs[0]);
    containers = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
  });
  after(() => run.end());

  /** Runs a container's command with the paths of this test. */
  async function runContainer(name: string, host = 'ipledger-etcd-0.invalid') {
    const command = containers.find((each) => each.name === name)?.command ?? [];
    const replaced = command.map((word) =>
      word
        .replace('/usr/local/bin/node', process.execPath)
        .replace('/scripts', join(chartFolder, 'files'))
        .replace('/backup', run.folder)
        .replace('/data', data)
        .replace('ipledger-etcd-0.ipledger-etcd', name === 'prepare' ? host : 'ipledger-etcd-0.ipledger-etcd'),
    );
    const [program = '', ...args] = replaced;
    return runCommand(program === 'etcdutl' ? await findProgram('etcdutl') : program, args);
  }

  it('refuse while the member runs', async () => {
    const server = createServer().listen(2379, '127.0.0.7');
    try {
      const { code, stderr } = await runContainer('prepare', '127.0.0.7');
      expect(code).to.equal(1);
      expect(stderr).to.contain('etcd still runs on 127.0.0.7: stop it first');
    } finally {
      server.close();
    }
  });

  it('put the backup in the place of the data, keep the earlier data, and can be repeated at each step', async () => {
    mkdirSync(join(data, 'etcd'));
    writeFileSync(join(data, 'etcd', 'earlier'), '');
    mkdirSync(join(data, 'etcd-restored')); // an interrupted run
    for (const name of ['prepare', 'restore', 'replace', 'replace']) {
      const { code, stdout, stderr } = await runContainer(name);
      expect(code, `${name}: ${stdout}${stderr}`).to.equal(0);
    }
    const [restored, earlier = '', ...others] = readdirSync(data).sort();
    expect(restored).to.equal('etcd');
    expect(earlier).to.match(/^etcd-before-/);
    expect(others).to.deep.equal([]);
    expect(readdirSync(join(data, earlier))).to.deep.equal(['earlier']);
  });

  it('leave the data of the backup with a later revision', async () => {
    const hash = await mustRun(await findProgram('etcdutl'), [
      'snapshot',
      'status',
      join(data, 'etcd', 'member', 'snap', 'db'),
      '-w',
      'json',
    ]);
    expect(JSON.parse(hash)).to.have.property('revision').that.is.greaterThan(1_000_000_000);
  });
});

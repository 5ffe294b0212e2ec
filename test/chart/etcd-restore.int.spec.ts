/** The jobs that restore etcd from a backup: their commands, on a real snapshot and a real etcd. */
import { cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { restoredRevisions } from '../../ledger/log/reader/rollback-detection.ts';
import { certificateFolder, makeCertificates } from '../harness/certificates/certificates.ts';
import { startEtcd } from '../harness/etcd.ts';
import { mustRun, runCommand } from '../harness/processes/command.ts';
import { findFreePort } from '../harness/processes/free-ports.ts';
import { startServer } from '../harness/processes/server.ts';
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
  let url: string;
  before(async () => {
    run = openRun();
    const certificates = join(run.folder, 'certificates');
    await makeCertificates({ folder: certificates, allocators: ['a'], nodes: [], operators: [] });
    // The layout of a mounted Secret
    for (const [name, { ca, cert, key }] of Object.entries(certificateFolder(certificates).etcd)) {
      const folder = join(run.folder, `${name}-tls`);
      mkdirSync(folder);
      for (const [target, source] of [
        ['ca.crt', ca],
        ['tls.crt', cert],
        ['tls.key', key],
      ] as const)
        cpSync(source, join(folder, target));
    }
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
    const sender = manifests.find(
      ({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'ipledger-etcd-restore',
    );
    const clientFiles = (): string[] => {
      const folder = join(run.folder, 'root-tls');
      return ['--cert', join(folder, 'tls.crt'), '--key', join(folder, 'tls.key'), '--output', '/dev/null'];
    };
    const [, ...command] = (sender && podSpecOf(sender)?.containers[0]?.command) ?? [];
    const port = await findFreePort();
    url = `https://127.0.0.1:${port}/`;
    const places = { '/scripts': join(chartFolder, 'files'), '/backup': run.folder, '8443': String(port) };
    const place = (word: string): string =>
      Object.entries(places).reduce((text, [from, to]) => text.replace(from, to), word);
    await startServer(run, {
      name: 'send-backup',
      program: process.execPath,
      args: command.map(place),
      env: { BACKUP_TLS: join(run.folder, 'server-tls') },
      ready: async () => {
        const { code, stderr } = await runCommand('curl', [
          '--silent',
          '--show-error',
          '--insecure',
          ...clientFiles(),
          url,
        ]);
        if (code !== 0) throw new Error(stderr);
      },
      readyWithinMs: 30_000,
    });
  });
  after(() => run.end());

  /** Runs a container's command with the paths of this test. */
  async function runContainer(name: string, host = 'ipledger-etcd-0.invalid') {
    const command = containers.find((each) => each.name === name)?.command ?? [];
    const replaced = command.map((word) =>
      word
        .replace('/usr/local/bin/node', process.execPath)
        .replace('/scripts', join(chartFolder, 'files'))
        .replace(/^(--data-dir=)?\/data/, `$1${data}`)
        .replace(/^https:.*/, url)
        .replace('ipledger-etcd-0.ipledger-etcd', name === 'prepare' ? host : 'ipledger-etcd-0.ipledger-etcd'),
    );
    const [program = '', ...args] = replaced;
    const options = { env: tlsEnvironment('root') };
    return runCommand(program === 'etcdutl' ? await findProgram('etcdutl') : program, args, options);
  }

  const tlsEnvironment = (certificate: string): NodeJS.ProcessEnv => ({
    PATH: process.env['PATH'],
    BACKUP_TLS: join(run.folder, `${certificate}-tls`),
    BACKUP_SERVER_NAME: 'localhost',
  });

  it('The jobs that restore etcd refuse while the member runs', async () => {
    const server = createServer().listen(2379, '127.0.0.7');
    try {
      const { code, stderr } = await runContainer('prepare', '127.0.0.7');
      expect(code).to.equal(1);
      expect(stderr).to.contain('etcd still runs on 127.0.0.7: stop it first');
    } finally {
      server.close();
    }
  });

  it('The jobs that restore etcd download the backup only with a certificate of etcd', async () => {
    const curl = [
      '--silent',
      '--show-error',
      '--cacert',
      join(run.folder, 'root-tls', 'ca.crt'),
      url.replace('127.0.0.1', 'localhost'),
    ];
    const { code, stdout, stderr } = await runCommand('curl', curl);
    expect(code, stderr).to.not.equal(0);
    expect(stdout).to.equal('');
  });

  it('The jobs that restore etcd replace the data by the backup, keep the earlier data, and can be repeated at each step', async () => {
    mkdirSync(join(data, 'etcd'));
    writeFileSync(join(data, 'etcd', 'earlier'), '');
    mkdirSync(join(data, 'etcd-restored')); // an interrupted run
    for (const name of ['prepare', 'fetch', 'restore', 'replace', 'replace']) {
      const { code, stdout, stderr } = await runContainer(name);
      expect(code, `${name}: ${stdout}${stderr}`).to.equal(0);
    }
    const [restored, earlier = '', ...others] = readdirSync(data).sort();
    expect(restored).to.equal('etcd');
    expect(earlier).to.match(/^etcd-before-/);
    expect(others).to.deep.equal([]);
    expect(readdirSync(join(data, earlier))).to.deep.equal(['earlier']);
  });

  it('The jobs that restore etcd leave the data of the backup with a revision that freezes the ledger', async () => {
    const hash = await mustRun(await findProgram('etcdutl'), [
      'snapshot',
      'status',
      join(data, 'etcd', 'member', 'snap', 'db'),
      '-w',
      'json',
    ]);
    expect(JSON.parse(hash)).to.have.property('revision').that.is.greaterThan(restoredRevisions);
  });
});

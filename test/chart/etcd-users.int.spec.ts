/** The scripts of the jobs for etcd, on a real etcd with TLS. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { TlsFiles } from '../../lib/tls/certificates.ts';
import { certificateFolder, makeCertificates } from '../harness/certificates/certificates.ts';
import { type Etcd, startEtcd } from '../harness/etcd.ts';
import { mustRun, runCommand } from '../harness/processes/command.ts';
import { findProgram } from '../harness/programs/find-program.ts';
import { openRun, type Run } from '../harness/run.ts';
import { root } from '../harness/paths.ts';
import { chartFolder, parseManifests, renderChart } from './render-chart.ts';

const script = (name: string): string => join(chartFolder, 'files', name);

describe('The job for the users of etcd', function () {
  this.timeout(120_000);
  let run: Run;
  let etcd: Etcd;
  let files: ReturnType<typeof certificateFolder>;
  before(async () => {
    run = openRun();
    const folder = join(run.folder, 'certificates');
    await makeCertificates({ folder, allocators: ['a'], nodes: [], operators: [] });
    files = certificateFolder(folder);
    etcd = await startEtcd(run, { tls: { server: files.etcd.server, client: files.etcd.allocator } });
  });
  after(() => run.end());

  const environment = ({ ca, cert, key }: TlsFiles): NodeJS.ProcessEnv => ({
    PATH: process.env['PATH'],
    ETCDCTL_ENDPOINTS: etcd.endpoint,
    ETCDCTL_CACERT: ca,
    ETCDCTL_CERT: cert,
    ETCDCTL_KEY: key,
  });
  const createUsers = (): Promise<string> =>
    mustRun(process.execPath, [script('etcd-users.mjs')], {
      // The first member is down
      env: { ...environment(files.etcd.root), ETCDCTL_ENDPOINTS: `https://127.0.0.1:1,${etcd.endpoint}` },
    });
  const etcdctl = async (as: TlsFiles, ...args: string[]) =>
    runCommand(await findProgram('etcdctl'), args, { env: environment(as) });

  it('The job for the users of etcd creates the users once by any member that answers, and completes an interrupted run', async () => {
    // An interrupted run leaves this role
    expect((await etcdctl(files.etcd.root, 'role', 'add', 'ipledger')).code).to.equal(0);
    expect(await createUsers()).to.contain('authentication is on');
    expect(await createUsers()).to.contain('already on');
  });

  it('The job for the users of etcd permits the allocator its prefix, the auditor only reads, and only root maintenance', async () => {
    const { allocator, auditor, root } = files.etcd;
    expect((await etcdctl(allocator, 'put', '/ipledger/test', '1')).code).to.equal(0);
    expect((await etcdctl(allocator, 'put', '/other', '1')).stderr).to.contain('permission denied');
    expect((await etcdctl(auditor, 'get', '/ipledger/test')).stdout).to.contain('1');
    expect((await etcdctl(auditor, 'put', '/ipledger/test', '2')).stderr).to.contain('permission denied');
    expect((await etcdctl(root, 'defrag', '--command-timeout=300s')).code).to.equal(0);
    const backup = join(run.folder, 'backup.db');
    expect((await etcdctl(root, 'snapshot', 'save', backup, '--command-timeout=300s')).code).to.equal(0);
    expect((await etcdctl(allocator, 'snapshot', 'save', backup)).code).not.to.equal(0);
  });
});

describe('The account of the job for the users of etcd', () => {
  it('The account of the job for the users of etcd may change one ConfigMap and nothing else', async () => {
    const manifests = parseManifests(await renderChart([join(root, 'deploy', 'ha', 'values.yaml')]));
    const name = 'ipledger-etcd-users';
    const bindings = manifests.filter(({ subjects }) => subjects?.some((subject) => subject.name === name));
    const roles = manifests.filter(({ metadata, rules }) => rules && metadata.name === name);
    expect([...bindings, ...roles].map(({ kind }) => kind)).to.deep.equal(['RoleBinding', 'Role']);
    const resourceNames = ['ipledger-etcd-state'];
    expect(roles[0]?.rules).to.deep.equal([
      { apiGroups: [''], resources: ['configmaps'], resourceNames, verbs: ['patch'] },
    ]);
  });
});

describe('The job for backups of etcd', () => {
  it('The job for backups of etcd deletes all but the newest backups', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ipledger-backups-'));
    try {
      mkdirSync(join(folder, 'lost+found'));
      for (const [index, name] of ['a', 'b', 'c', 'd'].entries()) {
        const file = join(folder, `ipledger-etcd-backup-${name}.db`);
        writeFileSync(file, name);
        utimesSync(file, index + 1, index + 1);
      }
      await mustRun(process.execPath, [script('delete-old-backups.mjs'), folder, '2']);
      const kept = ['ipledger-etcd-backup-c.db', 'ipledger-etcd-backup-d.db', 'lost+found'];
      expect(readdirSync(folder).sort()).to.deep.equal(kept);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

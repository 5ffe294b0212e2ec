import { readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Etcd3 } from 'etcd3';
import {
  certificateFolder,
  type CertificateFolder,
  makeCertificates,
} from '../../../test/harness/certificates/certificates.ts';
import { type CommandResult, runCommand } from '../../../test/harness/processes/command.ts';
import { type Etcd, etcdctlVariables, startEtcd } from '../../../test/harness/etcd.ts';
import { childEnvironment } from '../../../test/harness/processes/launch.ts';
import { openAuthority, reissueCertificate } from '../../../test/harness/certificates/certificate-authority.ts';
import { findProgram } from '../../../test/harness/programs/find-program.ts';
import { openRun, type Run } from '../../../test/harness/run.ts';
import { CertificateReloader } from '../../../lib/tls/certificate-reloader.ts';
import type { TlsFiles } from '../../../lib/tls/credentials.ts';
import { accessOptions, type EtcdAccess, etcdAccessFromEnvironment } from './etcd-access.ts';
import { documentedCommands } from '../../../test/docs/documented-commands.ts';
import { emptyHead } from '../chain/chain.ts';
import { campaign } from '../writer/election.ts';
import { EtcdLedger } from './etcd-ledger.ts';
import { connectEtcd } from './etcd-client.ts';
import { batchOf, never, silentLog } from '../testing/running-writer.ts';
import { verifyLedger } from '../../audit/verification/verify-ledger.ts';

describe('The etcd access of the allocator', () => {
  const https = ['https://127.0.0.1:1'];
  const environment = (values: Record<string, string>): EtcdAccess => etcdAccessFromEnvironment(values, silentLog);

  it('The etcd access of the allocator has no credentials by default', () => {
    expect(environment({})).to.deep.equal({});
  });

  for (const [what, values, message] of [
    ['a certificate without a key', { IPLEDGER_ETCD_CA: 'a', IPLEDGER_ETCD_CERT: 'b' }, 'set all three for TLS'],
    ['a user without a password', { IPLEDGER_ETCD_USER: 'ipledger' }, 'set both, or none'],
    ['a password without a user', { IPLEDGER_ETCD_PASSWORD_FILE: '/p' }, 'set both, or none'],
    [
      'a password file that does not exist',
      { IPLEDGER_ETCD_USER: 'ipledger', IPLEDGER_ETCD_PASSWORD_FILE: '/nowhere' },
      'ENOENT',
    ],
    ['authorities that do not exist', { IPLEDGER_ETCD_CA: '/nowhere' }, 'the file /nowhere does not exist'],
  ] as const)
    it(`The etcd access of the allocator rejects ${what}`, () => {
      expect(() => environment(values)).to.throw(message);
    });

  it('The etcd access of the allocator rejects https:// without authorities, and http:// with them', () => {
    expect(() => accessOptions(https, {})).to.throw(
      'https://127.0.0.1:1: TLS to etcd needs its authorities: set IPLEDGER_ETCD_CA (and _CERT and _KEY',
    );
    expect(() => accessOptions(['http://a:1', ...https], { authorities: '/ca' })).to.throw(
      'IPLEDGER_ETCD_CA is set, but not every etcd endpoint uses TLS: write each as https://host:port',
    );
  });
});

describe('An etcd with access control', function () {
  this.timeout(120_000);
  let run: Run;
  let folder: string;
  let certificates: CertificateFolder['etcd'];
  const clients: Etcd3[] = [];
  beforeEach(async () => {
    run = openRun();
    folder = join(run.folder, 'certificates');
    await makeCertificates({ folder, allocators: [], nodes: [], operators: [] });
    certificates = certificateFolder(folder).etcd;
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.close();
    await run.end();
  });

  const open = (etcd: Etcd, access: EtcdAccess): Etcd3 => {
    const client = connectEtcd([etcd.endpoint], access);
    clients.push(client);
    return client;
  };
  const accessWith = (files: TlsFiles): EtcdAccess => ({
    certificates: new CertificateReloader(files, { pollIntervalMs: 10 }),
  });
  const startSecured = (): Promise<Etcd> =>
    startEtcd(run, { tls: { server: certificates.server, client: certificates.allocator } });

  /** Runs a command with etcdctl in the PATH, as docs/security.md assumes. */
  async function shell(command: string, variables: Record<string, string>): Promise<CommandResult> {
    const path = [dirname(await findProgram('etcdctl')), process.env['PATH']].join(delimiter);
    return runCommand('sh', ['-e', '-c', command], { env: childEnvironment({ ...variables, PATH: path }) });
  }
  const runAs = (etcd: Etcd, files: TlsFiles, command: string): Promise<CommandResult> =>
    shell(command, etcdctlVariables(etcd.endpoint, files));

  /** Uses etcd as an allocator does: campaigns, appends and reads. */
  async function useAsAllocator(client: Etcd3): Promise<void> {
    const term = await campaign(client, { replica: 'a', address: 'a:1' }, AbortSignal.timeout(10_000), silentLog);
    const ledger = new EtcdLedger(client);
    const batch = batchOf(emptyHead, [{ type: 'LedgerCreated', subnet: '', data: { ledger: 'L' } }]);
    // No pause follows: the end of the campaign's watch must not fail another call.
    const appended = await ledger.append({ ...batch, writer: term.revision });
    expect({ ...appended, revision: 0n }).to.deep.equal({ kind: 'appended', revision: 0n });
    expect((await ledger.load(never)).head.seq).to.equal(1);
    await term.resign();
  }

  it('An etcd with access control accepts a client certificate of its authority', async () => {
    const etcd = await startSecured();
    await useAsAllocator(open(etcd, accessWith(certificates.allocator)));
  });

  it('An etcd with access control stays connected when certificates are renewed on disk, and when the authority changes', async () => {
    const etcd = await startSecured();
    const access = accessWith(certificates.allocator);
    const client = open(etcd, access);
    await useAsAllocator(client);
    const ledger = new EtcdLedger(client);
    const isReloaded = (): boolean =>
      (['ca', 'cert', 'key'] as const).every((part) =>
        access.certificates?.current[part].equals(readFileSync(certificates.allocator[part])),
      );
    const untilReloaded = async (): Promise<void> => {
      while (!isReloaded()) await sleep(5);
    };
    const subject = { name: 'renewed', commonName: 'ipledger' };
    const authority = await openAuthority(join(folder, 'etcd'));
    await reissueCertificate(authority, subject, certificates.allocator);
    await untilReloaded();
    expect((await ledger.head(never)).seq).to.equal(1);

    const next = await openAuthority(join(folder, 'next'), 'next');
    const { ca } = certificates.allocator;
    writeFileSync(ca, readFileSync(ca, 'utf8') + readFileSync(next.cert, 'utf8'));
    await untilReloaded();
    await etcd.restart(); // etcd reads authorities only when it starts
    await reissueCertificate(next, subject, certificates.allocator);
    await reissueCertificate(
      next,
      { name: 'server', commonName: 'etcd', alternativeNames: ['IP:127.0.0.1'] },
      certificates.server,
    );
    await untilReloaded();
    writeFileSync(ca, readFileSync(next.cert));
    await untilReloaded();
    await etcd.restart();
    expect((await new EtcdLedger(open(etcd, access)).head(never)).seq).to.equal(1);
    // The first client's connection broke at each restart, and must be open again.
    await eventuallyReads(ledger);
  });

  async function eventuallyReads(ledger: EtcdLedger): Promise<void> {
    for (let attempt = 0; ; attempt++)
      try {
        await ledger.head(never);
        return;
      } catch (error) {
        if (attempt > 100) throw error;
        await sleep(50);
      }
  }

  it('An etcd with access control grants each user exactly what the documented commands grant', async () => {
    const etcd = await startSecured();
    const { code, stderr } = await runAs(etcd, certificates.root, documentedCommands('docs/security.md', 'etcd-users'));
    expect(code, stderr).to.equal(0);
    await useAsAllocator(open(etcd, accessWith(certificates.allocator)));

    const read = await runAs(etcd, certificates.auditor, 'etcdctl get --prefix /ipledger/v1/log/ --print-value-only');
    expect(read.stdout).to.contain('LedgerCreated');
    const audited = await verifyLedger(new EtcdLedger(open(etcd, accessWith(certificates.auditor))), { signal: never });
    expect(audited.findings).to.deep.equal([]);
    expect(audited.head.seq).to.equal(1);
    for (const [files, command] of [
      [certificates.auditor, 'etcdctl put /ipledger/v1/head mine'],
      [certificates.auditor, 'etcdctl del --prefix /ipledger/'],
      [certificates.allocator, 'etcdctl put /registry/pods/mine x'],
      [certificates.server, 'etcdctl get --prefix /ipledger/'],
    ] as const) {
      const refused = await runAs(etcd, files, command);
      expect(refused.code, command).not.to.equal(0);
      expect(refused.stderr, command).to.contain('permission denied');
    }
    expect((await new EtcdLedger(open(etcd, accessWith(certificates.allocator))).head(never)).seq).to.equal(1);
  });

  it('An etcd with access control reports a missing read permission of the allocator', async () => {
    const etcd = await startSecured();
    await runAs(etcd, certificates.root, documentedCommands('docs/security.md', 'etcd-users'));
    const loaded = new EtcdLedger(open(etcd, accessWith(certificates.server))).load(never);
    const error: unknown = await loaded.catch((thrown: unknown) => thrown);
    expect(error).to.have.property('message').that.contains('permission denied');
  });

  it('An etcd with access control accepts a password, even after a restart of etcd, and a changed password from the file', async () => {
    const etcd = await startEtcd(run);
    const [file, auditors] = [join(run.folder, 'password'), join(run.folder, 'auditors')];
    writeFileSync(file, 'first\n');
    writeFileSync(auditors, 'third\n');
    const files = { PASSWORD_FILE: file, AUDITOR_PASSWORD_FILE: auditors };
    const variables = { ETCDCTL_ENDPOINTS: etcd.endpoint, ...files };
    const users = documentedCommands('docs/security.md', 'etcd-users')
      .replaceAll(/^etcdctl user add (ipledger|ipledger-auditor) --no-password$/gm, '')
      .replace('user add root --no-password', 'user add root:root');
    const done = await shell(`${documentedCommands('docs/security.md', 'etcd-passwords')}${users}`, variables);
    expect(done.code, done.stderr).to.equal(0);

    const client = open(
      etcd,
      etcdAccessFromEnvironment({ IPLEDGER_ETCD_USER: 'ipledger', IPLEDGER_ETCD_PASSWORD_FILE: file }, silentLog),
    );
    await useAsAllocator(client);
    const audit = await shell(
      'etcdctl --user "ipledger-auditor:$(cat $AUDITOR_PASSWORD_FILE)" put /ipledger/v1/head x',
      variables,
    );
    expect(audit.stderr).to.contain('permission denied');

    const ledger = new EtcdLedger(client);
    await etcd.restart(); // invalidates all tokens
    await eventuallyReads(ledger);

    writeFileSync(file, 'second\n');
    const changed = await shell(
      'cat "$PASSWORD_FILE" | etcdctl --user root:root user passwd ipledger --interactive=false',
      variables,
    );
    expect(changed.code, changed.stderr).to.equal(0);
    expect((await ledger.head(never)).seq).to.equal(1);
  });
});

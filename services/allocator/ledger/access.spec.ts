import { readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Etcd3 } from 'etcd3';
import { certificateFolder, type CertificateFolder, makeCertificates } from '../../../test/harness/certificates.ts';
import { type CommandResult, runCommand } from '../../../test/harness/command.ts';
import { type Etcd, etcdctlVariables, startEtcd } from '../../../test/harness/etcd.ts';
import { childEnvironment } from '../../../test/harness/launch.ts';
import { openAuthority, reissue } from '../../../test/harness/pki.ts';
import { findProgram } from '../../../test/harness/programs.ts';
import { openRun, type Run } from '../../../test/harness/run.ts';
import { RenewedCertificates } from '../../../lib/renewal.ts';
import type { TlsFiles } from '../../../lib/tls.ts';
import { accessOptions, type EtcdAccess, etcdAccess } from './access.ts';
import { emptyHead } from './chain.ts';
import { campaign } from './election.ts';
import { EtcdLedger } from './etcd.ts';
import { connectEtcd } from './etcd-client.ts';
import { batchOf, never, silent } from './specification.ts';
import { verifyKeys } from '../verify/verify.ts';

const document = readFileSync(join(import.meta.dirname, '../../../docs/security.md'), 'utf8');

/** The commands that the documents give, word by word. */
function recipe(name: string): string {
  const text = new RegExp(`<!-- ${name} -->\\n\`\`\`sh\\n([^]*?)\`\`\`\\n<!-- /${name} -->`).exec(document)?.[1];
  if (text === undefined) throw new Error(`docs/security.md has no commands ${name}`);
  return text;
}

describe('What the allocator shows etcd', () => {
  const https = ['https://127.0.0.1:1'];
  const environment = (values: Record<string, string>): EtcdAccess => etcdAccess(values, silent);

  it('is nothing unless it is told', () => {
    expect(environment({})).to.deep.equal({});
  });

  for (const [what, values, message] of [
    ['a certificate without a key', { IPLEDGER_ETCD_CA: 'a', IPLEDGER_ETCD_CERT: 'b' }, 'set all three for TLS'],
    ['a user without a password', { IPLEDGER_ETCD_USER: 'ipledger' }, 'set both, or none'],
    ['a password without a user', { IPLEDGER_ETCD_PASSWORD_FILE: '/p' }, 'set both, or none'],
    [
      'a password file that is not there',
      { IPLEDGER_ETCD_USER: 'ipledger', IPLEDGER_ETCD_PASSWORD_FILE: '/nowhere' },
      'ENOENT',
    ],
    ['authorities that are not there', { IPLEDGER_ETCD_CA: '/nowhere' }, 'no file /nowhere'],
  ] as const)
    it(`is not ${what}`, () => {
      expect(() => environment(values)).to.throw(message);
    });

  it('fits the endpoints: https:// is not verified by nothing, and nothing goes over http:// that was meant for TLS', () => {
    expect(() => accessOptions(https, {})).to.throw('https://127.0.0.1:1: IPLEDGER_ETCD_CA (and _CERT and _KEY');
    expect(() => accessOptions(['http://a:1', ...https], { authorities: '/ca' })).to.throw(
      'IPLEDGER_ETCD_CA is set: write every endpoint of etcd as https://host:port',
    );
  });
});

describe('An etcd that does not let everybody in', function () {
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
  const shown = (files: TlsFiles): EtcdAccess => ({ certificates: new RenewedCertificates(files, { lookMs: 10 }) });
  const startSecured = (): Promise<Etcd> =>
    startEtcd(run, { tls: { server: certificates.server, client: certificates.allocator } });

  /** A shell as the documents assume it. */
  async function shell(command: string, variables: Record<string, string>): Promise<CommandResult> {
    const path = [dirname(await findProgram('etcdctl')), process.env['PATH']].join(delimiter);
    return runCommand('sh', ['-e', '-c', command], { env: childEnvironment({ ...variables, PATH: path }) });
  }
  const as = (etcd: Etcd, files: TlsFiles, command: string): Promise<CommandResult> =>
    shell(command, etcdctlVariables(etcd.endpoint, files));

  /** What an allocator does with etcd, all of it: is elected, writes, reads back. */
  async function work(client: Etcd3): Promise<void> {
    const term = await campaign(client, { replica: 'a', address: 'a:1' }, AbortSignal.timeout(10_000), silent);
    const ledger = new EtcdLedger(client);
    const batch = batchOf(emptyHead, [{ type: 'LedgerCreated', subnet: '', data: { ledger: 'L' } }]);
    // At once: the watch that ends with the campaign takes no other call along.
    const appended = await ledger.append({ ...batch, writer: term.revision });
    expect({ ...appended, revision: 0n }).to.deep.equal({ kind: 'appended', revision: 0n });
    expect((await ledger.load(never)).head.seq).to.equal(1);
    await term.resign();
  }

  it('lets in who shows a certificate of its authority', async () => {
    const etcd = await startSecured();
    await work(open(etcd, shown(certificates.allocator)));
  });

  it('goes on with certificates that are renewed on disk, and with those of another authority', async () => {
    const etcd = await startSecured();
    const access = shown(certificates.allocator);
    const client = open(etcd, access);
    await work(client);
    const ledger = new EtcdLedger(client);
    const isTakenUp = (): boolean =>
      (['ca', 'cert', 'key'] as const).every((part) =>
        access.certificates?.current[part].equals(readFileSync(certificates.allocator[part])),
      );
    const untilTakenUp = async (): Promise<void> => {
      while (!isTakenUp()) await sleep(5);
    };
    const subject = { name: 'renewed', commonName: 'ipledger' };
    const authority = await openAuthority(join(folder, 'etcd'));
    await reissue(authority, subject, certificates.allocator);
    await untilTakenUp();
    expect((await ledger.head(never)).seq).to.equal(1);

    const next = await openAuthority(join(folder, 'next'), 'next');
    const { ca } = certificates.allocator;
    writeFileSync(ca, readFileSync(ca, 'utf8') + readFileSync(next.cert, 'utf8'));
    await untilTakenUp();
    await etcd.restart(); // it reads authorities at its start only
    await reissue(next, subject, certificates.allocator);
    await reissue(
      next,
      { name: 'server', commonName: 'etcd', alternativeNames: ['IP:127.0.0.1'] },
      certificates.server,
    );
    await untilTakenUp();
    writeFileSync(ca, readFileSync(next.cert));
    await untilTakenUp();
    await etcd.restart();
    expect((await new EtcdLedger(open(etcd, access)).head(never)).seq).to.equal(1);
    // Of the client that lived through it all: its connection broke with each restart, and stands again.
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

  it('gives each user what the documents’ commands grant it, and no more', async () => {
    const etcd = await startSecured();
    const { code, stderr } = await as(etcd, certificates.root, recipe('etcd-users'));
    expect(code, stderr).to.equal(0);
    await work(open(etcd, shown(certificates.allocator)));

    const read = await as(etcd, certificates.auditor, 'etcdctl get --prefix /ipledger/v1/log/ --print-value-only');
    expect(read.stdout).to.contain('LedgerCreated');
    const audited = await verifyKeys(new EtcdLedger(open(etcd, shown(certificates.auditor))), { signal: never });
    expect(audited.findings).to.deep.equal([]);
    expect(audited.head.seq).to.equal(1);
    for (const [files, command] of [
      [certificates.auditor, 'etcdctl put /ipledger/v1/head mine'],
      [certificates.auditor, 'etcdctl del --prefix /ipledger/'],
      [certificates.allocator, 'etcdctl put /registry/pods/mine x'],
      [certificates.server, 'etcdctl get --prefix /ipledger/'],
    ] as const) {
      const refused = await as(etcd, files, command);
      expect(refused.code, command).not.to.equal(0);
      expect(refused.stderr, command).to.contain('permission denied');
    }
    expect((await new EtcdLedger(open(etcd, shown(certificates.allocator))).head(never)).seq).to.equal(1);
  });

  it('says what is wrong when the allocator’s user may not read', async () => {
    const etcd = await startSecured();
    await as(etcd, certificates.root, recipe('etcd-users'));
    const asked = new EtcdLedger(open(etcd, shown(certificates.server))).load(never);
    const error: unknown = await asked.catch((thrown: unknown) => thrown);
    expect(error).to.have.property('message').that.contains('permission denied');
  });

  it('takes a password, also after its restart, and a new one from the file', async () => {
    const etcd = await startEtcd(run);
    const [file, auditors] = [join(run.folder, 'password'), join(run.folder, 'auditors')];
    writeFileSync(file, 'first\n');
    writeFileSync(auditors, 'third\n');
    const files = { PASSWORD_FILE: file, AUDITOR_PASSWORD_FILE: auditors };
    const variables = { ETCDCTL_ENDPOINTS: etcd.endpoint, ...files };
    const users = recipe('etcd-users')
      .replaceAll(/^etcdctl user add (ipledger|ipledger-auditor) --no-password$/gm, '')
      .replace('user add root --no-password', 'user add root:root');
    const done = await shell(`${recipe('etcd-passwords')}${users}`, variables);
    expect(done.code, done.stderr).to.equal(0);

    const client = open(
      etcd,
      etcdAccess({ IPLEDGER_ETCD_USER: 'ipledger', IPLEDGER_ETCD_PASSWORD_FILE: file }, silent),
    );
    await work(client);
    const audit = await shell(
      'etcdctl --user "ipledger-auditor:$(cat $AUDITOR_PASSWORD_FILE)" put /ipledger/v1/head x',
      variables,
    );
    expect(audit.stderr).to.contain('permission denied');

    const ledger = new EtcdLedger(client);
    await etcd.restart(); // forgets every token that it gave
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

/** Tests `make certs` with openssl. */
import { X509Certificate } from 'node:crypto';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { certificateFolder, makeCertificates } from './certificates.ts';
import { issueCertificate, openAuthority, reissueCertificate } from './certificate-authority.ts';

describe('The certificates of `make certs`', () => {
  const subjects = { allocators: ['a', 'b'], nodes: ['node-1'], operators: ['anna'] };
  let folder: string;
  before(() => void (folder = mkdtempSync(join(tmpdir(), 'ipledger-certs-'))));
  after(() => rmSync(folder, { recursive: true }));

  const make = async (renew = false): Promise<Record<string, string>> =>
    Object.fromEntries(
      (await makeCertificates({ folder, ...subjects, renew })).map(({ subject, state }) => [subject, state]),
    );
  const read = (file: string): X509Certificate => new X509Certificate(readFileSync(file));

  it('The certificates of `make certs` have one URI for each program, and another authority for etcd', async () => {
    expect(Object.keys(await make())).to.deep.equal([
      'ipledger://allocator/a',
      'ipledger://allocator/b',
      'ipledger://agent/node-1',
      'ipledger://watcher',
      'ipledger://ovn-projector',
      'ipledger://read-model',
      'ipledger://operator/anna',
      'ipledger://viewer',
      'etcd',
      'root',
      'ipledger',
      'ipledger-auditor',
    ]);
    const { agent, etcd } = certificateFolder(folder);
    expect(read(agent('node-1').cert).subjectAltName).to.equal('URI:ipledger://agent/node-1');
    expect(read(etcd.auditor.cert).subject).to.equal('CN=ipledger-auditor');
    expect(read(etcd.auditor.cert).checkIssued(read(agent('node-1').ca))).to.equal(false);
    expect(statSync(agent('node-1').key).mode & 0o077).to.equal(0);
  });

  it('The certificates of `make certs` are kept while they are valid, and all renewed on request', async () => {
    expect(new Set(Object.values(await make()))).to.deep.equal(new Set(['kept']));
    expect(new Set(Object.values(await make(true)))).to.deep.equal(new Set(['renewed']));
  });

  it('The certificates of `make certs` are renewed when they expire soon or another authority signed them', async () => {
    const { watcher, viewer } = certificateFolder(folder);
    const authority = await openAuthority(folder);
    const subject = { name: 'watcher', commonName: 'watcher', alternativeNames: ['URI:ipledger://watcher'] };
    await reissueCertificate(authority, { ...subject, days: 10 }, watcher);
    const other = await openAuthority(join(folder, 'other'), 'other');
    const stray = await issueCertificate(other, { ...subject, name: 'stray' });
    copyFileSync(stray.cert, viewer.cert);
    copyFileSync(stray.key, viewer.key);
    const renewed = Object.entries(await make()).flatMap(([name, state]) => (state === 'renewed' ? [name] : []));
    expect(renewed).to.deep.equal(['ipledger://watcher', 'ipledger://viewer']);
  });
});

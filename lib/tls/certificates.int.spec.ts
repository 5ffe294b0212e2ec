import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  type Authority,
  issueCertificate,
  openAuthority,
} from '../../test/harness/certificates/certificate-authority.ts';
import { checkCertificates, readCertificates, type TlsFiles } from './certificates.ts';

describe('Certificate files', () => {
  let folder: string;
  let authority: Authority;
  let other: Authority;
  let files: TlsFiles;

  const made = async (by: Authority, name: string, days?: number): Promise<TlsFiles> => {
    const pair = await issueCertificate(by, { name, commonName: name, ...(days !== undefined && { days }) });
    return { ca: by.cert, ...pair };
  };
  const check = (changes: Partial<TlsFiles> = {}, now = Date.now()) => {
    const changed = { ...files, ...changes };
    return checkCertificates(changed, readCertificates(changed), now);
  };
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ipledger-certificates-'));
    [authority, other] = [
      await openAuthority(join(folder, 'one')),
      await openAuthority(join(folder, 'other'), 'other'),
    ];
    files = await made(authority, 'a');
  });
  after(() => rmSync(folder, { recursive: true }));

  it('Certificate files are valid when they match', () => {
    expect(check().subject).to.equal('CN=a');
  });

  it('Certificate files may be issued by one of several authorities', () => {
    const both = file('both.crt', readFileSync(other.cert, 'utf8') + readFileSync(authority.cert, 'utf8'));
    expect(check({ ca: both }).subject).to.equal('CN=a');
  });

  it('Certificate files may be issued through intermediate certificates', async () => {
    const below = await openAuthority(join(folder, 'below'), 'below', authority);
    const pair = await issueCertificate(below, { name: 'far', commonName: 'far' });
    const chain = file('chain.crt', readFileSync(pair.cert, 'utf8') + readFileSync(below.cert, 'utf8'));
    expect(check({ cert: chain, key: pair.key }).subject).to.equal('CN=far');
    expect(() => check(pair)).to.throw('was issued by none of the authorities');
  });

  it('Certificate files are invalid when a file is missing', () => {
    expect(() => check({ key: '/nowhere/tls.key' })).to.throw(
      'cannot read /nowhere/tls.key: ENOENT: no such file or directory',
    );
  });

  it('Certificate files are invalid when the key is of another certificate', async () => {
    const { key } = await made(authority, 'b');
    expect(() => check({ key })).to.throw(`the key in ${key} is not that of the certificate in ${files.cert}`);
  });

  it('Certificate files are invalid when no authority issued the certificate', () => {
    expect(() => check({ ca: other.cert })).to.throw(
      `the certificate in ${files.cert} was issued by none of the authorities in ${other.cert}`,
    );
  });

  it('Certificate files are invalid when the certificate has expired, and the message names the file', async () => {
    const ended = await made(authority, 'ended', -1);
    expect(() => check(ended)).to.throw(/^the certificate in .*\/ended\.crt expired at 20..-.*Z: renew it$/);
  });

  it('Certificate files are invalid when the certificate is not valid yet', () => {
    expect(() => check({}, Date.parse('2001-01-01'))).to.throw(
      'the time is 2001-01-01T00:00:00.000Z here: check the clocks',
    );
  });

  for (const part of ['ca', 'cert', 'key'] as const)
    for (const [what, bytes] of [
      ['empty', 0],
      ['half written', 120],
    ] as const)
      it(`Certificate files are invalid when the ${part} file is ${what}`, () => {
        const cut = file('cut.pem', readFileSync(files[part], 'utf8'));
        truncateSync(cut, bytes);
        expect(() => check({ [part]: cut })).to.throw(`${cut} is not, or not yet, a`);
      });

  it('Certificate files are invalid when the last authority is incomplete', () => {
    const cut = file('cut.pem', readFileSync(authority.cert, 'utf8') + readFileSync(other.cert, 'utf8').slice(0, 200));
    expect(() => check({ ca: cut })).to.throw('not yet, a complete PEM file of certificates');
  });

  it('Certificate files are invalid when a PEM block is no certificate', () => {
    const wrong = file('wrong.pem', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n');
    expect(() => check({ cert: wrong })).to.throw(`${wrong} contains an invalid certificate`);
  });
});

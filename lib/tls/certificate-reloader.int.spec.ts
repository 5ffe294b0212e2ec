import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import {
  type Authority,
  issueCertificate,
  openAuthority,
  reissueCertificate,
} from '../../test/harness/certificates/certificate-authority.ts';
import type { TlsFiles } from './certificates.ts';
import type { Logger } from '../process/log.ts';
import { certificateGauges, CertificateReloader } from './certificate-reloader.ts';

const pollIntervalMs = 5;
const day = 86_400_000;
const subject = { name: 'a', commonName: 'a', days: 10 };

describe('Certificate reloader', () => {
  let folder: string;
  let authority: Authority;
  let files: TlsFiles;
  let lines: string[];
  let passedMs: number;
  let stop: () => void;

  const log = new Proxy({} as Logger, {
    get: (_, level) => (details: object, text: string) =>
      lines.push(`${String(level)}: ${text} ${JSON.stringify(details)}`),
  });
  const read = (part: keyof TlsFiles): string => readFileSync(files[part], 'latin1');
  const write = (part: keyof TlsFiles, text: string): void => writeFileSync(files[part], text);

  const now = (): number => Date.now() + passedMs;

  /** Creates a reloader with a listener, as a server does. */
  function follow(options: object = {}): { readonly reloader: CertificateReloader; readonly installed: string[] } {
    const reloader = new CertificateReloader(files, { log, pollIntervalMs, now, ...options });
    const installed: string[] = [];
    const listener = (update: { certificate: Buffer } | null): void => void installed.push(String(update?.certificate));
    reloader.addIdentityCertificateListener(listener);
    stop = () => reloader.removeIdentityCertificateListener(listener);
    return { reloader, installed };
  }

  async function until(happened: () => boolean): Promise<void> {
    while (!happened()) await sleep(1);
  }
  const linesWith = (text: string): string[] => lines.filter((line) => line.includes(text));

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ipledger-renewal-'));
    authority = await openAuthority(folder);
    files = { ca: join(folder, 'trusted.crt'), ...(await issueCertificate(authority, subject)) };
    write('ca', readFileSync(authority.cert, 'latin1'));
    lines = [];
    passedMs = 0;
    stop = () => undefined;
  });
  afterEach(() => {
    stop();
    rmSync(folder, { recursive: true });
  });

  it('Certificate reloader fails at the start when the files are invalid', () => {
    write('key', 'nothing');
    expect(() => follow()).to.throw(`${files.key} is not, or not yet, a PEM file of a private key`);
  });

  it('Certificate reloader reports the expiry and the remaining validity of the certificate and of its authority', () => {
    follow();
    const readGauge = (index: number): Record<string, number> =>
      (certificateGauges[index]?.read() ?? {}) as Record<string, number>;
    const read = () => readGauge(0);
    const expires = new X509Certificate(readFileSync(files.cert)).validToDate.getTime() / 1_000;
    expect(readGauge(1)[files.cert]).to.equal(expires);
    expect(read()[files.cert]).to.be.closeTo(1, 0.01);
    expect(read()[files.ca]).to.be.closeTo(1, 0.01);
    passedMs = 9.5 * day;
    expect(read()[files.cert]).to.be.closeTo(0.05, 0.01);
    expect(read()[files.ca]).to.be.above(0.9);
    passedMs = 11 * day;
    expect(read()[files.cert]).to.equal(0);
  });

  it('Certificate reloader reports the expiry of an authority that expires before the certificate', async () => {
    const longer = await issueCertificate(authority, { name: 'longer', commonName: 'longer', days: 9_999 });
    files = { ...files, ...longer };
    follow();
    const expires = (certificateGauges[1]?.read() ?? {}) as Record<string, number>;
    expect(expires[files.ca]).to.equal(new X509Certificate(readFileSync(files.ca)).validToDate.getTime() / 1_000);
    expect(expires[files.cert]).to.be.greaterThan(expires[files.ca] ?? Infinity);
  });

  it('Certificate reloader fails at the start when its additional check fails', () => {
    const check = (): void => {
      throw new Error('it has no identity');
    };
    expect(() => follow({ check })).to.throw('it has no identity');
  });

  it('Certificate reloader notifies a new listener immediately after it is added', async () => {
    const { installed } = follow();
    expect(installed).to.deep.equal([]);
    await Promise.resolve();
    expect(installed).to.deep.equal([read('cert')]);
  });

  it('Certificate reloader installs certificates whose files were replaced', async () => {
    const { reloader, installed } = follow();
    await reissueCertificate(authority, subject, files);
    await until(() => installed.length > 1);
    expect(installed.at(-1)).to.equal(read('cert'));
    expect(reloader.current.key.toString()).to.equal(read('key'));
    expect(linesWith('certificates installed')).to.have.length(1);
  });

  it('Certificate reloader installs certificates whose files were overwritten', async () => {
    const { installed } = follow();
    const renewed = { ...(await issueCertificate(authority, { ...subject, name: 'renewed' })) };
    write('key', readFileSync(renewed.key, 'latin1'));
    write('cert', readFileSync(renewed.cert, 'latin1'));
    await until(() => installed.length > 1);
    expect(installed.at(-1)).to.equal(read('cert'));
  });

  it('Certificate reloader installs certificates after a symbolic link changed, as in a Secret of Kubernetes', async () => {
    const renewed = await issueCertificate(authority, { ...subject, name: 'renewed' });
    const [cert, key] = [files.cert, files.key];
    files = { ...files, cert: join(folder, 'link.crt'), key: join(folder, 'link.key') };
    symlinkSync(cert, files.cert);
    symlinkSync(key, files.key);
    const { installed } = follow();
    for (const [link, target] of [
      [files.cert, renewed.cert],
      [files.key, renewed.key],
    ] as const) {
      unlinkSync(link);
      symlinkSync(target, link);
    }
    await until(() => installed.length > 1);
    expect(installed.at(-1)).to.equal(readFileSync(renewed.cert, 'latin1'));
  });

  it('Certificate reloader keeps the old certificates and logs once while the key does not match', async () => {
    const { reloader, installed } = follow();
    const [cert, renewed] = [read('cert'), await issueCertificate(authority, { ...subject, name: 'renewed' })];
    write('key', readFileSync(renewed.key, 'latin1'));
    await until(() => lines.length > 0);
    await sleep(10 * pollIntervalMs);
    expect(lines).to.have.length(1);
    expect(lines[0]).to.contain(
      'warn: new certificate files are invalid and not installed; the old certificates stay in use',
    );
    expect(lines[0]).to.contain(`the key in ${files.key} is not that of the certificate in ${files.cert}`);
    expect([installed.length, reloader.current.cert.toString()]).to.deep.equal([1, cert]);

    write('cert', readFileSync(renewed.cert, 'latin1'));
    await until(() => installed.length > 1);
    expect(installed.at(-1)).to.equal(readFileSync(renewed.cert, 'latin1'));
  });

  it('Certificate reloader keeps the old certificates while a file is incomplete or absent', async () => {
    const { installed } = follow();
    truncateSync(files.cert, 100);
    await until(() => linesWith('not yet, a complete PEM file').length > 0);
    rmSync(files.cert);
    await until(() => linesWith('cannot read').length > 0);
    expect(installed).to.have.length(1);
  });

  it('Certificate reloader installs certificates after two polls with the same content', async () => {
    const original = read('ca');
    let polls = 0;
    const eachLook = (): number => {
      // Each content is valid, but none stays for two polls.
      if (polls++ < 20) write('ca', `# ${polls}\n${original}`);
      return now();
    };
    const { reloader } = follow({ now: eachLook });
    await until(() => polls >= 20);
    expect(reloader.current.ca.toString()).to.equal(original);
    await until(() => reloader.current.ca.toString() !== original);
    expect(reloader.current.ca.toString())
      .to.equal(read('ca'))
      .and.match(/^# 20\n/);
  });

  it('Certificate reloader logs invalid files again after they were valid in between', async () => {
    let polls = 0;
    follow({ now: () => (polls++, now()) });
    const key = read('key');
    for (const time of [1, 2]) {
      write('key', 'nothing');
      await until(() => linesWith('PEM file of a private key').length === time);
      write('key', key);
      const before = polls;
      await until(() => polls >= before + 5);
    }
  });

  it('Certificate reloader logs once an hour in the last tenth of the validity, and after the expiry', async () => {
    follow();
    passedMs += 8 * day;
    await sleep(5 * pollIntervalMs);
    expect(lines).to.deep.equal([]);
    passedMs += 1.5 * day;
    await until(() => lines.length > 0);
    await sleep(5 * pollIntervalMs);
    expect(lines).to.have.length(1);
    expect(lines[0]).to.contain('warn: the certificate expires soon: renew it').and.contain(files.cert);
    passedMs += day;
    await until(() => lines.length > 1);
    expect(lines[1]).to.contain('error: the certificate has expired');
  });

  it('Certificate reloader installs new certificates for a listener that is added after a time without listeners', async () => {
    const { reloader } = follow();
    stop();
    await reissueCertificate(authority, subject, files);
    await sleep(5 * pollIntervalMs);
    expect(reloader.current.cert.toString()).not.to.equal(read('cert'));
    reloader.addCaCertificateListener(() => undefined);
    expect(reloader.current.cert.toString()).to.equal(read('cert'));
  });
});

import { mkdtempSync, readFileSync, rmSync, symlinkSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { type Authority, issue, openAuthority, reissue } from '../test/harness/pki.ts';
import type { TlsFiles } from './certificates.ts';
import type { Logger } from './log.ts';
import { RenewedCertificates } from './renewal.ts';

const lookMs = 5;
const day = 86_400_000;
const subject = { name: 'a', commonName: 'a', days: 10 };

describe('certificates that follow their files', () => {
  let folder: string;
  let authority: Authority;
  let files: TlsFiles;
  let said: string[];
  let passedMs: number;
  let stop: () => void;

  const log = new Proxy({} as Logger, {
    get: (_, level) => (facts: object, text: string) => said.push(`${String(level)}: ${text} ${JSON.stringify(facts)}`),
  });
  const read = (part: keyof TlsFiles): string => readFileSync(files[part], 'latin1');
  const write = (part: keyof TlsFiles, text: string): void => writeFileSync(files[part], text);

  const now = (): number => Date.now() + passedMs;

  /** Opens them and listens, as a server does. */
  function follow(options: object = {}): { readonly kept: RenewedCertificates; readonly told: string[] } {
    const kept = new RenewedCertificates(files, { log, lookMs, now, ...options });
    const told: string[] = [];
    const listener = (update: { certificate: Buffer } | null): void => void told.push(String(update?.certificate));
    kept.addIdentityCertificateListener(listener);
    stop = () => kept.removeIdentityCertificateListener(listener);
    return { kept, told };
  }

  async function until(happened: () => boolean): Promise<void> {
    while (!happened()) await sleep(1);
  }
  const saidOf = (text: string): string[] => said.filter((line) => line.includes(text));

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ipledger-renewal-'));
    authority = await openAuthority(folder);
    files = { ca: join(folder, 'trusted.crt'), ...(await issue(authority, subject)) };
    write('ca', readFileSync(authority.cert, 'latin1'));
    said = [];
    passedMs = 0;
    stop = () => undefined;
  });
  afterEach(() => {
    stop();
    rmSync(folder, { recursive: true });
  });

  it('are refused at the start when they won’t do', () => {
    write('key', 'nothing');
    expect(() => follow()).to.throw(`${files.key} is not, or not yet, a PEM file of a private key`);
  });

  it('are refused at the start when the check of whoever opens them says so', () => {
    const check = (): void => {
      throw new Error('it names nobody');
    };
    expect(() => follow({ check })).to.throw('it names nobody');
  });

  it('tell a new listener at once, but not before it is ready', async () => {
    const { told } = follow();
    expect(told).to.deep.equal([]);
    await Promise.resolve();
    expect(told).to.deep.equal([read('cert')]);
  });

  it('are taken up when they were replaced by others', async () => {
    const { kept, told } = follow();
    await reissue(authority, subject, files);
    await until(() => told.length > 1);
    expect(told.at(-1)).to.equal(read('cert'));
    expect(kept.current.key.toString()).to.equal(read('key'));
    expect(saidOf('certificates taken up')).to.have.length(1);
  });

  it('are taken up when they were written over', async () => {
    const { told } = follow();
    const renewed = { ...(await issue(authority, { ...subject, name: 'renewed' })) };
    write('key', readFileSync(renewed.key, 'latin1'));
    write('cert', readFileSync(renewed.cert, 'latin1'));
    await until(() => told.length > 1);
    expect(told.at(-1)).to.equal(read('cert'));
  });

  it('are taken up when a symbolic link was turned, as of a Secret in Kubernetes', async () => {
    const renewed = await issue(authority, { ...subject, name: 'renewed' });
    const [cert, key] = [files.cert, files.key];
    files = { ...files, cert: join(folder, 'link.crt'), key: join(folder, 'link.key') };
    symlinkSync(cert, files.cert);
    symlinkSync(key, files.key);
    const { told } = follow();
    for (const [link, target] of [
      [files.cert, renewed.cert],
      [files.key, renewed.key],
    ] as const) {
      unlinkSync(link);
      symlinkSync(target, link);
    }
    await until(() => told.length > 1);
    expect(told.at(-1)).to.equal(readFileSync(renewed.cert, 'latin1'));
  });

  it('are not taken up while the key fits no certificate: said once, and the old go on', async () => {
    const { kept, told } = follow();
    const [cert, renewed] = [read('cert'), await issue(authority, { ...subject, name: 'renewed' })];
    write('key', readFileSync(renewed.key, 'latin1'));
    await until(() => said.length > 0);
    await sleep(10 * lookMs);
    expect(said).to.have.length(1);
    expect(said[0]).to.contain('warn: certificates on disk are not taken up: the old go on');
    expect(said[0]).to.contain(`the key in ${files.key} is not that of the certificate in ${files.cert}`);
    expect([told.length, kept.current.cert.toString()]).to.deep.equal([1, cert]);

    write('cert', readFileSync(renewed.cert, 'latin1'));
    await until(() => told.length > 1);
    expect(told.at(-1)).to.equal(readFileSync(renewed.cert, 'latin1'));
  });

  it('are not taken up half written, or gone, and the old go on', async () => {
    const { told } = follow();
    truncateSync(files.cert, 100);
    await until(() => saidOf('not yet, a whole PEM file').length > 0);
    rmSync(files.cert);
    await until(() => saidOf('cannot read').length > 0);
    expect(told).to.have.length(1);
  });

  it('are not taken up before two looks in a row have found the same', async () => {
    const whole = read('ca');
    let looks = 0;
    const eachLook = (): number => {
      // Any of these would do; none is there for two looks.
      if (looks++ < 20) write('ca', `# ${looks}\n${whole}`);
      return now();
    };
    const { kept } = follow({ now: eachLook });
    await until(() => looks >= 20);
    expect(kept.current.ca.toString()).to.equal(whole);
    await until(() => kept.current.ca.toString() !== whole);
    expect(kept.current.ca.toString())
      .to.equal(read('ca'))
      .and.match(/^# 20\n/);
  });

  it('are complained of again when they were right in between', async () => {
    let looks = 0;
    follow({ now: () => (looks++, now()) });
    const key = read('key');
    for (const time of [1, 2]) {
      write('key', 'nothing');
      await until(() => saidOf('PEM file of a private key').length === time);
      write('key', key);
      const before = looks;
      await until(() => looks >= before + 5);
    }
  });

  it('are reminded of in the last tenth of their life, and when it is over, once an hour', async () => {
    follow();
    passedMs += 8 * day;
    await sleep(5 * lookMs);
    expect(said).to.deep.equal([]);
    passedMs += 1.5 * day;
    await until(() => said.length > 0);
    await sleep(5 * lookMs);
    expect(said).to.have.length(1);
    expect(said[0]).to.contain('warn: the certificate ends soon: renew it').and.contain(files.cert);
    passedMs += day;
    await until(() => said.length > 1);
    expect(said[1]).to.contain('error: the certificate has expired');
  });

  it('are taken up at once by who listens when nobody did for long', async () => {
    const { kept } = follow();
    stop();
    await reissue(authority, subject, files);
    await sleep(5 * lookMs);
    expect(kept.current.cert.toString()).not.to.equal(read('cert'));
    kept.addCaCertificateListener(() => undefined);
    expect(kept.current.cert.toString()).to.equal(read('cert'));
  });
});

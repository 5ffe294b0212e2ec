import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { openAuthority } from '../../test/harness/certificates/certificate-authority.ts';
import type { Logger } from '../process/log.ts';
import { AuthorityReloader } from './authority-reloader.ts';

describe('The trusted authorities of a client with a token', () => {
  let folder: string;
  let file: string;
  const pems: Buffer[] = [];
  const reloaders: { stop(): void }[] = [];

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ipledger-authorities-'));
    file = join(folder, 'ca.crt');
    for (const name of ['one', 'other']) pems.push(readFileSync((await openAuthority(join(folder, name), name)).cert));
  });
  afterEach(() => {
    for (const each of reloaders.splice(0)) each.stop();
  });
  after(() => rmSync(folder, { recursive: true }));

  /** Watches the file. Returns a function that waits for the next authorities in use. */
  function watch(onWarning = (): void => undefined): {
    readonly reloader: AuthorityReloader;
    readonly next: () => Promise<Buffer>;
  } {
    const log = { warn: onWarning, info: () => undefined } as unknown as Logger;
    const reloader = new AuthorityReloader(file, { pollIntervalMs: 5, log });
    const updates: Buffer[] = [];
    let wake = (): void => undefined;
    const listener = (update: { caCertificate: Buffer } | null): void => {
      if (update) updates.push(update.caCertificate);
      wake();
    };
    reloader.addCaCertificateListener(listener);
    reloaders.push({ stop: () => reloader.removeCaCertificateListener(listener) });
    const next = async (): Promise<Buffer> => {
      for (;;) {
        const update = updates.shift();
        if (update) return update;
        await new Promise<void>((resolve) => (wake = resolve));
      }
    };
    return { reloader, next };
  }
  const replace = (content: Buffer | string): void => {
    writeFileSync(`${file}.new`, content);
    renameSync(`${file}.new`, file);
  };

  it('the authorities are replaced when their file is replaced, without a restart', async () => {
    replace(pems[0] ?? '');
    const { reloader, next } = watch();
    expect(await next()).to.deep.equal(pems[0]);
    replace(pems[1] ?? '');
    expect(await next()).to.deep.equal(pems[1]);
    expect(reloader.current).to.deep.equal(pems[1]);
  });

  it('The trusted authorities of a client with a token stay in use while the new file is incomplete', async () => {
    replace(pems[0] ?? '');
    let warn = (): void => undefined;
    const warned = new Promise<void>((resolve) => (warn = resolve));
    const { reloader, next } = watch(() => warn());
    expect(await next()).to.deep.equal(pems[0]);
    replace((pems[1] ?? Buffer.alloc(0)).subarray(0, 100));
    await warned;
    expect(reloader.current).to.deep.equal(pems[0]);
    replace(pems[1] ?? '');
    expect(await next()).to.deep.equal(pems[1]);
  });

  it('the authorities must be valid at the start', () => {
    replace('no certificate');
    expect(() => new AuthorityReloader(file)).to.throw('is not, or not yet, a complete PEM file of certificates');
  });
});

import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { X509Certificate } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { type sendUnaryData, Server, ServerCredentials, type ServerUnaryCall } from '@grpc/grpc-js';
import { expect } from 'chai';
import { IpamService, type ListReply, type ListRequest } from '../proto/ipledger.ts';
import { type Authority, issue, openAuthority, reissue } from '../test/harness/pki.ts';
import type { IpledgerError } from './errors.ts';
import { RenewedCertificates } from './renewal.ts';
import { call, connect } from './rpc.ts';
import { openTls, serverCredentials, type ServerKind, type Tls, type TlsFiles, tlsFromEnvironment } from './tls.ts';

type ListCall = ServerUnaryCall<ListRequest, ListReply>;

const lookMs = 10;
const uris = {
  server: 'ipledger://allocator/a',
  client: 'ipledger://watcher',
  operator: 'ipledger://operator/me',
  index: 'ipledger://index',
} as const;
type Name = keyof typeof uris;

/** A server that says which certificate of the caller's it sees; what it shows itself is seen by the caller. */
async function serve(
  tls: Tls,
  credentials = serverCredentials(tls),
): Promise<{ readonly endpoint: string } & Disposable> {
  const server = new Server();
  const list = (received: ListCall, reply: sendUnaryData<object>): void =>
    reply(null, { nextPageToken: received.getAuthContext().sslPeerCertificate?.serialNumber ?? 'nobody' });
  server.addService(IpamService, { list });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', credentials, (error, bound) => (error ? reject(error) : resolve(bound)));
  });
  return { endpoint: `127.0.0.1:${port}`, [Symbol.dispose]: () => server.forceShutdown() };
}

/** The caller's certificate, as the server sees it. */
async function ask(endpoint: string, tls: Tls, server?: ServerKind): Promise<string> {
  const connection = connect(endpoint, tls, server);
  try {
    return (await call(connection, IpamService.list, {}, { timeoutMs: 10_000 })).nextPageToken;
  } finally {
    connection.close();
  }
}

const failure = (asked: Promise<unknown>): Promise<IpledgerError> =>
  asked.then(
    () => Promise.reject(new Error('it was answered')),
    (error: unknown) => error as IpledgerError,
  );

/** The serial number of the certificate that a server shows to a new connection. */
function shownBy(endpoint: string, { current: { ca, cert, key } }: RenewedCertificates): Promise<string> {
  const [host = '', port] = endpoint.split(':');
  return new Promise((resolve, reject) => {
    const socket = connectTls({ host, port: Number(port), ca, cert, key, checkServerIdentity: () => undefined }, () => {
      resolve(socket.getPeerCertificate().serialNumber);
      socket.destroy();
    });
    socket.once('error', reject);
  });
}

const fromEnvironment = (values: Record<string, string>): Tls => tlsFromEnvironment(values, undefined);

async function until(happened: () => boolean): Promise<void> {
  while (!happened()) await sleep(1);
}

describe('TLS', () => {
  let folder: string;
  let authority: Authority;
  let stranger: Authority;

  const subject = (name: Name) => ({ name, commonName: name, alternativeNames: [`URI:${uris[name]}`] });
  const filesOf = async (name: Name, by = authority): Promise<TlsFiles> => ({
    ca: authority.cert,
    ...(await issue(by, subject(name))),
  });
  const open = async (name: Name): Promise<RenewedCertificates> => openTls(await filesOf(name));

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ipledger-tls-'));
    authority = await openAuthority(join(folder, 'ours'));
    stranger = await openAuthority(join(folder, 'theirs'), 'stranger');
  });
  after(() => rmSync(folder, { recursive: true }));

  it('is between two certificates of one authority, whatever the server’s address', async () => {
    using server = await serve(await open('server'));
    expect(await ask(server.endpoint, await open('client'))).to.match(/^[0-9A-F]+$/);
    const byName = server.endpoint.replace('127.0.0.1', 'localhost');
    expect(await ask(byName, await open('client'))).to.match(/^[0-9A-F]+$/);
  });

  it('is none when nothing is set up', async () => {
    expect(fromEnvironment({ IPLEDGER_TLS_CA: '' })).to.equal(undefined);
    using server = await serve(undefined);
    expect(await ask(server.endpoint, undefined)).to.equal('nobody');
  });

  it('is not set up by halves, nor with files that won’t do', async () => {
    const { ca, cert, key } = await filesOf('client');
    expect(() => fromEnvironment({ IPLEDGER_TLS_CA: ca, IPLEDGER_TLS_CERT: cert })).to.throw(
      'IPLEDGER_TLS_CA, IPLEDGER_TLS_CERT and IPLEDGER_TLS_KEY: set all three for TLS, or none for plaintext',
    );
    const environment = { IPLEDGER_TLS_CA: ca, IPLEDGER_TLS_CERT: cert, IPLEDGER_TLS_KEY: '/nowhere' };
    expect(() => fromEnvironment(environment)).to.throw('cannot read /nowhere');
    expect(fromEnvironment({ ...environment, IPLEDGER_TLS_KEY: key })).to.be.instanceOf(RenewedCertificates);
  });

  it('is not set up with a certificate that names nobody of ours', async () => {
    const pair = await issue(authority, { name: 'nobody', commonName: 'nobody', alternativeNames: ['DNS:localhost'] });
    expect(() => openTls({ ca: authority.cert, ...pair })).to.throw(
      /nobody\.crt: the certificate must name exactly one of .*; it has none$/,
    );
  });

  it('turns away a client of another authority, and tells it why', async () => {
    using server = await serve(await open('server'));
    const files = await filesOf('client', stranger);
    const both = join(folder, 'both.crt');
    writeFileSync(both, readFileSync(authority.cert, 'utf8') + readFileSync(stranger.cert, 'utf8'));
    const error = await failure(ask(server.endpoint, openTls({ ...files, ca: both })));
    expect(error.code).to.equal('UNAVAILABLE');
    expect(error.message).to.contain('it does not accept our certificate');
  });

  it('keeps a client from a server of another authority', async () => {
    using server = await serve(openTls({ ...(await filesOf('server', stranger)), ca: stranger.cert }));
    const error = await failure(ask(server.endpoint, await open('client')));
    expect(error.message).to.contain('its certificate is of no authority that is trusted here');
  });

  it('keeps a client from whoever is no allocator, though of the same authority', async () => {
    using server = await serve(await open('operator'));
    const error = await failure(ask(server.endpoint, await open('client')));
    expect(error.message).to.contain('the server is ipledger://operator/me, and not ipledger://allocator/<id>');
  });

  it('lets a client that means the read model speak to that, and to nobody else', async () => {
    using index = await serve(await open('index'));
    using allocator = await serve(await open('server'));
    expect(await ask(index.endpoint, await open('client'), 'index')).to.match(/^[0-9A-F]+$/);
    const error = await failure(ask(allocator.endpoint, await open('client'), 'index'));
    expect(error.message).to.contain('the server is ipledger://allocator/a, and not ipledger://index');
  });

  it('tells a plaintext client what it may be about', async () => {
    using server = await serve(await open('server'));
    const error = await failure(ask(server.endpoint, undefined));
    expect(error.code).to.equal('UNAVAILABLE');
    expect(error.message).to.contain(
      'it may speak TLS only: set IPLEDGER_TLS_CA, IPLEDGER_TLS_CERT and IPLEDGER_TLS_KEY',
    );
  });

  it('tells a client that the server speaks plaintext', async () => {
    using server = await serve(undefined);
    const error = await failure(ask(server.endpoint, await open('client')));
    expect(error.message).to.contain('it speaks plaintext');
  });

  it('tells a client that the server’s certificate has expired', async () => {
    const { cert, key } = await issue(authority, { ...subject('server'), name: 'ended', days: -1 });
    const pair = { cert_chain: readFileSync(cert), private_key: readFileSync(key) };
    using server = await serve(undefined, ServerCredentials.createSsl(readFileSync(authority.cert), [pair], true));
    const error = await failure(ask(server.endpoint, await open('client')));
    expect(error.message).to.contain('its certificate has expired');
  });

  describe('with certificates that are renewed', () => {
    let files: Record<'server' | 'client', TlsFiles>;
    let tls: Record<'server' | 'client', RenewedCertificates>;
    let served: Awaited<ReturnType<typeof serve>>;

    /** Each with a folder and a list of authorities of its own. */
    beforeEach(async () => {
      const own = async (name: 'server' | 'client'): Promise<TlsFiles> => {
        const home = mkdtempSync(join(folder, `${name}-`));
        const own = { ca: join(home, 'ca.crt'), cert: join(home, 'tls.crt'), key: join(home, 'tls.key') };
        writeFileSync(own.ca, readFileSync(authority.cert));
        await reissue(authority, subject(name), own);
        return own;
      };
      files = { server: await own('server'), client: await own('client') };
      tls = {
        server: new RenewedCertificates(files.server, { lookMs }),
        client: new RenewedCertificates(files.client, { lookMs }),
      };
      served = await serve(tls.server);
    });
    afterEach(() => served[Symbol.dispose]());

    const both = ['server', 'client'] as const;
    const isTakenUp = (name: 'server' | 'client'): boolean =>
      (['ca', 'cert', 'key'] as const).every((part) => tls[name].current[part].equals(readFileSync(files[name][part])));

    /** Calls without pause, some on a connection that stands, some each on one of its own, until `meanwhile` is done. */
    async function underLoad(meanwhile: () => Promise<void>): Promise<{ answered: number; failed: string[] }> {
      const result = { answered: 0, failed: [] as string[] };
      const over = new AbortController();
      const standing = connect(served.endpoint, tls.client);
      const keep = async (once: () => Promise<unknown>): Promise<void> => {
        while (!over.signal.aborted)
          await once().then(
            () => result.answered++,
            (error: unknown) => result.failed.push(String(error)),
          );
      };
      const onStanding = () => call(standing, IpamService.list, {}, { timeoutMs: 10_000 });
      const onFresh = () => ask(served.endpoint, tls.client);
      const loops = [onStanding, onStanding, onFresh, onFresh].map(keep);
      try {
        await meanwhile();
      } finally {
        over.abort();
        await Promise.all(loops);
        standing.close();
      }
      return result;
    }

    /** What new connections use is what the files hold. */
    async function expectInUse(): Promise<void> {
      const serial = new X509Certificate(readFileSync(files.client.cert)).serialNumber;
      expect(await ask(served.endpoint, tls.client)).to.equal(serial);
      expect(await shownBy(served.endpoint, tls.client)).to.equal(
        new X509Certificate(readFileSync(files.server.cert)).serialNumber,
      );
    }

    it('loses no call when they are replaced, one file after the other', async () => {
      const { answered, failed } = await underLoad(async () => {
        for (const name of [...both, ...both]) {
          await reissue(authority, subject(name), files[name]);
          await until(() => isTakenUp(name));
        }
      });
      expect(failed).to.deep.equal([]);
      expect(answered).to.be.above(0);
      await expectInUse();
    });

    it('loses no call when they are written over, byte by byte', async () => {
      const { failed } = await underLoad(async () => {
        for (const name of both) {
          const draft = { ...files[name], cert: `${files[name].cert}.draft`, key: `${files[name].key}.draft` };
          await reissue(authority, subject(name), draft);
          for (const part of ['cert', 'key'] as const) {
            const bytes = readFileSync(draft[part]);
            for (let length = 0; length <= bytes.length; length += 50) {
              writeFileSync(files[name][part], bytes.subarray(0, length));
              await sleep(lookMs / 2);
            }
            writeFileSync(files[name][part], bytes);
          }
          await until(() => isTakenUp(name));
        }
      });
      expect(failed).to.deep.equal([]);
      await expectInUse();
    });

    it('loses no call when the authority is replaced: trusted first, then used, then the old one no longer trusted', async () => {
      const next = await openAuthority(mkdtempSync(join(folder, 'next-')), 'next');
      const trust = async (...authorities: readonly Authority[]): Promise<void> => {
        for (const name of both) {
          writeFileSync(`${files[name].ca}.new`, authorities.map(({ cert }) => readFileSync(cert, 'utf8')).join(''));
          renameSync(`${files[name].ca}.new`, files[name].ca);
        }
        await until(() => both.every(isTakenUp));
      };
      const { failed } = await underLoad(async () => {
        await trust(authority, next);
        for (const name of both) {
          await reissue(next, subject(name), files[name]);
          await until(() => isTakenUp(name));
        }
        await trust(next);
      });
      expect(failed).to.deep.equal([]);
      await expectInUse();
      expect((await failure(ask(served.endpoint, await open('client')))).message).to.contain('of no authority');
    });
  });
});

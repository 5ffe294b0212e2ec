import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { X509Certificate } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { type sendUnaryData, Server, ServerCredentials, type ServerUnaryCall } from '@grpc/grpc-js';
import { expect } from 'chai';
import { IpamService, type ListAllocationsReply, type ListAllocationsRequest } from '../../proto/generated/ipledger.ts';
import {
  type Authority,
  issueCertificate,
  openAuthority,
  reissueCertificate,
} from '../../test/harness/certificates/certificate-authority.ts';
import type { IpledgerError } from '../errors.ts';
import { CertificateReloader } from './certificate-reloader.ts';
import { call } from '../grpc/calls.ts';
import { connect as connectWithGrpcJs } from '../grpc/client.ts';
import { connect as connectWithHttp2 } from '../grpc/http2/connect.ts';
import { listenOnLoopback } from '../grpc/testing/grpc-test-server.ts';
import {
  loadTls,
  serverCredentials,
  type ServerKind,
  type Tls,
  type TlsFiles,
  tlsFromEnvironment,
} from './credentials.ts';

type ListCall = ServerUnaryCall<ListAllocationsRequest, ListAllocationsReply>;

const lookMs = 10;
const uris = {
  server: 'ipledger://allocator/a',
  client: 'ipledger://watcher',
  operator: 'ipledger://operator/me',
  'read-model': 'ipledger://read-model',
} as const;
type Name = keyof typeof uris;

/** Serves with a handler that returns the serial number of the caller's certificate. */
async function serve(
  tls: Tls,
  credentials = serverCredentials(tls),
): Promise<{ readonly endpoint: string } & Disposable> {
  const server = new Server();
  const list = (received: ListCall, reply: sendUnaryData<object>): void =>
    reply(null, { nextPageToken: received.getAuthContext().sslPeerCertificate?.serialNumber ?? 'none' });
  server.addService(IpamService, { listAllocations: list });
  return { endpoint: await listenOnLoopback(server, credentials), [Symbol.dispose]: () => server.forceShutdown() };
}

const failure = (reply: Promise<unknown>): Promise<IpledgerError> =>
  reply.then(
    () => Promise.reject(new Error('the call succeeded')),
    (error: unknown) => error as IpledgerError,
  );

/** Returns the serial number of the server's certificate on a new connection. */
function serverSerial(endpoint: string, { current: { ca, cert, key } }: CertificateReloader): Promise<string> {
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

const clients = { 'grpc-js': connectWithGrpcJs, 'HTTP/2 alone': connectWithHttp2 };

for (const [client, connect] of Object.entries(clients))
  describe(`TLS with a client on ${client}`, () => {
    /** Returns the serial number of the caller's certificate. */
    async function readSerial(endpoint: string, tls: Tls, server?: ServerKind): Promise<string> {
      const connection = connect(endpoint, tls, server);
      try {
        return (await call(connection, IpamService.listAllocations, {}, { timeoutMs: 10_000 })).nextPageToken;
      } finally {
        connection.close();
      }
    }

    let folder: string;
    let authority: Authority;
    let stranger: Authority;

    const subject = (name: Name) => ({ name, commonName: name, alternativeNames: [`URI:${uris[name]}`] });
    const filesOf = async (name: Name, by = authority): Promise<TlsFiles> => ({
      ca: authority.cert,
      ...(await issueCertificate(by, subject(name))),
    });
    const open = async (name: Name): Promise<CertificateReloader> => loadTls(await filesOf(name));

    before(async () => {
      folder = mkdtempSync(join(tmpdir(), 'ipledger-tls-'));
      authority = await openAuthority(join(folder, 'ours'));
      stranger = await openAuthority(join(folder, 'theirs'), 'stranger');
    });
    after(() => rmSync(folder, { recursive: true }));

    it('TLS connects two certificates of one authority at any address of the server', async () => {
      using server = await serve(await open('server'));
      expect(await readSerial(server.endpoint, await open('client'))).to.match(/^[0-9A-F]+$/);
      const byName = server.endpoint.replace('127.0.0.1', 'localhost');
      expect(await readSerial(byName, await open('client'))).to.match(/^[0-9A-F]+$/);
    });

    it('TLS is off without certificate files', async () => {
      expect(fromEnvironment({ IPLEDGER_TLS_CA: '' })).to.equal(undefined);
      using server = await serve(undefined);
      expect(await readSerial(server.endpoint, undefined)).to.equal('none');
    });

    it('TLS fails if only some of the variables are set, or with invalid files', async () => {
      const { ca, cert, key } = await filesOf('client');
      expect(() => fromEnvironment({ IPLEDGER_TLS_CA: ca, IPLEDGER_TLS_CERT: cert })).to.throw(
        'IPLEDGER_TLS_CA, IPLEDGER_TLS_CERT and IPLEDGER_TLS_KEY: set all three for TLS, or none for plaintext',
      );
      const environment = { IPLEDGER_TLS_CA: ca, IPLEDGER_TLS_CERT: cert, IPLEDGER_TLS_KEY: '/nowhere' };
      expect(() => fromEnvironment(environment)).to.throw('cannot read /nowhere');
      expect(fromEnvironment({ ...environment, IPLEDGER_TLS_KEY: key })).to.be.instanceOf(CertificateReloader);
    });

    it('TLS fails with a certificate without an identity of ipledger', async () => {
      const pair = await issueCertificate(authority, {
        name: 'without-identity',
        commonName: 'without-identity',
        alternativeNames: ['DNS:localhost'],
      });
      expect(() => loadTls({ ca: authority.cert, ...pair })).to.throw(
        /without-identity\.crt: the certificate must name exactly one of .*; it has none$/,
      );
    });

    it('TLS rejects a client of another authority with the reason', async () => {
      using server = await serve(await open('server'));
      const files = await filesOf('client', stranger);
      const both = join(folder, 'both.crt');
      writeFileSync(both, readFileSync(authority.cert, 'utf8') + readFileSync(stranger.cert, 'utf8'));
      const error = await failure(readSerial(server.endpoint, loadTls({ ...files, ca: both })));
      expect(error.code).to.equal('UNAVAILABLE');
      expect(error.message).to.contain('it may not accept our certificate');
    });

    it('TLS rejects a server of another authority', async () => {
      using server = await serve(loadTls({ ...(await filesOf('server', stranger)), ca: stranger.cert }));
      const error = await failure(readSerial(server.endpoint, await open('client')));
      expect(error.message).to.contain('its certificate is of no authority that is trusted here');
    });

    it('TLS rejects a server of the same authority that is not an allocator', async () => {
      using server = await serve(await open('operator'));
      const error = await failure(readSerial(server.endpoint, await open('client')));
      expect(error.message).to.contain('the server is ipledger://operator/me, and not ipledger://allocator/<id>');
    });

    it('TLS connects a client of the read model only to the read model', async () => {
      using readModel = await serve(await open('read-model'));
      using allocator = await serve(await open('server'));
      expect(await readSerial(readModel.endpoint, await open('client'), 'read-model')).to.match(/^[0-9A-F]+$/);
      const error = await failure(readSerial(allocator.endpoint, await open('client'), 'read-model'));
      expect(error.message).to.contain('the server is ipledger://allocator/a, and not ipledger://read-model');
    });

    it('TLS reports to a plaintext client that the server may require TLS', async () => {
      using server = await serve(await open('server'));
      const error = await failure(readSerial(server.endpoint, undefined));
      expect(error.code).to.equal('UNAVAILABLE');
      expect(error.message).to.contain(
        'it may speak TLS only: set IPLEDGER_TLS_CA, IPLEDGER_TLS_CERT and IPLEDGER_TLS_KEY',
      );
    });

    it('TLS reports to a client that the server speaks plaintext', async () => {
      using server = await serve(undefined);
      const error = await failure(readSerial(server.endpoint, await open('client')));
      expect(error.message).to.contain('it speaks plaintext');
    });

    it('TLS reports to a client that the server’s certificate has expired', async () => {
      const { cert, key } = await issueCertificate(authority, { ...subject('server'), name: 'ended', days: -1 });
      const pair = { cert_chain: readFileSync(cert), private_key: readFileSync(key) };
      using server = await serve(undefined, ServerCredentials.createSsl(readFileSync(authority.cert), [pair], true));
      const error = await failure(readSerial(server.endpoint, await open('client')));
      expect(error.message).to.contain('its certificate has expired');
    });

    describe('with renewed certificates', () => {
      let files: Record<'server' | 'client', TlsFiles>;
      let tls: Record<'server' | 'client', CertificateReloader>;
      let served: Awaited<ReturnType<typeof serve>>;

      /** Server and client have separate folders and lists of authorities. */
      beforeEach(async () => {
        const own = async (name: 'server' | 'client'): Promise<TlsFiles> => {
          const home = mkdtempSync(join(folder, `${name}-`));
          const own = { ca: join(home, 'ca.crt'), cert: join(home, 'tls.crt'), key: join(home, 'tls.key') };
          writeFileSync(own.ca, readFileSync(authority.cert));
          await reissueCertificate(authority, subject(name), own);
          return own;
        };
        files = { server: await own('server'), client: await own('client') };
        tls = {
          server: new CertificateReloader(files.server, { pollIntervalMs: lookMs }),
          client: new CertificateReloader(files.client, { pollIntervalMs: lookMs }),
        };
        served = await serve(tls.server);
      });
      afterEach(() => served[Symbol.dispose]());

      const both = ['server', 'client'] as const;
      const isInstalled = (name: 'server' | 'client'): boolean =>
        (['ca', 'cert', 'key'] as const).every((part) =>
          tls[name].current[part].equals(readFileSync(files[name][part])),
        );

      /**
       * Sends calls continuously while `work` runs: on an open connection, and on a new connection
       * for each call.
       */
      async function underLoad(work: () => Promise<void>): Promise<{ answered: number; failed: string[] }> {
        const result = { answered: 0, failed: [] as string[] };
        const done = new AbortController();
        const openConnection = connect(served.endpoint, tls.client);
        const repeat = async (once: () => Promise<unknown>): Promise<void> => {
          while (!done.signal.aborted)
            await once().then(
              () => result.answered++,
              (error: unknown) => result.failed.push(String(error)),
            );
        };
        const onOpenConnection = () => call(openConnection, IpamService.listAllocations, {}, { timeoutMs: 10_000 });
        const onNewConnection = () => readSerial(served.endpoint, tls.client);
        const loops = [onOpenConnection, onOpenConnection, onNewConnection, onNewConnection].map(repeat);
        try {
          await work();
        } finally {
          done.abort();
          await Promise.all(loops);
          openConnection.close();
        }
        return result;
      }

      /** Checks that new connections use the certificates of the files. */
      async function expectInUse(): Promise<void> {
        const serial = new X509Certificate(readFileSync(files.client.cert)).serialNumber;
        expect(await readSerial(served.endpoint, tls.client)).to.equal(serial);
        expect(await serverSerial(served.endpoint, tls.client)).to.equal(
          new X509Certificate(readFileSync(files.server.cert)).serialNumber,
        );
      }

      it('The renewal of certificates loses no call when the files are replaced one after the other', async () => {
        const { answered, failed } = await underLoad(async () => {
          for (const name of [...both, ...both]) {
            await reissueCertificate(authority, subject(name), files[name]);
            await until(() => isInstalled(name));
          }
        });
        expect(failed).to.deep.equal([]);
        expect(answered).to.be.above(0);
        await expectInUse();
      });

      it('The renewal of certificates loses no call when the files are overwritten byte by byte', async () => {
        const { failed } = await underLoad(async () => {
          for (const name of both) {
            const draft = { ...files[name], cert: `${files[name].cert}.draft`, key: `${files[name].key}.draft` };
            await reissueCertificate(authority, subject(name), draft);
            for (const part of ['cert', 'key'] as const) {
              const bytes = readFileSync(draft[part]);
              for (let length = 0; length <= bytes.length; length += 50) {
                writeFileSync(files[name][part], bytes.subarray(0, length));
                await sleep(lookMs / 2);
              }
              writeFileSync(files[name][part], bytes);
            }
            await until(() => isInstalled(name));
          }
        });
        expect(failed).to.deep.equal([]);
        await expectInUse();
      });

      it('The renewal of certificates loses no call when the authority is rotated', async () => {
        const next = await openAuthority(mkdtempSync(join(folder, 'next-')), 'next');
        const trust = async (...authorities: readonly Authority[]): Promise<void> => {
          for (const name of both) {
            writeFileSync(`${files[name].ca}.new`, authorities.map(({ cert }) => readFileSync(cert, 'utf8')).join(''));
            renameSync(`${files[name].ca}.new`, files[name].ca);
          }
          await until(() => both.every(isInstalled));
        };
        const { failed } = await underLoad(async () => {
          await trust(authority, next);
          for (const name of both) {
            await reissueCertificate(next, subject(name), files[name]);
            await until(() => isInstalled(name));
          }
          await trust(next);
        });
        expect(failed).to.deep.equal([]);
        await expectInUse();
        expect((await failure(readSerial(served.endpoint, await open('client')))).message).to.contain(
          'of no authority',
        );
      });
    });
  });

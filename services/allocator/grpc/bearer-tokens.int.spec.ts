/**
 * Attacks on a server that accepts both tokens and certificates, over real TLS connections. The
 * token reviews are faked.
 */
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { connect as connectToHttp2 } from 'node:http2';
import { join } from 'node:path';
import { connect as connectToTls, type TLSSocket } from 'node:tls';
import { ChannelCredentials, Client, Metadata, type Server, status } from '@grpc/grpc-js';
import { expect } from 'chai';
import { HealthImplementation } from 'grpc-health-check';
import { failureOf, silentLog } from '../../../ledger/log/testing/running-writer.ts';
import { IpledgerError } from '../../../lib/errors.ts';
import { call, connect, Connection, createChannel } from '../../../lib/grpc/client.ts';
import { onBehalfOfKey } from '../../../lib/grpc/server/authorization.ts';
import { createServer } from '../../../lib/grpc/server/create-server.ts';
import { listenOnLoopback } from '../../../lib/grpc/testing/grpc-test-server.ts';
import { addReflection } from '../../../lib/grpc/server/reflection.ts';
import {
  type ClientTls,
  loadTls,
  serverCredentials,
  type Tls,
  tokenTlsFromEnvironment,
} from '../../../lib/tls/credentials.ts';
import { CertificateReloader } from '../../../lib/tls/certificate-reloader.ts';
import { parseIdentity } from '../../../lib/tls/identity.ts';
import type { Method } from '../../../proto/codec.ts';
import { IpamService, LedgerService, SubnetsService } from '../../../proto/generated/ipledger.ts';
import {
  type Authority,
  issueCertificate,
  openAuthority,
} from '../../../test/harness/certificates/certificate-authority.ts';
import { addServices } from '../api-server.ts';
import {
  applyMacvlan,
  allocateRequest,
  sandboxOf,
  type ServedAllocator,
  serveAllocator,
} from './testing/served-allocator.ts';

const timeoutMs = 20_000;
const bindOn = (node: string) => ({ ...sandboxOf('pod'), node, bootId: 'boot-1' });

describe('A server that accepts tokens', () => {
  let folder: string;
  let authority: Authority;
  let strangers: Authority;
  let served: ServedAllocator;
  /** Starts a server with this certificate. Returns its endpoint. */
  let serve: (tls: Tls) => Promise<string>;
  let ownEndpoint: string;
  let endpoint: string;
  /** The tokens that were reviewed. */
  let reviewed: string[];
  let isDown: boolean;
  const servers: Server[] = [];
  const opened: { close(): void }[] = [];

  const certificate = async (uri: string, by = authority): Promise<{ cert: string; key: string }> =>
    issueCertificate(by, { name: uri.replaceAll(/\W+/g, '-'), commonName: 'x', alternativeNames: [`URI:${uri}`] });
  const identified = async (uri: string): Promise<Tls> => loadTls({ ca: authority.cert, ...(await certificate(uri)) });
  const open = (tls: ClientTls): Connection => {
    const made = connect(endpoint, tls);
    opened.push(made);
    return made;
  };
  const withToken = (token: string, ca = authority.cert): Connection => {
    const file = join(folder, `token-${token}`);
    writeFileSync(file, token);
    return open(tokenTlsFromEnvironment({ IPLEDGER_TLS_CA: ca }, file, undefined));
  };
  /** Connects without the checks of our clients: any metadata, and any certificate or none. */
  const rawClient = (pair?: { cert: string; key: string }): Connection => {
    const [ca, key, cert] = [authority.cert, pair?.key, pair?.cert].map((file) => file && readFileSync(file));
    const unchecked = { checkServerIdentity: () => undefined };
    const credentials = ChannelCredentials.createSsl(
      ca as Buffer,
      (key as Buffer) || null,
      (cert as Buffer) || null,
      unchecked,
    );
    const client = new Client(endpoint, credentials, { 'grpc.ssl_target_name_override': 'allocator' });
    const made = new Connection([createChannel(client)], true, 'allocator');
    opened.push(made);
    return made;
  };
  const codeOf = async (
    connection: Connection,
    method: Method<never, never, 'unary'>,
    request: object,
    metadata?: Metadata,
  ) => (await failureOf(call(connection, method, request as never, { timeoutMs, metadata }))).code;
  const bind = IpamService.bind as unknown as Method<never, never, 'unary'>;
  const listSubnets = SubnetsService.listSubnets as unknown as Method<never, never, 'unary'>;
  const authorization = (...values: string[]): Metadata => {
    const metadata = new Metadata();
    for (const value of values) metadata.add('authorization', value);
    return metadata;
  };

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ipledger-tokens-'));
    authority = await openAuthority(join(folder, 'ours'));
    strangers = await openAuthority(join(folder, 'theirs'), 'strangers');
    served = await serveAllocator();
    await applyMacvlan(served);
    const authenticate = (token: string) => {
      reviewed.push(token);
      const identity = parseIdentity(`ipledger://agent/${token.replace('.of.agent', '')}`);
      if (isDown) return Promise.reject(new IpledgerError('UNAVAILABLE', 'the API server is down'));
      if (token.endsWith('.of.agent') && identity) return Promise.resolve(identity);
      return Promise.reject(new IpledgerError('UNAUTHENTICATED', 'the token is rejected'));
    };
    serve = (tls) => {
      const server = createServer({ tls, tokens: { authenticate }, log: silentLog });
      addServices(server, served.allocator, { log: silentLog });
      new HealthImplementation({ '': 'SERVING' }).addToServer(server);
      addReflection(server);
      servers.push(server);
      return listenOnLoopback(server, serverCredentials(tls, { acceptTokens: true }));
    };
    ownEndpoint = await serve(await identified('ipledger://allocator/self'));
  });
  beforeEach(() => {
    endpoint = ownEndpoint;
    reviewed = [];
    isDown = false;
  });
  afterEach(() => {
    for (const one of opened.splice(0)) one.close();
  });
  after(async () => {
    for (const server of servers) server.forceShutdown();
    await served[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
  });

  it('A server that accepts tokens binds a Pod for the agent of its node, and the event names the agent', async () => {
    await call(
      open(await identified('ipledger://watcher')),
      IpamService.allocate,
      allocateRequest('pod', {}, { node: 'node-1' }),
      { timeoutMs },
    );
    const { allocation } = await call(withToken('node-1.of.agent'), IpamService.bind, bindOn('node-1'), { timeoutMs });
    expect(allocation?.bindings.map(({ node }) => node)).to.deep.equal(['node-1']);
    const { events } = await served.call(LedgerService.history, { namespace: 'default', pod: 'pod' });
    expect(events.map(({ type, actor }) => `${type} by ${actor}`)).to.include(
      'AddressBound by ipledger://agent/node-1',
    );
  });

  it('A server that accepts tokens rejects the agent of node A that names node B', async () => {
    expect(await codeOf(withToken('node-1.of.agent'), bind, bindOn('node-2'))).to.equal('PERMISSION_DENIED');
  });

  it('A server that accepts tokens rejects an agent that calls what only an operator may', async () => {
    expect(await codeOf(withToken('node-1.of.agent'), listSubnets, {})).to.equal('PERMISSION_DENIED');
  });

  it('A server that accepts tokens rejects an agent that forwards for another identity', async () => {
    const metadata = new Metadata();
    metadata.set(onBehalfOfKey, 'ipledger://operator/me');
    expect(await codeOf(withToken('node-1.of.agent'), listSubnets, {}, metadata)).to.equal('PERMISSION_DENIED');
  });

  it('A server that accepts tokens rejects a client without certificate and token, before any review', async () => {
    expect(await codeOf(rawClient(), listSubnets, {})).to.equal('UNAUTHENTICATED');
    expect(reviewed).to.deep.equal([]);
  });

  it('A server that accepts tokens rejects a certificate of an unknown authority that names an operator', async () => {
    const forged = rawClient(await certificate('ipledger://operator/forged', strangers));
    expect(await codeOf(forged, listSubnets, {})).to.equal('UNAUTHENTICATED');
    const metadata = new Metadata();
    metadata.set(onBehalfOfKey, 'ipledger://operator/me');
    const asAllocator = rawClient(await certificate('ipledger://allocator/forged', strangers));
    expect(await codeOf(asAllocator, listSubnets, {}, metadata)).to.equal('UNAUTHENTICATED');
  });

  it("A server that accepts tokens accepts a client whose authority became trusted after the client's first connection", async () => {
    const trusted = join(folder, 'trusted.crt');
    copyFileSync(authority.cert, trusted);
    const files = { ca: trusted, ...(await certificate('ipledger://allocator/renewed')) };
    const reloader = new CertificateReloader(files, { pollIntervalMs: 10 });
    endpoint = await serve(reloader);
    const client = rawClient(await certificate('ipledger://viewer', strangers));
    const first = await failureOf(call(client, SubnetsService.listSubnets, {}, { timeoutMs }));
    expect(first.message).to.match(/^the client's certificate is not accepted \(.*\): issue it by an authority in/);

    const both = readFileSync(authority.cert, 'utf8') + readFileSync(strangers.cert, 'utf8');
    const installed = new Promise<void>((resolve) => {
      const onUpdate = (): void => void (reloader.current.ca.toString() === both && resolve());
      reloader.addCaCertificateListener(onUpdate);
    });
    writeFileSync(trusted, both);
    await installed;
    expect(await call(client, SubnetsService.listSubnets, {}, { timeoutMs })).to.have.property('subnets');
  });

  it('A server that accepts tokens rejects a resumed TLS session that began with a certificate of an unknown authority, or without a certificate', async () => {
    const forged = await certificate('ipledger://operator/forged', strangers);
    const keys = { cert: readFileSync(forged.cert), key: readFileSync(forged.key) };
    for (const identification of [keys, {}]) {
      const [host = '', port] = endpoint.split(':');
      const connectTls = (session?: Buffer): TLSSocket => {
        const verification = { ca: readFileSync(authority.cert), checkServerIdentity: () => undefined };
        const options = { host, port: Number(port), ALPNProtocols: ['h2'], ...verification, ...identification };
        const socket = connectToTls({ ...options, ...(session && { session }) });
        opened.push({ close: () => socket.destroy() });
        return socket;
      };
      const first = connectTls();
      const session = await new Promise<Buffer>((resolve) => first.once('session', resolve).resume());
      const resumed = connectTls(session);
      await once(resumed, 'secureConnect');
      expect(resumed.isSessionReused()).to.be.true;
      const http2 = connectToHttp2('https://allocator', { createConnection: () => resumed });
      const sent = http2.request({ ':method': 'POST', ':path': listSubnets.path, 'content-type': 'application/grpc' });
      sent.end(Buffer.alloc(5));
      const [headers] = (await once(sent, 'response')) as [Record<string, string>];
      expect(headers['grpc-status']).to.equal(String(status.UNAUTHENTICATED));
      http2.destroy();
    }
  });

  it('A server that accepts tokens rejects a trusted certificate without an identity, even with a valid token', async () => {
    const pair = await issueCertificate(authority, {
      name: 'without-identity',
      commonName: 'x',
      alternativeNames: ['DNS:x'],
    });
    expect(await codeOf(rawClient(pair), bind, bindOn('node-1'), authorization('Bearer node-1.of.agent'))).to.equal(
      'UNAUTHENTICATED',
    );
    expect(reviewed).to.deep.equal([]);
  });

  it('A server that accepts tokens ignores the token of a client with a certificate', async () => {
    const viewer = rawClient(await certificate('ipledger://viewer'));
    expect(await codeOf(viewer, bind, bindOn('node-1'), authorization('Bearer node-1.of.agent'))).to.equal(
      'PERMISSION_DENIED',
    );
    expect(reviewed).to.deep.equal([]);
  });

  for (const [what, values] of [
    ['two tokens', ['Bearer node-1.of.agent, Bearer node-2.of.agent']],
    ['a token of 8,193 bytes', [`Bearer a.b.${'c'.repeat(8_189)}`]],
    ['a token with a space', ['Bearer node-1.of.agent x']],
    ['another scheme', ['Basic node-1.of.agent']],
    ['an empty token', ['Bearer ']],
  ] as const)
    it(`A server that accepts tokens rejects ${what}, before any review`, async () => {
      expect(await codeOf(rawClient(), bind, bindOn('node-1'), authorization(...values))).to.equal('UNAUTHENTICATED');
      expect(reviewed).to.deep.equal([]);
    });

  it('A server that accepts tokens rejects an invalid token with UNAUTHENTICATED, even on health and reflection', async () => {
    const client = rawClient();
    for (const path of ['/grpc.health.v1.Health/Check', '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo']) {
      const same = (bytes: unknown): Buffer => bytes as Buffer;
      const method = { ...bind, path, requestSerialize: same, responseDeserialize: same } as unknown as typeof bind;
      expect(await codeOf(client, method, Buffer.alloc(0), authorization('Bearer not.a.valid')), path).to.equal(
        'UNAUTHENTICATED',
      );
    }
  });

  it('A server that accepts tokens answers UNAVAILABLE while tokens cannot be verified, so that an ADD is retried', async () => {
    isDown = true;
    const error = await failureOf(
      call(withToken('node-1.of.agent'), IpamService.bind, bindOn('node-1'), { timeoutMs }),
    );
    expect(error).to.include({ code: 'UNAVAILABLE', kind: 'transient' });
  });

  it('a server gets no token from an agent that does not trust its certificate', async () => {
    const error = await failureOf(
      call(withToken('node-1.of.agent', strangers.cert), IpamService.bind, bindOn('node-1'), { timeoutMs }),
    );
    expect(error.message).to.contain('its certificate is of no authority that is trusted here');
    expect(reviewed).to.deep.equal([]);
  });

  it('a server that is not an allocator gets no token from an agent', async () => {
    const token = tokenTlsFromEnvironment(
      { IPLEDGER_TLS_CA: authority.cert },
      join(folder, 'token-node-1.of.agent'),
      undefined,
    );
    const connection = connect(endpoint, token, 'read-model');
    opened.push(connection);
    const error = await failureOf(call(connection, IpamService.bind, bindOn('node-1'), { timeoutMs }));
    expect(error.message).to.contain('the server is ipledger://allocator/self, and not ipledger://read-model');
    expect(reviewed).to.deep.equal([]);
  });
});

describe('An agent with a token', () => {
  it('An agent with a token does not start without authorities, so it never sends the token in plaintext', () => {
    expect(() => tokenTlsFromEnvironment({}, '/token', undefined)).to.throw('--token-file needs IPLEDGER_TLS_CA');
  });

  it('An agent with a token does not start with a certificate as a second identity', () => {
    const variables = { IPLEDGER_TLS_CA: '/ca', IPLEDGER_TLS_CERT: '/cert', IPLEDGER_TLS_KEY: '/key' };
    expect(() => tokenTlsFromEnvironment(variables, '/token', undefined)).to.throw('are two identities');
  });
});

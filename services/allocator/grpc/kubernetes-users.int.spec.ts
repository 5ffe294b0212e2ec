/**
 * Attacks on a server that accepts Kubernetes users, over real TLS connections. The reviews are
 * faked.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Metadata, type Server } from '@grpc/grpc-js';
import { expect } from 'chai';
import { failureOf, never, silentLog } from '../../../ledger/log/testing/running-writer.ts';
import { IpledgerError } from '../../../lib/errors.ts';
import { call, connect, type Connection, stream } from '../../../lib/grpc/client.ts';
import { onBehalfOfKey } from '../../../lib/grpc/server/authorization.ts';
import { createServer } from '../../../lib/grpc/server/create-server.ts';
import { listenOnLoopback } from '../../../lib/grpc/testing/grpc-test-server.ts';
import { AuthorityReloader } from '../../../lib/tls/authority-reloader.ts';
import { type ClientTls, loadTls, serverCredentials, type Tls } from '../../../lib/tls/credentials.ts';
import { kubernetesIdentity, type KubernetesUser } from '../../../lib/tls/kubernetes-user.ts';
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
type AnyMethod = Method<never, never, 'unary'>;
const [reserve, bind, listSubnets] = [IpamService.reserve, IpamService.bind, SubnetsService.listSubnets].map(
  (method) => method as unknown as AnyMethod,
) as [AnyMethod, AnyMethod, AnyMethod];

describe('A server that accepts Kubernetes users', () => {
  let folder: string;
  let authority: Authority;
  let served: ServedAllocator;
  let endpoint: string;
  let server: Server;
  /** The user and path of each reviewed call. */
  let reviewed: string[];
  /**
   * Users with an expired token, users without permission, and users that the API server does not
   * answer for.
   */
  const [expired, denied, unreachable] = [new Set<string>(), new Set<string>(), new Set<string>()];
  const opened: { close(): void }[] = [];

  const identified = async (uri: string): Promise<NonNullable<Tls>> => {
    const names = { name: uri.replaceAll(/\W+/g, '-'), commonName: 'x', alternativeNames: [`URI:${uri}`] };
    return loadTls({ ca: authority.cert, ...(await issueCertificate(authority, names)) });
  };
  const open = (tls: ClientTls): Connection => {
    const made = connect(endpoint, tls);
    opened.push(made);
    return made;
  };
  /** Connects a user with a token, which contains the user name. */
  const withToken = (username: string): Connection => {
    const token = { read: () => Promise.resolve(Buffer.from(username).toString('base64')) };
    return open({ authorities: new AuthorityReloader(authority.cert), token });
  };
  const watchAs = (username: string) =>
    stream(withToken(username), LedgerService.watch, { fromSeq: 1 }, { silenceMs: timeoutMs, signal: never });
  const codeOf = async (connection: Connection, method: AnyMethod, request: object, actor?: string) => {
    const metadata = new Metadata();
    if (actor !== undefined) metadata.set(onBehalfOfKey, actor);
    return (await failureOf(call(connection, method, request as never, { timeoutMs, metadata }))).code;
  };
  const actorsOf = async (type: string): Promise<string[]> => {
    const { events } = await served.call(LedgerService.history, { subnet: 'macvlan' });
    return events.flatMap((event) => (event.type === type ? [event.actor] : []));
  };

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ipledger-users-'));
    authority = await openAuthority(folder);
    served = await serveAllocator();
    await applyMacvlan(served);
    const authenticate = (token: string): Promise<KubernetesUser> => {
      const username = Buffer.from(token, 'base64').toString();
      const identity = kubernetesIdentity(username);
      if (!identity || username === 'stranger' || expired.has(username))
        return Promise.reject(new IpledgerError('UNAUTHENTICATED', 'the token is rejected'));
      return Promise.resolve({ ...identity, kind: 'kubernetes-user', username, uid: '', groups: [], extra: {} });
    };
    const authorize = ({ username }: KubernetesUser, path: string): Promise<void> => {
      reviewed.push(`${username} ${path}`);
      if (unreachable.has(username))
        return Promise.reject(new IpledgerError('UNAVAILABLE', 'the API server does not answer'));
      if (denied.has(username)) return Promise.reject(new IpledgerError('PERMISSION_DENIED', 'no rule'));
      return /^(alice|ipledger)/.test(username)
        ? Promise.resolve()
        : Promise.reject(new IpledgerError('PERMISSION_DENIED', 'no rule'));
    };
    const tls = await identified('ipledger://allocator/self');
    server = createServer({ tls, tokens: { authenticate, authorize }, log: silentLog });
    addServices(server, served.allocator, { log: silentLog });
    const credentials = serverCredentials(tls, { acceptTokens: true });
    endpoint = await listenOnLoopback(server, credentials);
  });
  beforeEach(() => {
    reviewed = [];
    for (const each of [expired, denied, unreachable]) each.clear();
  });
  afterEach(() => {
    for (const one of opened.splice(0)) one.close();
  });
  after(async () => {
    server.forceShutdown();
    await served[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
  });

  const reservation = (address: string) => ({ subnet: 'macvlan', addresses: [address], reservedFor: 'a reason' });

  it('A server that accepts Kubernetes users executes what the review permits, and the event names the user', async () => {
    const alice = withToken('alice@example.org');
    await call(alice, IpamService.reserve, reservation('172.17.0.200'), { timeoutMs });
    expect(await actorsOf('AddressReserved')).to.deep.equal(['kubernetes:alice@example.org']);
    expect(reviewed).to.deep.equal(['alice@example.org /ipledger.v1.Ipam/Reserve']);
  });

  it('A server that accepts Kubernetes users rejects what the review denies, and a token that the API server rejects', async () => {
    expect(await codeOf(withToken('bob'), reserve, reservation('172.17.0.201'))).to.equal('PERMISSION_DENIED');
    expect(await codeOf(withToken('stranger'), reserve, reservation('172.17.0.201'))).to.equal('UNAUTHENTICATED');
  });

  for (const [what, code, reject] of [
    ['the token', 'UNAUTHENTICATED', () => void expired.add('alice')],
    ['the permission', 'PERMISSION_DENIED', () => void denied.add('alice')],
  ] as const)
    it(`A server that accepts Kubernetes users verifies the caller again before each reply of Watch, and ends Watch when ${what} is rejected`, async () => {
      const watching = watchAs('alice');
      await watching.next();
      await watching.next();
      expect(reviewed).to.deep.equal([`alice ${LedgerService.watch.path}`, `alice ${LedgerService.watch.path}`]);
      reject();
      await served.call(IpamService.allocate, allocateRequest(`unseen-${code.toLowerCase().replace('_', '-')}`));
      expect((await failureOf(watching.next())).code).to.equal(code);
    });

  it('A server that accepts Kubernetes users continues Watch while the API server does not answer', async () => {
    const watching = watchAs('alice');
    await watching.next();
    await watching.next();
    unreachable.add('alice');
    await served.call(IpamService.allocate, allocateRequest('seen'));
    const next = await watching.next();
    expect(next.done).to.equal(false);
    await watching.return(undefined);
  });

  it('A server that accepts Kubernetes users rejects a binding by a user, before any review', async () => {
    const request = { ...sandboxOf('pod'), node: 'node-1', bootId: 'boot-1' };
    expect(await codeOf(withToken('alice'), bind, request)).to.equal('PERMISSION_DENIED');
    expect(reviewed).to.deep.equal([]);
  });

  it('A server that accepts Kubernetes users rejects a user that forwards for another user, an operator or itself', async () => {
    for (const actor of ['kubernetes:root', 'ipledger://operator/me', 'kubernetes:alice'])
      expect(await codeOf(withToken('alice'), listSubnets, {}, actor)).to.equal('PERMISSION_DENIED');
    expect(reviewed).to.deep.equal([]);
  });

  it('A server that accepts Kubernetes users executes a call that an allocator forwards for a user, without a second review', async () => {
    const metadata = new Metadata();
    metadata.set(onBehalfOfKey, 'kubernetes:alice@example.org');
    const allocator = open(await identified('ipledger://allocator/standby'));
    await call(allocator, IpamService.reserve, reservation('172.17.0.202'), { timeoutMs, metadata });
    expect(await actorsOf('AddressReserved')).to.include('kubernetes:alice@example.org');
    expect(reviewed).to.deep.equal([]);
    const request = { ...sandboxOf('pod'), node: 'node-1', bootId: 'boot-1' };
    expect(await codeOf(allocator, bind, request, 'kubernetes:alice')).to.equal('PERMISSION_DENIED');
    expect(await codeOf(allocator, listSubnets, {}, 'kubernetes:a b')).to.equal('PERMISSION_DENIED');
  });

  for (const uri of [
    'ipledger://watcher',
    'ipledger://operator/me',
    'ipledger://viewer',
    'ipledger://agent/node-1',
    'ipledger://read-model',
  ])
    it(`A server that accepts Kubernetes users rejects a forwarded user from ${uri}`, async () => {
      expect(await codeOf(open(await identified(uri)), listSubnets, {}, 'kubernetes:alice')).to.equal(
        'PERMISSION_DENIED',
      );
    });

  it('A server that accepts Kubernetes users does not read the token of a client with a certificate', async () => {
    const tls = await identified('ipledger://viewer');
    const metadata = new Metadata();
    metadata.set('authorization', `Bearer ${Buffer.from('alice').toString('base64')}`);
    const sent = call(open(tls), IpamService.reserve, reservation('172.17.0.203'), { timeoutMs, metadata });
    expect((await failureOf(sent)).code).to.equal('PERMISSION_DENIED');
    expect(reviewed).to.deep.equal([]);
  });

  it('a user whose name equals the identity of a program is recorded as a user', async () => {
    await call(withToken('ipledger://watcher'), IpamService.reserve, reservation('172.17.0.204'), { timeoutMs });
    expect(await actorsOf('AddressReserved')).to.include('kubernetes:ipledger://watcher');
    const request = { ...allocateRequest('pod'), import: true };
    expect(await codeOf(withToken('bob'), IpamService.allocate as unknown as AnyMethod, request)).to.equal(
      'PERMISSION_DENIED',
    );
  });
});

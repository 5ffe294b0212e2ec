/**
 * A console on a real allocator and a real read model, over real connections. The ledger is in
 * memory, and the reviews of Kubernetes are a fake: a token is the base64 of the user's name.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Server } from '@grpc/grpc-js';
import { silentLog } from '../../../ledger/log/testing/running-writer.ts';
import { IpledgerError } from '../../../lib/errors.ts';
import { stream } from '../../../lib/grpc/client.ts';
import type { TokenAccess } from '../../../lib/grpc/server/authorization.ts';
import { createServer } from '../../../lib/grpc/server/create-server.ts';
import { addGrpcService } from '../../../lib/grpc/server/serve.ts';
import { listenOnLoopback } from '../../../lib/grpc/testing/grpc-test-server.ts';
import { loadTls, serverCredentials, type Tls } from '../../../lib/tls/credentials.ts';
import { kubernetesIdentity } from '../../../lib/tls/kubernetes-user.ts';
import { IpamService, LedgerService, ViewsService } from '../../../proto/generated/ipledger.ts';
import { addServices } from '../../../services/allocator/api-server.ts';
import { type ServedAllocator, serveAllocator } from '../../../services/allocator/grpc/testing/served-allocator.ts';
import type { ConsoleOptions } from '../../../services/console/options.ts';
import { startConsole } from '../../../services/console/wiring.ts';
import { ledgerHandlers, shareCalls } from '../../../services/read-model/ledger-service.ts';
import { ReadModel } from '../../../services/read-model/read-model.ts';
import { storeEvents } from '../../../services/read-model/store-events.ts';
import { viewsHandlers } from '../../../services/read-model/views-service.ts';
import { watchWithBytes } from '../../../services/read-model/watch-replies.ts';
import { issueCertificate, openAuthority } from '../../harness/certificates/certificate-authority.ts';

/** The token of a user of this fixture. */
export const tokenOf = (user: string): string => Buffer.from(user).toString('base64').replace(/=+$/, '');

export interface ServedConsole extends AsyncDisposable {
  /** The console, "http://127.0.0.1:port" or https. */
  readonly url: string;
  readonly served: ServedAllocator;
  readonly model: ReadModel;
  /** The calls that the servers received, each as "server method". */
  readonly calls: string[];
  /** Users whose token is rejected, and users without permission. */
  readonly rejected: Set<string>;
  readonly denied: Set<string>;
  /** The file of the authority, for browsers. */
  readonly authority: Buffer | undefined;
  /** Resolves when the read model has the newest event. */
  caughtUp(): Promise<void>;
}

/** Starts the console: with sign-in and TLS, or open. */
export async function serveConsole({ isOpen = false } = {}): Promise<ServedConsole> {
  const folder = mkdtempSync(join(tmpdir(), 'ipledger-console-'));
  const served = await serveAllocator();
  const ending = new AbortController();
  const calls: string[] = [];
  const [rejected, denied] = [new Set<string>(), new Set<string>()];
  const certificates = isOpen ? undefined : await issueAll(folder);
  const open = async (name: string, add: (server: Server) => void, tokens?: TokenAccess) => {
    const tls = certificates?.servers[name];
    const server = createServer({
      tls,
      tokens,
      refuseCaller: (_caller, path) => void calls.push(`${name} ${path}`),
      log: silentLog,
    });
    add(server);
    const endpoint = await listenOnLoopback(server, serverCredentials(tls, { acceptTokens: tokens !== undefined }));
    return { server, endpoint };
  };
  const allocator = await open(
    'allocator',
    (server) => addServices(server, served.allocator, { log: silentLog }),
    isOpen ? undefined : reviews(rejected, denied),
  );
  const model = new ReadModel(join(folder, 'read-model.sqlite'));
  const following = storeEvents({
    model,
    firstEvent: () => Promise.resolve(1),
    readState: () => Promise.reject(new Error('the ledger has all events')),
    watch: (fromSeq, signal) => stream(served.client, watchWithBytes, { fromSeq }, { silenceMs: 20_000, signal }),
    log: silentLog,
    signal: ending.signal,
  });
  const readHead = async () => {
    const { position } = await served.call(LedgerService.getStatus, {});
    if (!position) throw new Error('no position');
    return position;
  };
  const listPodAllocations = async (pod: { readonly namespace: string; readonly pod: string }) => {
    const { allocations, position } = await served.call(IpamService.listAllocations, pod);
    if (!position) throw new Error('no position');
    return { allocations, position };
  };
  const readModel = await open('read-model', (server) => {
    const queries = { readHead: shareCalls(readHead), listPodAllocations, maxWaitMs: 10_000 };
    addGrpcService(server, LedgerService, ledgerHandlers(model, queries), { log: silentLog });
    addGrpcService(server, ViewsService, viewsHandlers(model), { log: silentLog });
  });
  const stops: (() => Promise<void> | void)[] = [];
  const life = {
    signal: ending.signal,
    onStop: (stop: () => Promise<void> | void) => void stops.push(stop),
    fail: (error: unknown) => {
      throw error;
    },
  };
  const options = consoleOptions(folder, {
    allocator: allocator.endpoint,
    readModel: readModel.endpoint,
    open: isOpen,
  });
  const address = await startConsole({ options, env: certificates?.env ?? {}, log: silentLog }, life);
  const waitUntilFollowing = async (): Promise<void> => {
    await model.caughtUp(ending.signal);
    await model.waitForSeq(served.replica.head.seq, ending.signal);
  };
  await waitUntilFollowing();
  return {
    url: `${isOpen ? 'http' : 'https'}://${address}`,
    served,
    model,
    calls,
    rejected,
    denied,
    authority: certificates?.authority,
    caughtUp: waitUntilFollowing,
    async [Symbol.asyncDispose]() {
      ending.abort(new IpledgerError('UNAVAILABLE', 'the console stops'));
      for (const stop of stops.reverse()) await stop();
      await following;
      allocator.server.forceShutdown();
      readModel.server.forceShutdown();
      model.close();
      await served[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true });
    },
  };
}

const page = '<!doctype html><title>ipledger</title><script type="module" src="/app.js"></script>';

function consoleOptions(
  folder: string,
  given: Pick<ConsoleOptions, 'allocator' | 'readModel' | 'open'>,
): ConsoleOptions {
  const web = join(folder, 'web');
  mkdirSync(web);
  writeFileSync(join(web, 'index.html'), page);
  writeFileSync(join(web, 'app.js'), 'console.log(1);\n');
  const runbooks = join(import.meta.dirname, '../../../docs/runbooks.md');
  return { ...given, listen: '127.0.0.1:0', web, runbooks, healthListen: '' };
}

/** Certificates of the allocator, the read model, and the console as a viewer. */
async function issueAll(folder: string) {
  const authority = await openAuthority(folder);
  const issue = async (name: string, uri: string) => {
    const names = { name, commonName: 'x', alternativeNames: [`URI:${uri}`, 'IP:127.0.0.1', 'DNS:localhost'] };
    return { ca: authority.cert, ...(await issueCertificate(authority, names)) };
  };
  const viewer = await issue('console', 'ipledger://viewer');
  const servers: Readonly<Record<string, Tls>> = {
    allocator: loadTls(await issue('allocator', 'ipledger://allocator/self')),
    'read-model': loadTls(await issue('read-model', 'ipledger://read-model')),
  };
  const env = { IPLEDGER_TLS_CA: viewer.ca, IPLEDGER_TLS_CERT: viewer.cert, IPLEDGER_TLS_KEY: viewer.key };
  return { servers, env, authority: readFileSync(viewer.ca) };
}

/**
 * Reviews tokens. Users whose name begins with "alice" may do everything; others may read,
 * "without-Watch" all but Watch.
 */
function reviews(rejected: ReadonlySet<string>, denied: ReadonlySet<string>): TokenAccess {
  return {
    authenticate: async (token) => {
      const username = Buffer.from(token, 'base64').toString();
      const identity = kubernetesIdentity(username);
      if (!identity || username === 'stranger' || rejected.has(username))
        throw new IpledgerError('UNAUTHENTICATED', 'the token is rejected');
      return { ...identity, kind: 'kubernetes-user', username, uid: '', groups: [], extra: {} };
    },
    authorize: async ({ username }, path) => {
      const isRead = /\/(GetStatus|NextAllocations|GetAddress|ListAllocations|ListSubnets|ListPools|Watch)$/.test(path);
      const isWithout = path.endsWith(`/${username.split('without-')[1] ?? '-'}`);
      if (denied.has(username) || isWithout || !(username.startsWith('alice') || isRead))
        throw new IpledgerError('PERMISSION_DENIED', `${username} may not call ${path}`);
    },
  };
}

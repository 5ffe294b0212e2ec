/** Connects the parts of the console. */
import { startHealthServer } from '../../lib/process/health-server.ts';
import type { Lifecycle } from '../../lib/process/lifecycle.ts';
import type { Logger } from '../../lib/process/log.ts';
import { connect } from '../../lib/grpc/client.ts';
import { connect as connectLightly } from '../../lib/grpc/http2/connect.ts';
import { isInsecure, isLoopback } from '../../lib/grpc/server/insecure.ts';
import { createLedgerClient } from '../../lib/ledger-client/ledger-client.ts';
import { AuthorityReloader } from '../../lib/tls/authority-reloader.ts';
import { type Tls, tlsFromEnvironment } from '../../lib/tls/client-tls.ts';
import { createApi } from './http/api.ts';
import { closeConsoleServer, createConsoleServer, listenOn } from './http/console-server.ts';
import { serverCertificates } from './http/server-certificates.ts';
import { Query } from './http/query.ts';
import type { Action, Routes, View } from './http/routes.ts';
import { createLedgerReads, type LedgerReads } from './ledger/ledger-reads.ts';
import { LiveEvents } from './ledger/live-events.ts';
import { consoleMetrics } from './metrics.ts';
import type { ConsoleOptions } from './options.ts';
import { type PersonalClient, Sessions } from './session/sessions.ts';
import { verifyPerson } from './session/verify-person.ts';
import { staticFiles } from './static/static-files.ts';
import { performAction, previewAction } from './views/actions.ts';
import { showAddress } from './views/addresses.ts';
import { showMap, showMoments } from './views/address-map.ts';
import { listAlarms } from './views/alarms.ts';
import { createEventStreams } from './views/event-stream.ts';
import { listEvents, showEvent } from './views/events.ts';
import { showPod } from './views/pods.ts';
import { readRunbooks, type Runbooks } from './views/runbooks.ts';
import { search } from './views/search.ts';
import { listSubnets, showSubnet } from './views/subnets.ts';

export interface ConsoleParts {
  readonly options: ConsoleOptions;
  readonly env: NodeJS.ProcessEnv;
  readonly log: Logger;
}

const apiPrefix = '/api/v1';

/** Starts all parts. Resolves to "host:port" when the console listens. */
export async function startConsole({ options, env, log }: ConsoleParts, life: Lifecycle): Promise<string> {
  const tls = tlsFromEnvironment(env, log);
  const isOpen = options.open === true || env['IPLEDGER_CONSOLE_OPEN'] === '1';
  const certificates = serverCertificates(options, tls, log);
  refuseUnsafe({
    options,
    tls,
    isOpen,
    isEncrypted: certificates !== undefined,
    isInsecure: isInsecure(options.insecure, env),
  });

  const [allocator, readModel] = [connect(options.allocator, tls), connect(options.readModel, tls, 'read-model')];
  const [allocatorClient, readModelClient] = [allocator, readModel].map((each) =>
    createLedgerClient(each, life.signal),
  );
  if (!allocatorClient || !readModelClient) throw new Error('unreachable');
  const reads = createLedgerReads(allocatorClient, readModelClient);
  const events = new LiveEvents();
  const following = events.follow(allocatorClient, log, life.signal);
  const sessions = isOpen
    ? undefined
    : new Sessions({ connect: personalClients(options.allocator, env), verify: verifyPerson });
  const streams = createEventStreams({ events, signal: life.signal });
  const isSecure = certificates !== undefined;
  const api = createApi({
    sessions,
    views: viewsOf(reads, readRunbooks(options.runbooks)),
    actions: actionsOf(reads),
    stream: streams.stream,
    isSecure,
  });
  const serveFile = staticFiles(options.web);
  const metrics = consoleMetrics({ sessions: () => sessions?.size ?? 0, streams: streams.count });
  const server = createConsoleServer({
    handle: async (request, response, { pathname, searchParams }) => {
      if (!pathname.startsWith('/api/')) return serveFile(request, response, pathname);
      const path = pathname.startsWith(`${apiPrefix}/`) ? pathname.slice(apiPrefix.length) : '';
      await api(request, response, path, new Query(searchParams));
    },
    tls: certificates,
    log,
    onRequest: metrics.countRequest,
  });
  life.onStop(async () => {
    await closeConsoleServer(server);
    sessions?.close();
    await following;
    allocator.close();
    readModel.close();
  });
  const ready = (): boolean | string => (events.position ? true : 'no allocator has answered yet');
  await startHealthServer({ listen: options.healthListen, ready, metrics: metrics.registry, log }, life);
  const address = await listenOn(server, options.listen);
  log.info({ url: `${isSecure ? 'https' : 'http'}://${address}`, signIn: !isOpen }, 'listening');
  return address;
}

const viewsOf = (reads: LedgerReads, runbooks: Runbooks): Routes<View> => ({
  '/subnets': listSubnets(reads),
  '/subnets/:name': showSubnet(reads),
  '/subnets/:name/map': showMap(reads),
  '/subnets/:name/moments': showMoments(reads),
  '/addresses/:address': showAddress(reads),
  '/pods/:namespace/:pod': showPod(reads),
  '/events': listEvents(reads),
  '/events/:seq': showEvent(reads),
  '/alarms': listAlarms(reads, runbooks),
  '/search': search(reads),
});

const actionsOf = (reads: LedgerReads): Routes<Action> => ({
  '/actions/preview': previewAction,
  '/actions': async (...request) => {
    try {
      return await performAction(...request);
    } finally {
      reads.forgetAddresses(); // also after a failure, whose outcome may be unknown
    }
  },
});

/** Connects once for each person: the allocators limit reviews of tokens by connection. */
function personalClients(endpoints: string, env: NodeJS.ProcessEnv): (token: string) => PersonalClient {
  const authorities = new AuthorityReloader(env['IPLEDGER_TLS_CA'] ?? '');
  return (token) => {
    const connection = connectLightly(endpoints, { authorities, token: { read: () => token } });
    const ending = new AbortController();
    return {
      ...createLedgerClient(connection, ending.signal),
      close: () => {
        ending.abort();
        connection.close();
      },
    };
  };
}

interface Safety {
  readonly options: ConsoleOptions;
  readonly tls: Tls;
  readonly isOpen: boolean;
  readonly isEncrypted: boolean;
  readonly isInsecure: boolean;
}

/**
 * @throws Error for settings that show the ledger without sign-in beyond this machine, or send
 * tokens in plaintext
 */
function refuseUnsafe({ options: { listen }, tls, isOpen, isEncrypted, isInsecure: accepted }: Safety): void {
  if (isOpen && !isLoopback(listen))
    throw new Error(`--open with --listen ${listen}: without sign-in the console listens on 127.0.0.1 only`);
  if (!isOpen && !tls)
    throw new Error(
      'people sign in with tokens, which allocators accept by TLS only: set IPLEDGER_TLS_CA, IPLEDGER_TLS_CERT and IPLEDGER_TLS_KEY, or start with --open',
    );
  if (!isEncrypted && !isOpen && !isLoopback(listen) && !accepted)
    throw new Error(`--listen ${listen} without TLS: tokens would be sent in plaintext`);
}

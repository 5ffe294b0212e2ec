/**
 * Test support: a server with limits for its clients, whose handlers do little. Run as a program,
 * it serves with the certificate in its environment, sends its port to the parent process, and
 * reports its memory on request.
 */
import { pino } from 'pino';
import { pause } from '../../../process/abortable.ts';
import { loadTls, serverCredentials, type Tls } from '../../../tls/credentials.ts';
import { IpamService, LedgerService, SubnetsService } from '../../../../proto/generated/ipledger.ts';
import { listenOnLoopback } from '../../testing/grpc-test-server.ts';
import type { RefuseCaller, TokenAccess } from '../authorization.ts';
import { ClientConnections } from '../client-connections.ts';
import { createServer } from '../create-server.ts';
import { addGrpcService } from '../serve.ts';

/** The size of each reply of Export. */
export const replyBytes = 3 << 20;

export interface LimitedServer extends Disposable {
  readonly port: number;
  readonly connections: ClientConnections;
  /** The paths of the calls that reached a handler. */
  readonly handled: string[];
}

/** Starts a server on loopback. @param tokens absent if each client needs a certificate */
export async function startLimitedServer(
  tls: Tls,
  tokens?: TokenAccess,
  refuseCaller?: RefuseCaller,
): Promise<LimitedServer> {
  const log = pino({ level: 'silent' });
  const connections = new ClientConnections(tls !== undefined);
  const server = createServer({ tls, tokens, refuseCaller, log, connections });
  const handled: string[] = [];
  const note = ({ path }: { readonly path: string }): void => void handled.push(path);
  const large = Buffer.alloc(replyBytes);
  addGrpcService(
    server,
    LedgerService,
    {
      async *export() {
        note(LedgerService.export);
        for (;;) yield large;
      },
      async *watch(_request, { signal }) {
        note(LedgerService.watch);
        yield {};
        while (!signal.aborted) await pause(60_000, signal);
      },
      async getStatus() {
        note(LedgerService.getStatus);
        return {};
      },
    },
    { log },
  );
  addGrpcService(
    server,
    IpamService,
    {
      async listBindings() {
        note(IpamService.listBindings);
        return {};
      },
      async wait(_request, { signal }) {
        note(IpamService.wait);
        while (!signal.aborted) await pause(60_000, signal);
        return {};
      },
    },
    { log },
  );
  addGrpcService(
    server,
    SubnetsService,
    {
      async applySubnet() {
        note(SubnetsService.applySubnet);
        return {};
      },
    },
    { log },
  );
  const credentials = serverCredentials(tls, { acceptTokens: tokens !== undefined });
  const port = Number((await listenOnLoopback(server, credentials)).split(':').at(-1));
  return { port, connections, handled, [Symbol.dispose]: () => server.forceShutdown() };
}

const { SERVER_CA: ca, SERVER_CERT: cert, SERVER_KEY: key } = process.env;
if (process.send && ca !== undefined && cert !== undefined && key !== undefined) {
  const refuse: TokenAccess = { authenticate: () => new Promise(() => undefined) };
  const { port, connections } = await startLimitedServer(loadTls({ ca, cert, key }), refuse);
  process.on('message', () => process.send?.({ rss: process.memoryUsage().rss, bytes: connections.budgets.bytes }));
  process.send({ port });
}

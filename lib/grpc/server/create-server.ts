/** Creates and starts the gRPC server of a program, with limits for its clients. */
import { Server } from '@grpc/grpc-js';
import type { Logger } from '../../process/log.ts';
import { type Tls, serverCredentials } from '../../tls/credentials.ts';
import { authorizationInterceptor, type RefuseCaller, type TokenAccess } from './authorization.ts';
import { limitsInterceptor } from './call-limits.ts';
import { ClientConnections } from './client-connections.ts';
import { maxRequestBytes } from './request-limits.ts';
import type { Lifecycle } from '../../process/lifecycle.ts';

export interface ServerSettings {
  readonly tls: Tls;
  /** Accepts tokens. Absent: with TLS, every client needs a certificate. */
  readonly tokens?: TokenAccess | undefined;
  /** Called before a request is read, with TLS. */
  readonly refuseCaller?: RefuseCaller | undefined;
  readonly log: Logger;
  readonly connections?: ClientConnections;
}

/** Creates a server. It checks limits, identity, permission and rate, then reads the request. */
export function createServer({
  tls,
  tokens,
  refuseCaller,
  log,
  connections = new ClientConnections(tls !== undefined),
}: ServerSettings): Server {
  const server = new Server({
    'grpc.max_receive_message_length': maxRequestBytes,
    // Rare pings: agents keep idle connections, which cost less than new ones.
    'grpc.keepalive_time_ms': 120_000,
    'grpc.enable_channelz': 0,
    interceptors: [limitsInterceptor(log), ...(tls ? [authorizationInterceptor(log, tokens, refuseCaller)] : [])],
  });
  connections.limit(server);
  return server;
}

const drainMs = 3_000;

/**
 * Serves at "host:port" until the program stops. Resolves to the port.
 * @throws the system's error if it cannot listen there
 */
export function listen(
  server: Server,
  at: { readonly listen: string; readonly tls: Tls; readonly acceptTokens?: boolean },
  life: Lifecycle,
): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync(at.listen, serverCredentials(at.tls, at), (error, port) => {
      if (error) return reject(error);
      life.onStop(() => drain(server));
      resolve(port);
    });
  });
}

/** Accepts no more calls. Waits until calls in progress end, or until a timeout. */
function drain(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      server.forceShutdown();
      resolve();
    }, drainMs);
    server.tryShutdown(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

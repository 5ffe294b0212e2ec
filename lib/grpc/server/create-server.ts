/** Creates and starts the gRPC server of a program, with the limits of its clients. */
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
  /** Absent: with TLS, every client needs a certificate. */
  readonly tokens?: TokenAccess | undefined;
  /** Called with TLS, before a request is read. */
  readonly refuseCaller?: RefuseCaller | undefined;
  readonly log: Logger;
  readonly connections?: ClientConnections;
}

/** A call passes these in turn: limits, identity, permission, rate. Then its request is read. */
export function createServer({
  tls,
  tokens,
  refuseCaller,
  log,
  connections = new ClientConnections(tls !== undefined),
}: ServerSettings): Server {
  const server = new Server({
    'grpc.max_receive_message_length': maxRequestBytes,
    // Agents keep idle connections open: a new connection costs as much as half an hour of pings.
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
 * @throws the system's error when it cannot listen there
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

/** Accepts no more calls, and waits for calls in progress until a timeout. */
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

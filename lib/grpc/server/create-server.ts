/** Creates the gRPC server of a program, with the limits of its clients. */
import { Server } from '@grpc/grpc-js';
import type { Logger } from '../../process/log.ts';
import type { Tls } from '../../tls/credentials.ts';
import { authorizationInterceptor, type RefuseCaller, type TokenAccess } from './authorization.ts';
import { limitsInterceptor } from './call-limits.ts';
import { ClientConnections } from './client-connections.ts';
import { maxRequestBytes } from './request-limits.ts';

export interface ServerSettings {
  readonly tls: Tls;
  /** Absent: with TLS, every client needs a certificate. */
  readonly tokens?: TokenAccess | undefined;
  /** Called with TLS, before a request is read. */
  readonly refuseCaller?: RefuseCaller | undefined;
  readonly log: Logger;
  readonly connections?: ClientConnections;
}

/** A call passes these in turn: limits, identity, permission, rate. Then its request is read, decoded, and compared with its limits. */
export function createServer({
  tls,
  tokens,
  refuseCaller,
  log,
  connections = new ClientConnections(tls !== undefined),
}: ServerSettings): Server {
  const server = new Server({
    'grpc.max_receive_message_length': maxRequestBytes,
    'grpc.max_connection_idle_ms': 300_000,
    'grpc.keepalive_time_ms': 30_000,
    'grpc.enable_channelz': 0,
    interceptors: [limitsInterceptor(log), ...(tls ? [authorizationInterceptor(log, tokens, refuseCaller)] : [])],
  });
  connections.limit(server);
  return server;
}

/** The gRPC server of an allocator: the API, health and reflection. */
import { Server } from '@grpc/grpc-js';
import type { HealthImplementation } from 'grpc-health-check';
import { authorizationInterceptor, type TokenAccess } from '../../lib/grpc/server/authorization.ts';
import { listen } from '../../lib/grpc/server/listen.ts';
import { addReflection } from '../../lib/grpc/server/reflection.ts';
import { maxRequestBytes } from '../../lib/grpc/server/request-limits.ts';
import type { Lifecycle } from '../../lib/process/lifecycle.ts';
import type { Logger } from '../../lib/process/log.ts';
import type { Tls } from '../../lib/tls/credentials.ts';
import type { Tracer } from '../../lib/tracing/tracer.ts';
import type { AllocatorContext } from './grpc/allocator-context.ts';
import type { Forwarder } from './grpc/forwarding/forwarder.ts';
import { addServices } from './grpc/services.ts';
import type { AllocatorMetrics } from './metrics.ts';

export interface ApiServerOptions {
  /** "host:port" */
  readonly listen: string;
  readonly allocator: AllocatorContext;
  readonly forwarder: Forwarder;
  readonly health: HealthImplementation;
  readonly tls: Tls;
  /** Absent: every client needs a certificate. */
  readonly tokens?: TokenAccess | undefined;
  readonly metrics: Pick<AllocatorMetrics, 'onAnswered'>;
  /** Absent: no spans. */
  readonly tracer: Tracer | undefined;
  readonly log: Logger;
}

/** Starts the server, which stops with the program. Resolves to its port. @throws Error when it cannot listen. */
export function startApiServer(options: ApiServerOptions, life: Lifecycle): Promise<number> {
  const { allocator, forwarder, health, tls, tokens, metrics, tracer, log } = options;
  const server = new Server({
    'grpc.max_receive_message_length': maxRequestBytes,
    'grpc.max_connection_idle_ms': 300_000,
    'grpc.keepalive_time_ms': 30_000,
    'grpc.enable_channelz': 0,
    interceptors: tls ? [authorizationInterceptor(log, tokens)] : [],
  });
  addServices(server, allocator, {
    log,
    forward: (call, answerHere) => forwarder.forward(call, answerHere),
    onAnswered: metrics.onAnswered,
    tracer,
    stopping: life.signal,
  });
  health.addToServer(server);
  addReflection(server);
  return listen(server, { listen: options.listen, tls, acceptTokens: tokens !== undefined }, life);
}

/** The gRPC server of an allocator: the API, health and reflection. */
import type { HealthImplementation } from 'grpc-health-check';
import type { TokenAccess } from '../../lib/grpc/server/authorization.ts';
import { ClientConnections } from '../../lib/grpc/server/client-connections.ts';
import { createServer, listen } from '../../lib/grpc/server/create-server.ts';
import { isRead } from '../../lib/grpc/server/permissions.ts';
import { addReflection } from '../../lib/grpc/server/reflection.ts';
import type { Lifecycle } from '../../lib/process/lifecycle.ts';
import type { Logger } from '../../lib/process/log.ts';
import type { Tls } from '../../lib/tls/credentials.ts';
import { IpamService, LedgerService, SubnetsService } from '../../proto/generated/ipledger.ts';
import type { Tracer } from '../../lib/tracing/tracer.ts';
import { type AllocatorContext, explainNoWriter } from './grpc/allocator-context.ts';
import { announceEpochs } from './grpc/recovery/announce-epochs.ts';
import type { Forwarder } from './grpc/forwarding/forwarder.ts';
import type { CallKind } from './grpc/rate-limiter.ts';
import type { AllocatorMetrics } from './metrics.ts';
import type { Server } from '@grpc/grpc-js';
import { ipamHandlers } from './grpc/ipam/ipam-service.ts';
import { ledgerHandlers } from './grpc/ledger/ledger-service.ts';
import { addGrpcService, type ServeOptions } from '../../lib/grpc/server/serve.ts';
import { subnetsHandlers } from './grpc/subnets/subnets-service.ts';
import { PodWaiters } from './grpc/ipam/pod-waiters.ts';

export interface ApiServerOptions {
  /** "host:port" */
  readonly listen: string;
  readonly allocator: AllocatorContext;
  readonly forwarder: Forwarder;
  readonly health: HealthImplementation;
  readonly tls: Tls;
  /** Accepts tokens. Absent: every client needs a certificate. */
  readonly tokens?: TokenAccess | undefined;
  readonly metrics: Pick<AllocatorMetrics, 'onAnswered'>;
  /** Records spans. Absent: none. */
  readonly tracer: Tracer | undefined;
  readonly log: Logger;
}

/** The calls of agents. All others are queries. */
const callKinds: ReadonlyMap<string, CallKind> = new Map([
  [IpamService.attach.path, 'command'],
  [IpamService.bind.path, 'command'],
  [IpamService.unbind.path, 'command'],
  [IpamService.reportConflict.path, 'command'],
  [IpamService.listBindings.path, 'list'],
  [IpamService.listAllocations.path, 'list'],
]);

/** Starts the server, which stops with the program. Resolves to its port. @throws Error */
export function startApiServer(options: ApiServerOptions, life: Lifecycle): Promise<number> {
  const { allocator, forwarder, health, tls, tokens, metrics, tracer, log } = options;
  const connections = new ClientConnections(tls !== undefined);
  announceEpochs(allocator.replica, () => connections.end());
  const server = createServer({
    tls,
    tokens,
    connections,
    refuseCaller: ({ kind, uri }, path) => {
      if (kind === 'agent') allocator.rateLimiter?.refuseExhausted(uri, callKinds.get(path) ?? 'query');
      else if ((kind === 'viewer' || kind === 'kubernetes-user') && isRead(path)) allocator.rateLimiter?.takeRead(uri);
    },
    log,
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

/** Registers the services of the API. */
export function addServices(server: Server, allocator: AllocatorContext, options: ServeOptions): void {
  const explained = { ...options, ...explainedForward(allocator, options) };
  addGrpcService(server, IpamService, ipamHandlers(allocator, new PodWaiters(allocator.replica)), explained);
  addGrpcService(server, SubnetsService, subnetsHandlers(allocator), explained);
  addGrpcService(server, LedgerService, ledgerHandlers(allocator), explained);
}

/** Adds the reason to the failure of a call that finds no writer, if the reason is known. */
function explainedForward(allocator: AllocatorContext, { forward }: ServeOptions): Pick<ServeOptions, 'forward'> {
  if (!forward) return {};
  return {
    forward: async (call, here) => {
      try {
        return await forward(call, here);
      } catch (error) {
        throw await explainNoWriter(allocator, error);
      }
    },
  };
}

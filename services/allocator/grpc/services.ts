/** Registers the services of the API. */
import type { Server } from '@grpc/grpc-js';
import { IpamService, LedgerService, SubnetsService } from '../../../proto/generated/ipledger.ts';
import { type AllocatorContext, explainNoWriter } from './allocator-context.ts';
import { ipamHandlers } from './ipam/ipam-service.ts';
import { ledgerHandlers } from './ledger/ledger-service.ts';
import { addGrpcService, type ServeOptions } from '../../../lib/grpc/server/serve.ts';
import { subnetsHandlers } from './subnets/subnets-service.ts';
import { PodWaiters } from './ipam/pod-waiters.ts';

export function addServices(server: Server, allocator: AllocatorContext, options: ServeOptions): void {
  const explained = { ...options, ...explainedForward(allocator, options) };
  addGrpcService(server, IpamService, ipamHandlers(allocator, new PodWaiters(allocator.replica)), explained);
  addGrpcService(server, SubnetsService, subnetsHandlers(allocator), explained);
  addGrpcService(server, LedgerService, ledgerHandlers(allocator), explained);
}

/** A call that finds no writer fails with the reason, if it is known. */
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

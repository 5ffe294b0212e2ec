/** Registers the services of the API. */
import type { Server } from '@grpc/grpc-js';
import { IpamService, LedgerService, SubnetsService } from '../../../proto/generated/ipledger.ts';
import type { AllocatorContext } from './allocator-context.ts';
import { ipamHandlers } from './ipam/ipam-service.ts';
import { ledgerHandlers } from './ledger/ledger-service.ts';
import { addGrpcService, type ServeOptions } from '../../../lib/grpc/server/serve.ts';
import { subnetsHandlers } from './subnets/subnets-service.ts';
import { PodWaiters } from './ipam/pod-waiters.ts';

export function addServices(server: Server, allocator: AllocatorContext, options: ServeOptions): void {
  addGrpcService(server, IpamService, ipamHandlers(allocator, new PodWaiters(allocator.replica)), options);
  addGrpcService(server, SubnetsService, subnetsHandlers(allocator), options);
  addGrpcService(server, LedgerService, ledgerHandlers(allocator), options);
}

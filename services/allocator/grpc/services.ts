/** All services of the API, on one allocator. */
import type { Server } from '@grpc/grpc-js';
import { IpamService, LedgerService, SubnetsService } from '../../../proto/ipledger.ts';
import type { Allocator } from './allocator.ts';
import { ipamHandlers } from './ipam.ts';
import { ledgerHandlers } from './ledger.ts';
import { serve, type ServeOptions } from '../../../lib/serving/serve.ts';
import { subnetsHandlers } from './subnets.ts';
import { Waiting } from './waiting.ts';

/** Adds them to a server. */
export function addServices(server: Server, allocator: Allocator, options: ServeOptions): void {
  serve(server, IpamService, ipamHandlers(allocator, new Waiting(allocator.replica)), options);
  serve(server, SubnetsService, subnetsHandlers(allocator), options);
  serve(server, LedgerService, ledgerHandlers(allocator), options);
}

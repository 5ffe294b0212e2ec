/** All services of the API, on one allocator. */
import type { Server } from '@grpc/grpc-js';
import type { Logger } from '../../../lib/log.ts';
import { IpamService, LedgerService, SubnetsService } from '../../../proto/ipledger.ts';
import type { Allocator } from './allocator.ts';
import { ipamHandlers } from './ipam.ts';
import { ledgerHandlers } from './ledger.ts';
import { serve } from './server.ts';
import { subnetsHandlers } from './subnets.ts';
import { Waiting } from './waiting.ts';

/** Adds them to a server. */
export function addServices(server: Server, allocator: Allocator, log: Logger): void {
  serve(server, IpamService, ipamHandlers(allocator, new Waiting(allocator.replica)), log);
  serve(server, SubnetsService, subnetsHandlers(allocator), log);
  serve(server, LedgerService, ledgerHandlers(allocator), log);
}

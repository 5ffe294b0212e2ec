/** The calls of the allocator's gRPC API that the projector uses. All throw IpledgerError. */
import { call, type Connection, stream } from '../../../lib/grpc/client.ts';
import {
  type GetStatusReply,
  IpamService,
  LedgerService,
  type ListAllocationsReply,
  type ListSubnetsReply,
  type Position,
  SubnetsService,
  type WatchReply,
} from '../../../proto/generated/ipledger.ts';

export interface ProjectorLedgerClient {
  status(signal: AbortSignal): Promise<GetStatusReply>;
  /** Reads one page of all allocations. */
  listAllocations(pageToken: string, signal: AbortSignal): Promise<ListAllocationsReply>;
  listSubnets(signal: AbortSignal): Promise<ListSubnetsReply>;
  /** Streams the events after a position. */
  watch(after: Position, signal: AbortSignal): AsyncIterable<WatchReply>;
}

const callTimeoutMs = 10_000;
/** The allocator sends a keepalive every few seconds. Without data for this time, the stream is broken. */
export const watchSilenceMs = 20_000;

export function createLedgerClient(connection: Connection): ProjectorLedgerClient {
  const options = (signal: AbortSignal): { timeoutMs: number; signal: AbortSignal } => ({
    timeoutMs: callTimeoutMs,
    signal,
  });
  return {
    status: (signal) => call(connection, LedgerService.getStatus, {}, options(signal)),
    listAllocations: (pageToken, signal) =>
      call(connection, IpamService.listAllocations, { pageToken }, options(signal)),
    listSubnets: (signal) => call(connection, SubnetsService.listSubnets, {}, options(signal)),
    watch: (after, signal) =>
      stream(connection, LedgerService.watch, { fromSeq: after.seq + 1, after }, { silenceMs: watchSilenceMs, signal }),
  };
}

/** The calls of the allocator's gRPC API that pod-watcher uses. All throw IpledgerError. */
import { call, type Connection, stream } from '../../../lib/grpc/client.ts';
import type { TraceContext } from '../../../lib/tracing/trace-context.ts';
import type { MessageInput } from '../../../proto/codec.ts';
import {
  type AllocateReply,
  type AllocateRequest,
  type ApplyPoolReply,
  type ApplyPoolRequest,
  type ApplySubnetReply,
  type ApplySubnetRequest,
  type CheckpointReply,
  type GetAddressReply,
  type GetAddressRequest,
  type GetPoolReply,
  type GetSubnetReply,
  IpamService,
  LedgerService,
  type ListBindingsReply,
  type ListBindingsRequest,
  type ListPoolsReply,
  type ListAllocationsReply,
  type ListReservationsReply,
  type ListSubnetsReply,
  type Position,
  type ReleaseReply,
  type ReleaseRequest,
  type ReserveReply,
  type ReserveRequest,
  SubnetsService,
  type UnbindReply,
  type UnbindRequest,
  type UnreserveRequest,
  type WatchReply,
} from '../../../proto/generated/ipledger.ts';

export interface WatcherLedgerClient {
  allocate(request: MessageInput<AllocateRequest>, signal: AbortSignal, trace?: TraceContext): Promise<AllocateReply>;
  release(request: MessageInput<ReleaseRequest>, signal: AbortSignal): Promise<ReleaseReply>;
  /** Reads one page of all allocations. */
  list(pageToken: string, signal: AbortSignal): Promise<ListAllocationsReply>;
  /** Reads one page of a Node's bindings. */
  listBindings(
    request: Pick<ListBindingsRequest, 'node' | 'pageToken'>,
    signal: AbortSignal,
  ): Promise<ListBindingsReply>;
  unbind(request: MessageInput<UnbindRequest>, signal: AbortSignal): Promise<UnbindReply>;
  applySubnet(request: MessageInput<ApplySubnetRequest>, signal: AbortSignal): Promise<ApplySubnetReply>;
  deleteSubnet(name: string, signal: AbortSignal): Promise<void>;
  /** Reads a subnet with its counts at `minSeq` or later. */
  getSubnet(name: string, minSeq: number, signal: AbortSignal): Promise<GetSubnetReply>;
  listSubnets(signal: AbortSignal): Promise<ListSubnetsReply>;
  applyPool(request: MessageInput<ApplyPoolRequest>, signal: AbortSignal): Promise<ApplyPoolReply>;
  deletePool(name: string, signal: AbortSignal): Promise<void>;
  /** Reads a pool with its counts at `minSeq` or later. */
  getPool(name: string, minSeq: number, signal: AbortSignal): Promise<GetPoolReply>;
  listPools(signal: AbortSignal): Promise<ListPoolsReply>;
  reserve(request: MessageInput<ReserveRequest>, signal: AbortSignal): Promise<ReserveReply>;
  unreserve(request: MessageInput<UnreserveRequest>, signal: AbortSignal): Promise<void>;
  /** Reads the state of one address. */
  getAddress(request: Pick<GetAddressRequest, 'subnet' | 'address'>, signal: AbortSignal): Promise<GetAddressReply>;
  /** Reads one page of all reservations. */
  listReservations(pageToken: string, signal: AbortSignal): Promise<ListReservationsReply>;
  /**
   * Streams the events after a position.
   * @throws IpledgerError LEDGER_FROZEN when the ledger lacks the position; POSITION_GONE when it was recovered without it
   */
  watch(after: Position, signal: AbortSignal): AsyncIterable<WatchReply>;
}

/** The timeout of Allocate. Its request contains the deadline for the decision. */
export const allocateTimeoutMs = 10_000;
const callTimeoutMs = 10_000;
/** The allocator sends a keepalive every few seconds. Without data for this time, the stream is broken. */
export const watchSilenceMs = 20_000;

/** Reads a signed checkpoint of the current ledger. */
export const createCheckpointReader =
  (connection: Connection) =>
  (signal: AbortSignal): Promise<CheckpointReply> =>
    call(connection, LedgerService.checkpoint, {}, { timeoutMs: callTimeoutMs, signal });

export function createLedgerClient(connection: Connection): WatcherLedgerClient {
  return {
    allocate: (request, signal, trace) =>
      call(connection, IpamService.allocate, request, { timeoutMs: allocateTimeoutMs, signal, trace }),
    release: (request, signal) => call(connection, IpamService.release, request, { timeoutMs: callTimeoutMs, signal }),
    list: (pageToken, signal) =>
      call(connection, IpamService.listAllocations, { pageToken }, { timeoutMs: callTimeoutMs, signal }),
    listBindings: (request, signal) =>
      call(connection, IpamService.listBindings, request, { timeoutMs: callTimeoutMs, signal }),
    unbind: (request, signal) => call(connection, IpamService.unbind, request, { timeoutMs: callTimeoutMs, signal }),
    applySubnet: (request, signal) =>
      call(connection, SubnetsService.applySubnet, request, { timeoutMs: callTimeoutMs, signal }),
    deleteSubnet: async (name, signal) => {
      await call(connection, SubnetsService.deleteSubnet, { name }, { timeoutMs: callTimeoutMs, signal });
    },
    getSubnet: (name, minSeq, signal) =>
      call(connection, SubnetsService.getSubnet, { name, minSeq }, { timeoutMs: callTimeoutMs, signal }),
    listSubnets: (signal) => call(connection, SubnetsService.listSubnets, {}, { timeoutMs: callTimeoutMs, signal }),
    applyPool: (request, signal) =>
      call(connection, SubnetsService.applyPool, request, { timeoutMs: callTimeoutMs, signal }),
    deletePool: async (name, signal) => {
      await call(connection, SubnetsService.deletePool, { name }, { timeoutMs: callTimeoutMs, signal });
    },
    getPool: (name, minSeq, signal) =>
      call(connection, SubnetsService.getPool, { name, minSeq }, { timeoutMs: callTimeoutMs, signal }),
    listPools: (signal) => call(connection, SubnetsService.listPools, {}, { timeoutMs: callTimeoutMs, signal }),
    reserve: (request, signal) => call(connection, IpamService.reserve, request, { timeoutMs: callTimeoutMs, signal }),
    unreserve: async (request, signal) => {
      await call(connection, IpamService.unreserve, request, { timeoutMs: callTimeoutMs, signal });
    },
    getAddress: (request, signal) =>
      call(connection, IpamService.getAddress, request, { timeoutMs: callTimeoutMs, signal }),
    listReservations: (pageToken, signal) =>
      call(connection, IpamService.listReservations, { pageToken }, { timeoutMs: callTimeoutMs, signal }),
    watch: (after, signal) =>
      stream(connection, LedgerService.watch, { fromSeq: after.seq + 1, after }, { silenceMs: watchSilenceMs, signal }),
  };
}

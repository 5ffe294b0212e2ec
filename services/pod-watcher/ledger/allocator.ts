/** The allocator, as far as this program needs it: some verbs of its gRPC API. All throw IpledgerError. */
import { call, type Connection, stream } from '../../../lib/rpc.ts';
import type { Input } from '../../../proto/codec.ts';
import {
  type AllocateReply,
  type AllocateRequest,
  type ApplyPoolReply,
  type ApplyPoolRequest,
  type ApplySubnetReply,
  type ApplySubnetRequest,
  type CheckpointReply,
  type GetPoolReply,
  type GetSubnetReply,
  IpamService,
  LedgerService,
  type ListBindingsReply,
  type ListBindingsRequest,
  type ListPoolsReply,
  type ListReply,
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
} from '../../../proto/ipledger.ts';

export interface Allocator {
  allocate(request: Input<AllocateRequest>, signal: AbortSignal): Promise<AllocateReply>;
  release(request: Input<ReleaseRequest>, signal: AbortSignal): Promise<ReleaseReply>;
  /** One page of all allocations. */
  list(pageToken: string, signal: AbortSignal): Promise<ListReply>;
  /** One page of a node's bindings. */
  listBindings(
    request: Pick<ListBindingsRequest, 'node' | 'pageToken'>,
    signal: AbortSignal,
  ): Promise<ListBindingsReply>;
  unbind(request: Input<UnbindRequest>, signal: AbortSignal): Promise<UnbindReply>;
  applySubnet(request: Input<ApplySubnetRequest>, signal: AbortSignal): Promise<ApplySubnetReply>;
  deleteSubnet(name: string, signal: AbortSignal): Promise<void>;
  /** A subnet with its counts, as they are at `minSeq` or later. */
  getSubnet(name: string, minSeq: number, signal: AbortSignal): Promise<GetSubnetReply>;
  listSubnets(signal: AbortSignal): Promise<ListSubnetsReply>;
  applyPool(request: Input<ApplyPoolRequest>, signal: AbortSignal): Promise<ApplyPoolReply>;
  deletePool(name: string, signal: AbortSignal): Promise<void>;
  /** A pool with its counts, as they are at `minSeq` or later. */
  getPool(name: string, minSeq: number, signal: AbortSignal): Promise<GetPoolReply>;
  listPools(signal: AbortSignal): Promise<ListPoolsReply>;
  reserve(request: Input<ReserveRequest>, signal: AbortSignal): Promise<ReserveReply>;
  unreserve(request: Input<UnreserveRequest>, signal: AbortSignal): Promise<void>;
  /** One page of all reservations. */
  listReservations(pageToken: string, signal: AbortSignal): Promise<ListReservationsReply>;
  /** Events behind a position, to which the ledger is held: LEDGER_FROZEN when it lacks it, POSITION_GONE when it went on without. */
  watch(after: Position, signal: AbortSignal): AsyncIterable<WatchReply>;
}

/** How long an Allocate may take; its request says until when it is to be decided. */
export const allocateTimeoutMs = 10_000;
const callTimeoutMs = 10_000;
const listPageSize = 1_000;
/** The allocator gives a sign of life every few seconds: one that is silent for longer is away. */
export const watchSilenceMs = 20_000;

/** The ledger as it is now, signed. */
export const checkpointOver =
  (connection: Connection) =>
  (signal: AbortSignal): Promise<CheckpointReply> =>
    call(connection, LedgerService.checkpoint, {}, { timeoutMs: callTimeoutMs, signal });

/** Speaks through an open connection. */
export function allocatorOver(connection: Connection): Allocator {
  return {
    allocate: (request, signal) =>
      call(connection, IpamService.allocate, request, { timeoutMs: allocateTimeoutMs, signal }),
    release: (request, signal) => call(connection, IpamService.release, request, { timeoutMs: callTimeoutMs, signal }),
    list: (pageToken, signal) =>
      call(connection, IpamService.list, { pageSize: listPageSize, pageToken }, { timeoutMs: callTimeoutMs, signal }),
    listBindings: (request, signal) =>
      call(
        connection,
        IpamService.listBindings,
        { ...request, pageSize: listPageSize },
        { timeoutMs: callTimeoutMs, signal },
      ),
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
    listReservations: (pageToken, signal) =>
      call(
        connection,
        IpamService.listReservations,
        { pageSize: listPageSize, pageToken },
        { timeoutMs: callTimeoutMs, signal },
      ),
    watch: (after, signal) =>
      stream(connection, LedgerService.watch, { fromSeq: after.seq + 1, after }, { silenceMs: watchSilenceMs, signal }),
  };
}

/** The allocator, as far as this program needs it: eight verbs of its gRPC API. All throw IpledgerError. */
import type { Client } from '@grpc/grpc-js';
import { call, stream } from '../../../lib/rpc.ts';
import type { Input } from '../../../proto/codec.ts';
import {
  type AllocateReply,
  type AllocateRequest,
  type ApplySubnetReply,
  type ApplySubnetRequest,
  type GetSubnetReply,
  IpamService,
  LedgerService,
  type ListReply,
  type ListSubnetsReply,
  type ReleaseReply,
  type ReleaseRequest,
  SubnetsService,
  type WatchReply,
} from '../../../proto/ipledger.ts';

export interface Allocator {
  allocate(request: Input<AllocateRequest>, signal: AbortSignal): Promise<AllocateReply>;
  release(request: Input<ReleaseRequest>, signal: AbortSignal): Promise<ReleaseReply>;
  /** One page of all allocations. */
  list(pageToken: string, signal: AbortSignal): Promise<ListReply>;
  applySubnet(request: Input<ApplySubnetRequest>, signal: AbortSignal): Promise<ApplySubnetReply>;
  deleteSubnet(name: string, signal: AbortSignal): Promise<void>;
  /** A subnet with its counts, as they are at `minSeq` or later. */
  getSubnet(name: string, minSeq: number, signal: AbortSignal): Promise<GetSubnetReply>;
  listSubnets(signal: AbortSignal): Promise<ListSubnetsReply>;
  /** Events from `fromSeq` on; see Ledger.Watch. */
  watch(fromSeq: number, signal: AbortSignal): AsyncIterable<WatchReply>;
}

/** How long an Allocate may take; its request says until when it is to be decided. */
export const allocateTimeoutMs = 10_000;
const callTimeoutMs = 10_000;
const listPageSize = 1_000;
/** The allocator gives a sign of life every few seconds: one that is silent for longer is away. */
export const watchSilenceMs = 20_000;

/** Speaks through an open channel. */
export function allocatorOver(client: Client): Allocator {
  return {
    allocate: (request, signal) =>
      call(client, IpamService.allocate, request, { timeoutMs: allocateTimeoutMs, signal }),
    release: (request, signal) => call(client, IpamService.release, request, { timeoutMs: callTimeoutMs, signal }),
    list: (pageToken, signal) =>
      call(client, IpamService.list, { pageSize: listPageSize, pageToken }, { timeoutMs: callTimeoutMs, signal }),
    applySubnet: (request, signal) =>
      call(client, SubnetsService.applySubnet, request, { timeoutMs: callTimeoutMs, signal }),
    deleteSubnet: async (name, signal) => {
      await call(client, SubnetsService.deleteSubnet, { name }, { timeoutMs: callTimeoutMs, signal });
    },
    getSubnet: (name, minSeq, signal) =>
      call(client, SubnetsService.getSubnet, { name, minSeq }, { timeoutMs: callTimeoutMs, signal }),
    listSubnets: (signal) => call(client, SubnetsService.listSubnets, {}, { timeoutMs: callTimeoutMs, signal }),
    watch: (fromSeq, signal) => stream(client, LedgerService.watch, { fromSeq }, { silenceMs: watchSilenceMs, signal }),
  };
}

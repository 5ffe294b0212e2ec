/** The agent's client of the allocator: six calls of its gRPC API. */
import { IpledgerError } from '../../../lib/errors.ts';
import { call, callOutcome, type CallOptions, type Connection } from '../../../lib/grpc/calls.ts';
import type { MessageInput, Method } from '../../../proto/codec.ts';
import {
  type Allocation,
  type AttachReply,
  type AttachRequest,
  type BindReply,
  type BindRequest,
  IpamService,
  type ListBindingsRequest,
  type Position,
  type ReportConflictRequest,
  type UnbindRequest,
  type WaitReply,
  type WaitRequest,
} from '../../../proto/generated/ipledger.ts';
import type { LedgerEpoch } from './ledger-epoch.ts';

/** The allocation in a reply, and the ledger's epoch, which grows with each restore. */
export interface BindResult {
  readonly allocation: Allocation;
  readonly epoch: number;
  /** Whether the container must probe its addresses before it uses them. */
  readonly probeAddresses: boolean;
}

/** The calls of the agent to the allocator. They throw IpledgerError. */
export type BindingClient = ReturnType<typeof createBindingClient>;

/** Makes a client on a connection to the allocator. Its replies state the epoch of the ledger. */
export function createBindingClient(connection: Connection, epoch: LedgerEpoch) {
  const send = async <Request, Reply extends { readonly position?: Position | undefined }>(
    method: Method<Request, Reply, 'unary'>,
    request: MessageInput<Request>,
    options: CallOptions,
  ): Promise<Reply> => {
    const reply = await call(connection, method, request, options);
    epoch.record(reply.position);
    return reply;
  };
  const wait = async (request: MessageInput<WaitRequest>, options: CallOptions): Promise<BindResult> =>
    bindResult(await send(IpamService.wait, request, options));
  const bind = async (request: MessageInput<BindRequest>, options: CallOptions): Promise<BindResult> =>
    bindResult(await send(IpamService.bind, request, options));
  /** Waits for the allocation and binds it. */
  const attach = async (request: MessageInput<AttachRequest>, options: CallOptions): Promise<BindResult> => {
    try {
      return bindResult(await send(IpamService.attach, request, options));
    } catch (error) {
      if (IpledgerError.from(error).code !== 'NOT_IMPLEMENTED') throw error;
      // Falls back to Wait and Bind: an allocator of an earlier version has no Attach.
      const until = performance.now() + options.timeoutMs;
      await wait(request, options);
      return bind(request, { ...options, timeoutMs: until - performance.now() });
    }
  };
  const unbind = async (request: MessageInput<UnbindRequest>, options: CallOptions): Promise<void> => {
    await send(IpamService.unbind, request, options);
  };
  const reportConflict = async (request: MessageInput<ReportConflictRequest>, options: CallOptions): Promise<void> => {
    await send(IpamService.reportConflict, { ...request, seenSeq: epoch.seenSeq }, options);
  };
  const listBindings = (request: MessageInput<ListBindingsRequest>, options: CallOptions) =>
    send(IpamService.listBindings, request, options);
  return { attach, wait, bind, unbind, reportConflict, listBindings };
}

/** Whether the allocator may have executed a failed call: no answer came from it or from etcd. */
export function mayBeExecuted(error: IpledgerError): boolean {
  const outcome = callOutcome(error);
  return outcome === 'unknown' || (outcome === 'refused' && error.code === 'UNAVAILABLE');
}

const bindResult = (reply: AttachReply | BindReply | WaitReply): BindResult => ({
  allocation: requireAllocation(reply),
  epoch: reply.position?.epoch ?? 0,
  probeAddresses: reply.probeAddresses,
});

function requireAllocation({ allocation }: { allocation?: Allocation }): Allocation {
  if (!allocation) throw new IpledgerError('BUG', 'the allocator’s reply has no allocation');
  return allocation;
}

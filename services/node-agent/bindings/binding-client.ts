/** The agent's client of the allocator: five calls of its gRPC API. */
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
  type ListBindingsReply,
  type ListBindingsRequest,
  type Position,
  type UnbindRequest,
  type WaitRequest,
} from '../../../proto/generated/ipledger.ts';
import type { LedgerEpoch } from './ledger-epoch.ts';

/** The allocation of an Attach or a Bind, and the ledger's epoch, which grows when the ledger is restored from a backup. */
export interface BindResult {
  readonly allocation: Allocation;
  readonly epoch: number;
}

/** Every call throws IpledgerError. */
export interface BindingClient {
  /** Waits for the allocation and binds it. */
  attach(request: MessageInput<AttachRequest>, options: CallOptions): Promise<BindResult>;
  wait(request: MessageInput<WaitRequest>, options: CallOptions): Promise<Allocation>;
  bind(request: MessageInput<BindRequest>, options: CallOptions): Promise<BindResult>;
  unbind(request: MessageInput<UnbindRequest>, options: CallOptions): Promise<void>;
  listBindings(request: MessageInput<ListBindingsRequest>, options: CallOptions): Promise<ListBindingsReply>;
}

/** Makes a client on a connection to the allocator. Its replies state the epoch of the ledger. */
export function createBindingClient(connection: Connection, epoch: LedgerEpoch): BindingClient {
  const send = async <Request, Reply extends { readonly position?: Position | undefined }>(
    method: Method<Request, Reply, 'unary'>,
    request: MessageInput<Request>,
    options: CallOptions,
  ): Promise<Reply> => {
    const reply = await call(connection, method, request, options);
    epoch.record(reply.position);
    return reply;
  };
  const client: BindingClient = {
    attach: async (request, options) => {
      try {
        return bindResult(await send(IpamService.attach, request, options));
      } catch (error) {
        if (IpledgerError.from(error).code !== 'NOT_IMPLEMENTED') throw error;
        return attachInTwoCalls(client, request, options);
      }
    },
    wait: async (request, options) => requireAllocation(await send(IpamService.wait, request, options)),
    bind: async (request, options) => bindResult(await send(IpamService.bind, request, options)),
    unbind: async (request, options) => {
      await send(IpamService.unbind, request, options);
    },
    listBindings: (request, options) => send(IpamService.listBindings, request, options),
  };
  return client;
}

/** Attach through an allocator of an earlier version, which has no such call. */
async function attachInTwoCalls(
  client: BindingClient,
  request: MessageInput<AttachRequest>,
  options: CallOptions,
): Promise<BindResult> {
  const until = performance.now() + options.timeoutMs;
  await client.wait(request, options);
  return client.bind(request, { ...options, timeoutMs: until - performance.now() });
}

/** Whether a failed call may have been executed: no answer of the allocator arrived, or the allocator got none of etcd. */
export function mayBeExecuted(error: IpledgerError): boolean {
  const outcome = callOutcome(error);
  return outcome === 'unknown' || (outcome === 'refused' && error.code === 'UNAVAILABLE');
}

const bindResult = (reply: AttachReply | BindReply): BindResult => ({
  allocation: requireAllocation(reply),
  epoch: reply.position?.epoch ?? 0,
});

function requireAllocation({ allocation }: { allocation?: Allocation }): Allocation {
  if (!allocation) throw new IpledgerError('BUG', 'the allocator’s reply has no allocation');
  return allocation;
}

/** What the agent asks the allocator: four calls of the gRPC API. */
import { IpledgerError } from '../../lib/errors.ts';
import { call, type CallOptions, type Connection } from '../../lib/rpc.ts';
import type { Input } from '../../proto/codec.ts';
import {
  type Allocation,
  type BindRequest,
  IpamService,
  type ListBindingsReply,
  type ListBindingsRequest,
  type UnbindRequest,
  type WaitRequest,
} from '../../proto/ipledger.ts';

/** What a Bind gave, and the ledger's epoch then: it grows when the ledger is restored from a backup. */
export interface BoundAt {
  readonly allocation: Allocation;
  readonly epoch: number;
}

/** Every call throws IpledgerError. */
export interface Allocator {
  wait(request: Input<WaitRequest>, options: CallOptions): Promise<Allocation>;
  bind(request: Input<BindRequest>, options: CallOptions): Promise<BoundAt>;
  unbind(request: Input<UnbindRequest>, options: CallOptions): Promise<void>;
  listBindings(request: Input<ListBindingsRequest>, options: CallOptions): Promise<ListBindingsReply>;
}

/** The allocator at the other end of a connection. */
export function allocatorBy(connection: Connection): Allocator {
  return {
    wait: async (request, options) => present(await call(connection, IpamService.wait, request, options)),
    bind: async (request, options) => {
      const reply = await call(connection, IpamService.bind, request, options);
      return { allocation: present(reply), epoch: reply.position?.epoch ?? 0 };
    },
    unbind: async (request, options) => {
      await call(connection, IpamService.unbind, request, options);
    },
    listBindings: (request, options) => call(connection, IpamService.listBindings, request, options),
  };
}

function present({ allocation }: { allocation?: Allocation }): Allocation {
  if (!allocation) throw new IpledgerError('BUG', 'the allocator answered without an allocation');
  return allocation;
}

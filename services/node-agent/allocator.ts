/** What the agent asks the allocator: three calls of the gRPC API. */
import type { Client } from '@grpc/grpc-js';
import { IpledgerError } from '../../lib/errors.ts';
import { call, type CallOptions } from '../../lib/rpc.ts';
import type { Input } from '../../proto/codec.ts';
import {
  type Allocation,
  type BindRequest,
  IpamService,
  type UnbindRequest,
  type WaitRequest,
} from '../../proto/ipledger.ts';

/** Every call throws IpledgerError. */
export interface Allocator {
  wait(request: Input<WaitRequest>, options: CallOptions): Promise<Allocation>;
  bind(request: Input<BindRequest>, options: CallOptions): Promise<Allocation>;
  unbind(request: Input<UnbindRequest>, options: CallOptions): Promise<void>;
}

/** The allocator at the other end of a channel. */
export function allocatorBy(client: Client): Allocator {
  return {
    wait: async (request, options) => present(await call(client, IpamService.wait, request, options)),
    bind: async (request, options) => present(await call(client, IpamService.bind, request, options)),
    unbind: async (request, options) => {
      await call(client, IpamService.unbind, request, options);
    },
  };
}

function present({ allocation }: { allocation?: Allocation }): Allocation {
  if (!allocation) throw new IpledgerError('BUG', 'the allocator answered without an allocation');
  return allocation;
}

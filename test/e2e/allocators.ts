/** Several allocators on one etcd, and a client that does not care which of them answers. */
import { IpledgerError } from '../../lib/errors.ts';
import { call, connect } from '../../lib/rpc.ts';
import type { Input, Method } from '../../proto/codec.ts';
import { grpcServing } from '../harness/probes.ts';
import type { Allocator } from '../harness/services.ts';

/** Whether this one says that it is the writer. */
export const isWriter = ({ endpoint }: Pick<Allocator, 'endpoint'>): Promise<boolean> =>
  grpcServing(endpoint, undefined, AbortSignal.timeout(20_000), { service: 'writer' }).then(
    () => true,
    () => false,
  );

export interface Everywhere {
  /** Asks until somebody answers; what is refused is refused. */
  call<Request, Reply>(method: Method<Request, Reply, 'unary'>, request: Input<Request>): Promise<Reply>;
  close(): void;
}

/** A client of all of them. */
export function connectEverywhere(allocators: readonly Pick<Allocator, 'endpoint'>[]): Everywhere {
  const connection = connect(allocators.map(({ endpoint }) => endpoint).join(), undefined);
  return {
    async call(method, request) {
      for (let attempt = 0; ; attempt++) {
        try {
          return await call(connection, method, request, { timeoutMs: 2_000 });
        } catch (error) {
          if (IpledgerError.from(error).kind !== 'transient' || attempt > 500) throw error;
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      }
    },
    close: () => connection.close(),
  };
}

/** Several allocators on one etcd, and a client that does not care which of them is the writer. */
import type { Client } from '@grpc/grpc-js';
import { IpledgerError } from '../../lib/errors.ts';
import { call, connect } from '../../lib/rpc.ts';
import type { Input, Method } from '../../proto/codec.ts';
import type { Etcd } from '../harness/etcd.ts';
import { freePort } from '../harness/ports.ts';
import { grpcServing } from '../harness/probes.ts';
import type { Run } from '../harness/run.ts';
import { startServer } from '../harness/server.ts';
import { type Allocator, allocatorLaunch } from '../harness/services.ts';

/** Starts an allocator that need not become the writer; ready when its health service answers at all. */
export async function startReplica(run: Run, etcd: Etcd, name: string): Promise<Allocator> {
  const endpoint = `127.0.0.1:${await freePort()}`;
  const launch = allocatorLaunch({ name, etcd: [etcd.endpoint], listen: endpoint });
  const ready = async (signal: AbortSignal): Promise<void> => {
    try {
      await grpcServing(endpoint, undefined, signal);
    } catch (error) {
      if (!(error instanceof Error && error.message.endsWith('NOT_SERVING'))) throw error;
    }
  };
  return Object.assign(await startServer(run, { ...launch, ready }), { endpoint });
}

/** Whether this one says that it is the writer. */
export const isWriter = ({ endpoint }: Allocator): Promise<boolean> =>
  grpcServing(endpoint, undefined, AbortSignal.timeout(2_000)).then(
    () => true,
    () => false,
  );

export interface Everywhere {
  /** Asks one after the other until somebody answers; what is refused is refused. */
  call<Request, Reply>(method: Method<Request, Reply, 'unary'>, request: Input<Request>): Promise<Reply>;
  close(): void;
}

/** A client of all of them. */
export function connectEverywhere(allocators: readonly Allocator[]): Everywhere {
  const clients: readonly Client[] = allocators.map(({ endpoint }) => connect(endpoint, undefined));
  return {
    async call(method, request) {
      for (let attempt = 0; ; attempt++) {
        try {
          return await call(clients[attempt % clients.length] as Client, method, request, { timeoutMs: 2_000 });
        } catch (error) {
          if (IpledgerError.from(error).kind !== 'transient' || attempt > 500) throw error;
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      }
    },
    close() {
      for (const client of clients) client.close();
    },
  };
}

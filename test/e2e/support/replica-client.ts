/** A client of several allocators on one etcd, of which any can reply. */
import { IpledgerError } from '../../../lib/errors.ts';
import { readAll } from '../../../lib/ledger-client/pages.ts';
import { call, connect } from '../../../lib/grpc/client.ts';
import type { TlsFiles } from '../../../lib/tls/certificates.ts';
import type { MessageInput, Method } from '../../../proto/codec.ts';
import { type Allocation, IpamService } from '../../../proto/generated/ipledger.ts';
import { probeGrpcHealth } from '../../harness/processes/readiness-probes.ts';
import type { AllocatorServer } from '../../harness/services.ts';

/** Whether a replica reports that it is the writer. */
export const isWriter = ({ endpoint }: Pick<AllocatorServer, 'endpoint'>, tls?: TlsFiles): Promise<boolean> =>
  probeGrpcHealth(endpoint, tls, AbortSignal.timeout(20_000), { service: 'writer' }).then(
    () => true,
    () => false,
  );

export interface ReplicaClient {
  /** Calls until a replica replies. @throws IpledgerError for a refusal */
  call<Request, Reply>(method: Method<Request, Reply, 'unary'>, request: MessageInput<Request>): Promise<Reply>;
  close(): void;
}

/** Opens a client of all these replicas. */
export function connectReplicas(allocators: readonly Pick<AllocatorServer, 'endpoint'>[]): ReplicaClient {
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

/** Reads all allocations, page by page. */
export async function listAllocations(client: Pick<ReplicaClient, 'call'>): Promise<Allocation[]> {
  return readAll(
    (pageToken) => client.call(IpamService.listAllocations, { pageSize: 1_000, pageToken }),
    ({ allocations }) => allocations,
  );
}

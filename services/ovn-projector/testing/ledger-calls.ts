/** Sends commands to an allocator: Subnets and Pods with OVN NICs. */
import { call, connect } from '../../../lib/grpc/client.ts';
import { loadTls, type TlsFiles } from '../../../lib/tls/credentials.ts';
import type { MessageInput, Method } from '../../../proto/codec.ts';
import { type Allocation, IpamService, type SubnetSpec, SubnetsService } from '../../../proto/generated/ipledger.ts';

export const testProvider = 'attachnet.default.ovn';

export interface AllocateOptions {
  /** The name of the Subnet; default `lan`. */
  readonly subnet?: string;
  readonly node?: string;
  /** The uid of the Pod; default: derived from the name. */
  readonly uid?: string;
}

export interface LedgerCalls {
  /** Configures a Subnet of the test provider. */
  applySubnet(name: string, spec: Partial<SubnetSpec>): Promise<void>;
  deleteSubnet(name: string): Promise<void>;
  /** Allocates an address for a Pod in namespace default. Returns the allocation. */
  allocate(pod: string, options?: AllocateOptions): Promise<Allocation>;
  release(pod: string): Promise<void>;
  /** Binds the allocation of a Pod to a container. */
  bind(pod: string, node: string): Promise<void>;
  close(): void;
}

/** Connects to an allocator. @param tls certificate of an operator */
export function connectLedger({ endpoint }: { readonly endpoint: string }, tls?: TlsFiles): LedgerCalls {
  const connection = connect(endpoint, tls && loadTls(tls));
  const send = <Request, Reply>(
    method: Method<Request, Reply, 'unary'>,
    request: MessageInput<Request>,
  ): Promise<Reply> => call(connection, method, request, { timeoutMs: 10_000 });
  return {
    async applySubnet(name, spec) {
      const full = { provider: testProvider, excludeIps: [], gateway: '', protocol: '', ...spec };
      await send(SubnetsService.applySubnet, { name, spec: full });
    },
    async deleteSubnet(name) {
      await send(SubnetsService.deleteSubnet, { name });
    },
    async allocate(pod, { subnet = 'lan', node = '', uid = `uid-${pod}` } = {}) {
      const attachments = [{ provider: testProvider, subnets: [subnet] }];
      const { allocations } = await send(IpamService.allocate, {
        pod: { namespace: 'default', name: pod, uid, node },
        attachments,
      });
      return allocations[0] as Allocation;
    },
    async release(pod) {
      const request = { namespace: 'default', pod, podUid: `uid-${pod}`, cause: 'RELEASE_CAUSE_POD_DELETED' } as const;
      await send(IpamService.release, request);
    },
    async bind(pod, node) {
      await send(IpamService.bind, {
        namespace: 'default',
        pod,
        podUid: `uid-${pod}`,
        provider: testProvider,
        containerId: `container-${pod}-${node}`,
        interface: 'net1',
        node,
        bootId: 'boot-1',
      });
    },
    close: () => connection.close(),
  };
}

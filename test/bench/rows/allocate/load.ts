/** The load of the allocation rows: callers that each wait for a reply before the next request. */
import { call, type Connection } from '../../../../lib/grpc/client.ts';
import type { MessageInput } from '../../../../proto/codec.ts';
import { type AllocateReply, type AllocateRequest, IpamService } from '../../../../proto/generated/ipledger.ts';

export const benchSubnet = 'bench';
export const benchProvider = 'bench.default';
const timeoutMs = 60_000;

/** The addresses that were acknowledged, by Pod name. */
export type Acknowledged = Map<string, string>;

let createdPods = 0;

/** Returns the request of a Pod that no earlier request named. */
export function nextRequest(): { readonly name: string; readonly request: MessageInput<AllocateRequest> } {
  const name = `pod-${++createdPods}`;
  return {
    name,
    request: {
      pod: { namespace: 'default', name, uid: `9b2e8c1e-5d0c-4d8e-9e7a-${String(createdPods).padStart(12, '0')}` },
      attachments: [{ provider: benchProvider, subnets: [benchSubnet] }],
    },
  };
}

/** Returns the address of a reply. @throws Error for a reply without exactly one address */
export function addressIn({ allocations: [allocation] }: AllocateReply): string {
  const [first, second] = allocation?.addresses ?? [];
  if (!first || second) throw new Error('a reply of Allocate has not exactly one address');
  return first.address;
}

/** Sends one Allocate. Resolves to its duration in milliseconds. */
export async function allocateOnce(connection: Connection, acknowledged: Acknowledged): Promise<number> {
  const { name, request } = nextRequest();
  const startedAt = performance.now();
  const reply = await call(connection, IpamService.allocate, request, { timeoutMs });
  const ms = performance.now() - startedAt;
  acknowledged.set(name, addressIn(reply));
  return ms;
}

/** Sends `count` requests from `callers` callers. Resolves to allocations per second. */
export async function runCallers(
  connection: Connection,
  acknowledged: Acknowledged,
  { callers, count }: { readonly callers: number; readonly count: number },
): Promise<number> {
  let remaining = count;
  const caller = async (): Promise<void> => {
    while (remaining-- > 0) await allocateOnce(connection, acknowledged);
  };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: callers }, caller));
  return count / ((performance.now() - startedAt) / 1_000);
}

/**
 * What an agent learns of the ledger: what the Pods of its node need. It gets no Pod, uid, container or node of others, because a
 * node that was taken over must not read the cluster. Without an own node a caller sees everything.
 */
import type { RefusalCode } from '../../../ledger/domain/commands/refusal.ts';
import type { BoundAllocation } from '../../../ledger/domain/queries/queries.ts';
import type { CallContext } from '../../../lib/grpc/server/serve.ts';

type Viewer = Pick<CallContext, 'ownNode'>;

/** The allocation with the bindings on the agent's node. A virtual machine that migrates is bound on two nodes. */
export const visibleTo = ({ ownNode }: Viewer, allocation: BoundAllocation): BoundAllocation =>
  ownNode === undefined
    ? allocation
    : { ...allocation, bindings: allocation.bindings.filter(({ node }) => node === ownNode) };

/** The refusals whose messages name nothing but the request, its namespace, and Subnets and pools. */
const ownCauses: ReadonlySet<string> = new Set([
  'INVALID_REQUEST',
  'ADDRESS_OUT_OF_RANGE',
  'IP_FAMILY_INVALID',
  'NAMESPACE_NOT_ALLOWED',
  'NAMESPACE_QUOTA_EXCEEDED',
  'POOL_UNKNOWN',
  'PROVIDER_UNBOUND',
  'RESERVATION_UNKNOWN',
  'SUBNET_FULL',
  'SUBNET_UNKNOWN',
] satisfies RefusalCode[]);

/** The message of a refusal; without the holder of the address or the MAC for an agent. */
export function refusalVisibleTo(
  { ownNode }: Viewer,
  { reason, message }: { readonly reason: string; readonly message: string },
): string {
  if (ownNode === undefined || ownCauses.has(reason)) return message;
  const [, what] = /^AddressConflict: (\S+ of subnet \S+) /.exec(message) ?? [];
  if (what !== undefined) return `AddressConflict: ${what} is not free`;
  return reason === 'MAC_IN_USE'
    ? 'AddressConflict: the requested MAC is not free'
    : `${reason}: the ledger has the cause`;
}

/**
 * Restricts what an agent learns from the ledger to what the Pods of its node need. It does not
 * learn other Pods, uids, containers or nodes, so that a captured node cannot read the cluster. A
 * caller without an own node sees everything.
 */
import { meaningOf } from '../../../ledger/domain/commands/refusal.ts';
import type { BoundAllocation } from '../../../ledger/domain/queries/queries.ts';
import type { CallContext } from '../../../lib/grpc/server/serve.ts';

type Viewer = Pick<CallContext, 'ownNode'>;

/**
 * Returns the allocation with only the bindings on the agent's node. A migrating virtual machine is
 * bound on two nodes.
 */
export const visibleTo = ({ ownNode }: Viewer, allocation: BoundAllocation): BoundAllocation =>
  ownNode === undefined
    ? allocation
    : { ...allocation, bindings: allocation.bindings.filter(({ node }) => node === ownNode) };

/** The message of a refusal. For an agent, it omits the holder or owner of the address or MAC. */
export function refusalVisibleTo(
  { ownNode }: Viewer,
  { reason, message }: { readonly reason: string; readonly message: string },
): string {
  if (ownNode === undefined || !meaningOf(reason).namesOthers) return message;
  const [, address] = /^AddressConflict: (\S+ of subnet \S+) /.exec(message) ?? [];
  const what = address ?? 'the requested address';
  if (reason === 'ADDRESS_QUARANTINED')
    return `AddressConflict: ${what} is quarantined: remove the host that answers on it, then run \`ipledger unquarantine\`, or request another address`;
  if (reason === 'ADDRESS_RESERVED')
    return `AddressConflict: ${what} is reserved for another owner: end the reservation, or request another address`;
  if (address !== undefined) return `AddressConflict: ${what} is not free`;
  if (reason === 'MAC_RESERVED')
    return 'AddressConflict: the requested MAC is reserved for another owner, or of a quarantined address: end that, or request another MAC';
  return reason === 'MAC_IN_USE'
    ? 'AddressConflict: the requested MAC is not free'
    : `${reason}: the ledger has the cause`;
}

/** Allocations and address records as rows of the console. */
import { formatCause } from '../../../lib/ledger-text/texts.ts';
import type { AddressRecord, Allocation, Binding } from '../../../proto/generated/ipledger.ts';
import type { AddressState, AllocationRow, BindingRow } from '../api/address.ts';

const bindingRow = ({ containerId, interface: name, node, at }: Binding): BindingRow => ({
  containerId,
  interface: name,
  node,
  at,
});

export function allocationRow(allocation: Allocation): AllocationRow {
  const { seq, at, subnet, attachment, podUid, owner, node, network, addresses, mac, routes } = allocation;
  return {
    seq,
    at,
    subnet,
    provider: attachment?.provider ?? '',
    network,
    pod: { namespace: attachment?.namespace ?? '', name: attachment?.pod ?? '', uid: podUid },
    owner: owner ? { kind: owner.kind, name: owner.name } : null,
    node,
    interface: allocation.interface,
    cause: formatCause(allocation.cause),
    bindings: allocation.bindings.map(bindingRow),
    cniAnswer: { addresses, mac, routes },
  };
}

export function addressState(record: AddressRecord): AddressState {
  const { subnet, address, state, pool, allocation, bindings, releasedAt, availableAt, reservation, quarantine } =
    record;
  return {
    subnet,
    address,
    state,
    pool,
    allocation: allocation ? allocationRow(allocation) : null,
    bindings: bindings.map(bindingRow),
    releasedAt,
    availableAt,
    reservation: reservation ?? null,
    quarantine: quarantine ?? null,
  };
}

/** A conflict of an import or a recovery: what is left out or quarantined, and the remedy. Pure. */
import type { Allocation } from '../../proto/generated/ipledger.ts';
import { type KubeOvnIp, type KubeOvnSubnet, subnetContains } from '../cluster/cluster-snapshot.ts';
import type { ObservedAttachment } from './observed-attachment.ts';

export interface Conflict {
  readonly kind:
    | 'allocated twice'
    | 'allocated and reserved'
    | 'IP object and annotation'
    | 'binding file'
    | 'invalid annotation'
    | 'no evidence'
    | 'no Subnet'
    | 'out of range'
    | 'overlap'
    | 'in the ledger'
    | 'stopped virtual machine'
    | 'deleted Pod'
    // The importers for whereabouts and host-local have these
    | 'no Pod'
    | 'invalid entry'
    | 'entry and reservation'
    | 'entry and Pod'
    | 'persistent address'
    | 'network in use';
  /** The object: "Pod default/web", "Subnet lan", … */
  readonly where: string;
  readonly what: string;
  readonly remedy: string;
  /** The excluded part; absent if the conflict stops everything, which tenants cannot cause. */
  readonly leavesOut?: LeftOut;
}

export interface SubnetAddress {
  readonly subnet: string;
  readonly address: string;
}

/** An address that no Pod gets until a person has decided. */
export interface PlannedQuarantine extends SubnetAddress {
  readonly reason: string;
}

/** The part of the input that a conflict leaves out of the import. */
export interface LeftOut {
  readonly attachments?: readonly ObservedAttachment[];
  readonly ips?: readonly KubeOvnIp[];
  /** Addresses that a container may use. They are quarantined, unless they have a holder. */
  readonly addresses?: readonly SubnetAddress[];
}

/** The addresses of attachments, reservations or IP objects. */
export const addressesOf = (
  attachments: readonly Pick<ObservedAttachment, 'subnet' | 'addresses'>[],
): SubnetAddress[] => attachments.flatMap(({ subnet, addresses }) => addresses.map((address) => ({ subnet, address })));

/** The addresses of allocations. */
export const allocatedAddressesOf = (allocations: Holders['allocations']): SubnetAddress[] =>
  allocations.flatMap(({ subnet, addresses }) => addresses.map(({ address }) => ({ subnet, address })));

/** Leaves out attachments whose addresses no record decides. */
export const leaveUndecided = (attachments: readonly ObservedAttachment[]): LeftOut => ({
  attachments,
  addresses: addressesOf(attachments),
});

interface PlanParts {
  readonly attachments: readonly ObservedAttachment[];
  readonly leftovers: readonly KubeOvnIp[];
  readonly reservations: readonly Pick<ObservedAttachment, 'subnet' | 'addresses'>[];
}

/** The holders of addresses that are not quarantined, beside those of the plan. */
export interface Holders {
  readonly subnets: readonly KubeOvnSubnet[];
  readonly allocations: readonly Pick<Allocation, 'subnet' | 'addresses'>[];
}

export const subnetAddressKey = ({ subnet, address }: SubnetAddress): string => `${subnet}/${address}`;

/** Leaves the conflicts out of a plan, and quarantines addresses that containers may use. */
export function leaveOutConflicts(
  { attachments, leftovers, reservations }: PlanParts,
  conflicts: readonly Conflict[],
  { subnets, allocations }: Holders,
): Pick<PlanParts, 'attachments' | 'leftovers'> & { readonly quarantines: readonly PlannedQuarantine[] } {
  const leftOut = new Set(conflicts.flatMap(({ leavesOut }) => leavesOut?.attachments ?? []));
  const leftOutIps = new Set(conflicts.flatMap(({ leavesOut }) => leavesOut?.ips ?? []));
  const kept = attachments.filter((each) => !leftOut.has(each));
  const held = new Set(
    [...addressesOf([...kept, ...reservations]), ...allocatedAddressesOf(allocations)].map(subnetAddressKey),
  );
  const byName = new Map(subnets.map((subnet) => [subnet.name, subnet]));
  const quarantines = new Map<string, PlannedQuarantine>();
  for (const { kind, where, leavesOut } of conflicts)
    for (const each of leavesOut?.addresses ?? []) {
      const key = subnetAddressKey(each);
      const subnet = byName.get(each.subnet);
      if (held.has(key) || quarantines.has(key) || !subnet || !subnetContains(subnet, each.address)) continue;
      quarantines.set(key, { ...each, reason: `left out of the import, ${kind}: ${where}` });
    }
  return {
    attachments: kept,
    leftovers: leftovers.filter((each) => !leftOutIps.has(each)),
    quarantines: [...quarantines.values()],
  };
}

/** Takes what conflicts leave out from the parts of a plan, and quarantines addresses that its containers may use. Pure. */
import { cidrContains } from '../../lib/net/ip.ts';
import type { Allocation } from '../../proto/generated/ipledger.ts';
import type { KubeOvnIp, KubeOvnSubnet } from '../cluster/cluster-snapshot.ts';
import type { Conflict, PlannedQuarantine, SubnetAddress } from './conflict.ts';
import type { PlannedReservation } from './import-plan.ts';
import type { ObservedAttachment } from './observed-attachments.ts';

export interface PlanParts {
  readonly attachments: readonly ObservedAttachment[];
  readonly leftovers: readonly KubeOvnIp[];
  readonly reservations: readonly PlannedReservation[];
}

/** The holders of addresses that are not quarantined, beside those of the plan. */
export interface Holders {
  readonly subnets: readonly Pick<KubeOvnSubnet, 'name' | 'spec'>[];
  readonly allocations: readonly Pick<Allocation, 'subnet' | 'addresses'>[];
}

const keyOf = ({ subnet, address }: SubnetAddress): string => `${subnet}/${address}`;

export function leaveOutConflicts(
  { attachments, leftovers, reservations }: PlanParts,
  conflicts: readonly Conflict[],
  { subnets, allocations }: Holders,
): Pick<PlanParts, 'attachments' | 'leftovers'> & { readonly quarantines: readonly PlannedQuarantine[] } {
  const leftOut = new Set(conflicts.flatMap(({ leavesOut }) => leavesOut?.attachments ?? []));
  const leftOutIps = new Set(conflicts.flatMap(({ leavesOut }) => leavesOut?.ips ?? []));
  const kept = attachments.filter((each) => !leftOut.has(each));
  const held = new Set([
    ...[...kept, ...reservations].flatMap(({ subnet, addresses }) =>
      addresses.map((address) => keyOf({ subnet, address })),
    ),
    ...allocations.flatMap(({ subnet, addresses }) => addresses.map(({ address }) => keyOf({ subnet, address }))),
  ]);
  const cidrs = new Map(subnets.map(({ name, spec }) => [name, spec.cidrBlock.split(',')]));
  const quarantines = new Map<string, PlannedQuarantine>();
  for (const { kind, where, leavesOut } of conflicts)
    for (const each of leavesOut?.addresses ?? []) {
      const key = keyOf(each);
      if (held.has(key) || quarantines.has(key)) continue;
      const { subnet, address } = each;
      if (!cidrs.get(subnet)?.some((cidr) => cidrContains(cidr.trim(), address))) continue;
      quarantines.set(key, { subnet, address, reason: `left out of the import, ${kind}: ${where}` });
    }
  return {
    attachments: kept,
    leftovers: leftovers.filter((each) => !leftOutIps.has(each)),
    quarantines: [...quarantines.values()],
  };
}

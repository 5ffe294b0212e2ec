/** The answer of `ipledger import`: what is imported, or the conflicts, or what the ledger rejected. */
import type { RejectedObject } from '../../kube-ovn-import/apply-plan.ts';
import type { Conflict } from '../../kube-ovn-import/conflict.ts';
import type { ImportPlan } from '../../kube-ovn-import/import-plan.ts';
import { type Answer, formatCount } from '../../output/answer.ts';
import { createConflictListing, formatQuarantines, toConflictMessage } from '../../output/conflicts.ts';
import { textColumns, type Listing, formatTable } from '../../output/table.ts';

export interface Outcome {
  readonly applied: boolean;
  readonly conflicts: readonly Conflict[];
  readonly rejected: readonly RejectedObject[];
}

export function createAnswer(plan: ImportPlan, { applied, conflicts, rejected }: Outcome): Answer {
  const isStopped = conflicts.some(({ leavesOut }) => !leavesOut);
  const names = (objects: readonly { readonly name: string }[]): string[] => objects.map(({ name }) => name);
  const listing = createListing(plan, conflicts, rejected);
  return {
    content: {
      applied,
      conflicts: conflicts.map(toConflictMessage),
      quarantines: plan.quarantines,
      rejected,
      subnets: names(plan.subnets),
      pools: names(plan.pools),
      reservations: plan.reservations.map(({ object: _, ...reservation }) => reservation),
      attachments: plan.attachments.map(({ holder, ipObject: _, ...attachment }) => ({ ...holder, ...attachment })),
      deleted: names(plan.leftovers),
      ignored: names(plan.foreign),
    },
    listing: () => listing,
    table: (zone, width) => {
      const rows = applied && conflicts.length + rejected.length === 0 ? '' : formatTable(listing, zone, width);
      if (isStopped) return `${rows}${formatCount(conflicts.length, 'conflict')}: nothing was changed\n`;
      const decisions =
        conflicts.length > 0
          ? `${formatCount(conflicts.length, 'conflict')} left out\n${formatQuarantines(plan.quarantines)}`
          : '';
      return `${rows}${decisions}${rejected.length > 0 ? '' : `${summarize(plan)}${applied ? ' imported' : ''}\n`}`;
    },
    note: applied || isStopped ? undefined : 'nothing was changed: add --apply to import',
  };
}

/** What the ledger rejected; else the conflicts; else the plan. */
function createListing(plan: ImportPlan, conflicts: readonly Conflict[], rejected: readonly RejectedObject[]): Listing {
  const list = (header: readonly string[], rows: Listing['rows']): Listing => ({
    columns: textColumns(...header),
    rows,
  });
  if (rejected.length > 0)
    return list(
      ['REJECTED', 'WHY'],
      rejected.map(({ where, reason }) => [where, reason]),
    );
  if (conflicts.length > 0) return createConflictListing(conflicts);
  return list(['WHAT', 'NAME', 'HOW'], formatRows(plan));
}

function formatRows({ subnets, pools, reservations, attachments, leftovers, foreign }: ImportPlan): string[][] {
  return [
    ...subnets.map(({ name, spec }) => ['Subnet', name, `${spec.cidrBlock}, provider ${spec.provider || 'ovn'}`]),
    ...pools.map(({ name, spec }) => ['IPPool', name, `${spec.ips.join()} of Subnet ${spec.subnet}`]),
    ...reservations.map(({ object, addresses, subnet, reservedFor }) => [
      object.kind,
      object.name,
      `${addresses.join()} of Subnet ${subnet}, reserved for ${reservedFor}`,
    ]),
    ...attachments.map(({ holder, addresses, subnet, provider }) => [
      'Pod',
      `${holder.namespace}/${holder.name}`,
      `${addresses.join()} of Subnet ${subnet}, for ${provider}`,
    ]),
    ...leftovers.map(({ name, addresses }) => ['stale IP', name, `${addresses.join()}; the object is deleted`]),
    ...foreign.map(({ name, addresses }) => ['IP without Pod', name, `${addresses.join()}; ignored`]),
  ];
}

function summarize({ subnets, pools, reservations, attachments }: ImportPlan): string {
  return [
    formatCount(subnets.length, 'Subnet'),
    formatCount(pools.length, 'IPPool'),
    formatCount(reservations.length, 'reservation'),
    formatCount(attachments.length, 'attachment'),
  ].join(', ');
}

/** Formats an import: what is imported, the conflicts, and what the ledger rejected. */
import { providerOf } from '../cluster/cluster-snapshot.ts';
import { type Answer, formatCount } from '../output/answer.ts';
import { podKey } from '../output/format.ts';
import { formatTable, type Listing, textColumns } from '../output/table.ts';
import type { RejectedObject } from './apply-plan.ts';
import type { Conflict, PlannedQuarantine } from './conflict.ts';
import type { ImportPlan } from './import-plan.ts';
import type { ObservedAttachment } from './observed-attachment.ts';

export const createConflictListing = (conflicts: readonly Conflict[]): Listing => ({
  columns: textColumns('CONFLICT', 'WHERE', 'WHAT', 'REMEDY'),
  rows: conflicts.map(({ kind, where, what, remedy }) => [kind, where, what, remedy]),
});

export const createRejectionListing = (rejected: readonly RejectedObject[]): Listing => ({
  columns: textColumns('REJECTED', 'WHY'),
  rows: rejected.map(({ where, reason }) => [where, reason]),
});

export const toConflictMessage = ({ kind, where, what, remedy }: Conflict) => ({ kind, where, what, remedy });

export const toAttachmentMessage = ({ holder, ipObject: _, ...attachment }: ObservedAttachment) => ({
  ...holder,
  ...attachment,
});

/** Lists the quarantined addresses; "" for none. */
export const formatQuarantines = (quarantines: readonly PlannedQuarantine[]): string =>
  quarantines.length === 0
    ? ''
    : `quarantined: ${quarantines.map(({ address, subnet }) => `${address} of Subnet ${subnet}`).join(', ')}
No Pod gets these addresses. After a decision: ipledger unquarantine ADDRESS --subnet SUBNET --reason WHY\n`;

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
      attachments: plan.attachments.map(toAttachmentMessage),
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

/** Lists what the ledger rejected; else the conflicts; else the plan. */
function createListing(plan: ImportPlan, conflicts: readonly Conflict[], rejected: readonly RejectedObject[]): Listing {
  if (rejected.length > 0) return createRejectionListing(rejected);
  if (conflicts.length > 0) return createConflictListing(conflicts);
  return { columns: textColumns('WHAT', 'NAME', 'HOW'), rows: formatRows(plan) };
}

function formatRows({ subnets, pools, reservations, attachments, leftovers, foreign }: ImportPlan): string[][] {
  return [
    ...subnets.map((subnet) => ['Subnet', subnet.name, `${subnet.spec.cidrBlock}, provider ${providerOf(subnet)}`]),
    ...pools.map(({ name, spec }) => ['IPPool', name, `${spec.ips.join()} of Subnet ${spec.subnet}`]),
    ...reservations.map(({ object, addresses, subnet, reservedFor }) => [
      object.kind,
      object.name,
      `${addresses.join()} of Subnet ${subnet}, reserved for ${reservedFor}`,
    ]),
    ...attachments.map(({ holder, addresses, subnet, provider }) => [
      'Pod',
      podKey(holder),
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

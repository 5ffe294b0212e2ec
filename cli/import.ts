/** `ipledger import kube-ovn`: takes over what Kube-OVN's controller gave, so that nothing changes its address. */
import type { Command } from 'commander';
import { kubeOvnLease, kubeOvnRuns } from '../lib/kube-ovn.ts';
import { SubnetsService } from '../proto/ipledger.ts';
import { everyAllocation } from './allocations.ts';
import type { Allocator } from './allocator.ts';
import { away } from './away.ts';
import { exitStatus } from './failure.ts';
import { apply, type Refused } from './import/apply.ts';
import { type Conflict, conflictsOf } from './import/conflicts.ts';
import { type Plan, planOf } from './import/plan.ts';
import { takeSnapshot } from './snapshot.ts';
import { connectKubernetes } from './kubernetes.ts';
import { type Answer, counted } from './output.ts';
import { columnsOf, type Listing, tableOf } from './table.ts';
import { addVerb, answer, type VerbOptions } from './verb.ts';

interface ImportOptions extends VerbOptions {
  readonly apply: boolean;
}

export function addImport(program: Command): void {
  const from = program.command('import').description('take over what another system gave');
  addVerb(from, 'kube-ovn', 'Subnets, IPPools, IPs, Vips and the Pods that have addresses')
    .option('--apply', 'do it; without, only what would be done is told', false)
    .addHelpText(
      'after',
      `
Reads the cluster that KUBECONFIG names. First stop kube-ovn-controller; then import; then start the pod-watcher. While anything
stands against it, nothing is done, and all of that is told. A run that broke off is run again.

Exit status:
  0  done, or it could be
  ${exitStatus.refused}  something stands against it, or the ledger did not take all of it`,
    )
    .action((options: ImportOptions) => answer(options, (allocator, signal) => takeOver(allocator, options, signal)));
}

async function takeOver(allocator: Allocator, options: ImportOptions, signal: AbortSignal): Promise<Answer> {
  const kubernetes = await connectKubernetes(signal);
  await away(kubernetes, { lease: kubeOvnLease, says: (who) => kubeOvnRuns(who, 'import') }, signal);
  const snapshot = await takeSnapshot(kubernetes);
  const { subnets } = await allocator.ask(SubnetsService.listSubnets, {});
  const { allocations } = await everyAllocation(allocator, {});
  const plan = planOf(snapshot);
  const conflicts = conflictsOf(plan, snapshot, { subnets, allocations });
  const applied = options.apply && conflicts.length === 0;
  const refused = applied ? await apply(plan, { allocator, kubernetes }) : [];
  if (conflicts.length + refused.length > 0) process.exitCode = exitStatus.refused;
  return told(plan, { applied, conflicts, refused });
}

interface Outcome {
  readonly applied: boolean;
  readonly conflicts: readonly Conflict[];
  readonly refused: readonly Refused[];
}

function told(plan: Plan, { applied, conflicts, refused }: Outcome): Answer {
  const names = (objects: readonly { readonly name: string }[]): string[] => objects.map(({ name }) => name);
  const listing = listingOf(plan, conflicts, refused);
  return {
    content: {
      applied,
      conflicts,
      refused,
      subnets: names(plan.subnets),
      pools: names(plan.pools),
      reservations: plan.reservations.map(({ object: _, ...held }) => held),
      claims: plan.claims.map(({ holder, ip: _, ...claim }) => ({ ...holder, ...claim })),
      deleted: names(plan.leftovers),
      leftAlone: names(plan.foreign),
    },
    listing: () => listing,
    table: (zone, width) => {
      const rows = applied && refused.length === 0 ? '' : tableOf(listing, zone, width);
      if (conflicts.length > 0) return `${rows}${against(conflicts.length)}\n`;
      return refused.length > 0 ? rows : `${rows}${summary(plan)}${applied ? ' taken over' : ''}\n`;
    },
    note: applied || conflicts.length > 0 ? undefined : 'nothing was changed: --apply does it',
  };
}

/** What stands against it; else what the ledger refused; else what there is to take over. */
function listingOf(plan: Plan, conflicts: readonly Conflict[], refused: readonly Refused[]): Listing {
  const of = (head: readonly string[], rows: Listing['rows']): Listing => ({
    columns: columnsOf(...head),
    rows,
  });
  if (conflicts.length > 0)
    return of(
      ['CONFLICT', 'WHERE', 'WHAT', 'WHAT TO DO'],
      conflicts.map(({ kind, where, what, remedy }) => [kind, where, what, remedy]),
    );
  if (refused.length > 0)
    return of(
      ['NOT TAKEN OVER', 'WHY'],
      refused.map(({ where, reason }) => [where, reason]),
    );
  return of(['WHAT', 'NAME', 'HOW'], rowsOf(plan));
}

const against = (count: number): string =>
  `${count} ${count === 1 ? 'thing stands' : 'things stand'} against it: nothing was changed`;

function rowsOf({ subnets, pools, reservations, claims, leftovers, foreign }: Plan): string[][] {
  return [
    ...subnets.map(({ name, spec }) => ['Subnet', name, `${spec.cidrBlock}, provider ${spec.provider || 'ovn'}`]),
    ...pools.map(({ name, spec }) => ['IPPool', name, `${spec.ips.join()} of Subnet ${spec.subnet}`]),
    ...reservations.map(({ object, addresses, subnet, reservedFor }) => [
      object.kind,
      object.name,
      `${addresses.join()} of Subnet ${subnet}, reserved for ${reservedFor}`,
    ]),
    ...claims.map(({ holder, addresses, subnet, provider }) => [
      'Pod',
      `${holder.namespace}/${holder.name}`,
      `${addresses.join()} of Subnet ${subnet}, for ${provider}`,
    ]),
    ...leftovers.map(({ name, addresses }) => ['IP of nobody', name, `${addresses.join()}; the object is deleted`]),
    ...foreign.map(({ name, addresses }) => ['IP of no Pod', name, `${addresses.join()}; left alone`]),
  ];
}

function summary({ subnets, pools, reservations, claims }: Plan): string {
  return [
    counted(subnets.length, 'Subnet'),
    counted(pools.length, 'IPPool'),
    counted(reservations.length, 'reservation'),
    counted(claims.length, 'attachment'),
  ].join(', ');
}

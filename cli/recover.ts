/** `ipledger recover`: after etcd was restored from a backup, brings the ledger up to what the cluster shows. */
import type { Command } from 'commander';
import { type GetStatusReply, LedgerService, SubnetsService } from '../proto/ipledger.ts';
import { everyAllocation } from './allocations.ts';
import type { Allocator } from './allocator.ts';
import { podOf, said } from './check/say.ts';
import { exitStatus, Failure } from './failure.ts';
import type { Refused } from './import/apply.ts';
import { connectKubernetes } from './kubernetes.ts';
import { type Answer, counted } from './output.ts';
import { recover } from './recover/apply.ts';
import { lostOf, notBroughtBack, stretchSentence } from './recover/lost.ts';
import { type Recovery, recoveryOf } from './recover/plan.ts';
import { type Remembered, rememberedIn } from './record/remembered.ts';
import { takeSnapshot } from './snapshot.ts';
import { table } from './table.ts';
import { showTime, type Zone } from './times.ts';
import { addVerb, answer, type VerbOptions } from './verb.ts';

interface RecoverOptions extends VerbOptions {
  readonly apply: boolean;
  readonly unnoticed: boolean;
  readonly reason?: string;
  readonly remembered?: string;
}

export function addRecover(program: Command): void {
  addVerb(program, 'recover', 'after etcd was restored from a backup: what the ledger lacks of what the cluster shows')
    .option('--apply', 'bring it up to that, and let it go on; without, only what would be done is told', false)
    .option('--reason <text>', 'why; it stays in the ledger for good (needed with --apply)')
    .option('--unnoticed', 'go on also where nobody remembers more of the ledger than it holds', false)
    .option('--remembered <export>', 'tell what was done by hand and is lost, from an export made after the backup')
    .addHelpText(
      'after',
      `
A ledger that was rewound is frozen as soon as anybody notices who has seen more of it: nothing is given or taken then. This compares it
with the Subnets, IPPools, IP objects and Pods of the cluster that KUBECONFIG names. With --apply it begins a new epoch (LedgerRestored),
takes back what nobody uses any more, imports what Pods use, and ends the freeze. A run that broke off is run again.

Exit status:
  0  done, or it could be
  ${exitStatus.refused}  the ledger did not take all of it: it stays frozen`,
    )
    .action((options: RecoverOptions) => answer(options, (allocator, signal) => run(allocator, options, signal)));
}

async function run(allocator: Allocator, options: RecoverOptions, signal: AbortSignal): Promise<Answer> {
  const { reason = '', unnoticed } = options;
  if (options.apply && reason === '') throw new Failure('usage', '--apply needs --reason: it stays in the ledger');
  const kubernetes = await connectKubernetes(signal);
  const status = await allocator.ask(LedgerService.getStatus, {});
  const remembered = options.remembered === undefined ? undefined : await rememberedIn(options.remembered, allocator);
  const snapshot = await takeSnapshot(kubernetes);
  const { allocations } = await everyAllocation(allocator, {});
  const { subnets } = await allocator.ask(SubnetsService.listSubnets, {});
  const { pools } = await allocator.ask(SubnetsService.listPools, {});
  const recovery = recoveryOf(snapshot, { allocations, subnets, pools });
  if (!options.apply) return told(recovery, { status, remembered, applied: false, refused: [] });
  const refused = await recover(recovery, { reason, unnoticed }, { allocator, kubernetes });
  if (refused.length > 0) process.exitCode = exitStatus.refused;
  return told(recovery, { status, remembered, applied: true, refused });
}

interface Outcome {
  /** As it was found. */
  readonly status: GetStatusReply;
  readonly remembered: Remembered | undefined;
  readonly applied: boolean;
  readonly refused: readonly Refused[];
}

function told(recovery: Recovery, { status, remembered, applied, refused }: Outcome): Answer {
  const { subnets, pools, releases, imports } = recovery;
  const rows = rowsOf(recovery);
  return {
    content: {
      position: status.position,
      freeze: status.freeze,
      lost: lostOf(status),
      remembered,
      applied,
      refused,
      subnets: subnets.map(({ name }) => name),
      pools: pools.map(({ name }) => name),
      releases: releases.map(({ allocation, why }) => ({ ...allocation, why })),
      imports: imports.map(({ holder, ip: _, ...claim }) => ({ ...holder, ...claim })),
    },
    table: (zone) => {
      const left = refused.map(({ where, reason }) => [where, reason]);
      const list = refused.length > 0 ? table(refusedHead, left) : rows.length > 0 ? table(head, rows) : '';
      const end = applied && refused.length === 0 ? ': done' : '';
      const byHand = remembered ? lostByHand(remembered) : status.freeze ? notBroughtBack : '';
      return `${list}${standing(status, zone)}${summary(recovery)}${end}\n${byHand}`;
    },
    note: applied ? undefined : 'nothing was changed: --apply --reason … does it',
  };
}

const head = ['WHAT', 'OF', 'HOW'];
const refusedHead = ['NOT TAKEN OVER', 'WHY'];

function standing(status: GetStatusReply, zone: Zone): string {
  const { position, at, freeze } = status;
  const here = `the ledger is at epoch ${position?.epoch ?? 0}, event ${position?.seq ?? 0} of ${showTime(at, zone)}`;
  if (!freeze) return `${here}, and not frozen: nobody remembers more of it\n`;
  const { known, by } = freeze;
  const since = `frozen since ${showTime(freeze.at, zone)}`;
  const lost = lostOf(status);
  return [
    `${here}, and ${since}: ${by} remembers event ${known?.seq ?? 0} of epoch ${known?.epoch ?? 0}\n`,
    ...(lost ? [`${stretchSentence(lost, zone)}\n`] : []),
  ].join('');
}

function lostByHand({ types, commands }: Remembered): string {
  const all = Object.entries(types).map(([type, count]) => `${count} ${type}`);
  if (all.length === 0) return '\nthe export has no event that the ledger lacks\n';
  const head = `\nthe export has events that the ledger lacks: ${all.join(', ')}\n`;
  if (commands.length === 0) return `${head}nothing of it was done by hand\n`;
  return `${head}what was done by hand, to be done again once the ledger goes on:\n${commands.map((each) => `  ${each}\n`).join('')}`;
}

const rowsOf = ({ subnets, pools, releases, imports }: Recovery): string[][] => [
  ...subnets.map(({ name, spec }) => ['Subnet is missing', name, `configure ${spec.cidrBlock}`]),
  ...pools.map(({ name, spec }) => ['IPPool is missing', name, `configure ${spec.ips.join()} of ${spec.subnet}`]),
  ...releases.map(({ allocation, why }) => [
    'holds what it should not',
    `Pod ${podOf(allocation.attachment)}`,
    `take back ${said(allocation)}: ${why}`,
  ]),
  ...imports.map(({ holder, addresses, subnet, provider }) => [
    'address is missing',
    `Pod ${holder.namespace}/${holder.name}`,
    `import ${addresses.join()} of subnet ${subnet} (${provider}, uid ${holder.uid})`,
  ]),
];

const summary = ({ subnets, pools, releases, imports }: Recovery): string =>
  [
    `${counted(subnets.length, 'Subnet')} and ${counted(pools.length, 'IPPool')} to configure`,
    `${counted(releases.length, 'allocation')} to take back`,
    `${counted(imports.length, 'attachment')} to import`,
  ].join(', ');

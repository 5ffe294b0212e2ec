/** `ipledger recover`: after etcd was restored from a backup, brings the ledger up to what the cluster shows. */
import type { Command } from 'commander';
import { LedgerService, SubnetsService } from '../proto/ipledger.ts';
import { everyAllocation } from './allocations.ts';
import type { Allocator } from './allocator.ts';
import { exitStatus, Failure } from './failure.ts';
import { connectKubernetes } from './kubernetes.ts';
import type { Answer } from './output.ts';
import { recover } from './recover/apply.ts';
import { recoveryOf } from './recover/plan.ts';
import { told } from './recover/tell.ts';
import { rememberedIn } from './record/remembered.ts';
import { takeSnapshot } from './snapshot.ts';
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
takes back what nobody uses any more, imports what Pods use, and ends the freeze. A run that broke off is run again. Of two runs at
once only one begins the epoch: the other one is told so, and does nothing.

Exit status:
  0  done, or it could be
  ${exitStatus.refused}  the ledger did not take all of it: it stays frozen`,
    )
    .action((options: RecoverOptions) => answer(options, (allocator, signal) => run(allocator, options, signal)));
}

async function run(allocator: Allocator, options: RecoverOptions, signal: AbortSignal): Promise<Answer> {
  const { reason = '', unnoticed } = options;
  if (options.apply && reason.trim() === '')
    throw new Failure('usage', '--apply needs --reason: it stays in the ledger');
  const kubernetes = await connectKubernetes(signal);
  const status = await allocator.ask(LedgerService.getStatus, {});
  const remembered = options.remembered === undefined ? undefined : await rememberedIn(options.remembered, allocator);
  const snapshot = await takeSnapshot(kubernetes);
  const { allocations } = await everyAllocation(allocator, {});
  const { subnets } = await allocator.ask(SubnetsService.listSubnets, {});
  const { pools } = await allocator.ask(SubnetsService.listPools, {});
  const recovery = recoveryOf(snapshot, { allocations, subnets, pools });
  if (!options.apply) return told(recovery, { status, remembered, applied: false, refused: [] });
  const { position: compared = { epoch: 0, seq: 0, hash: '' } } = status;
  const refused = await recover(recovery, { reason, unnoticed, compared }, { allocator, kubernetes });
  if (refused.length > 0) process.exitCode = exitStatus.refused;
  return told(recovery, { status, remembered, applied: true, refused });
}

/** What the imports of all sources share: the option `--apply`, and the way from a plan to an answer. */
import type { Command } from 'commander';
import { SubnetsService } from '../../../proto/generated/ipledger.ts';
import type { KubernetesClient } from '../../clients/kubernetes-client.ts';
import type { LedgerClient } from '../../clients/ledger-client.ts';
import { listAllocations } from '../../clients/list-allocations.ts';
import { type ClusterSnapshot, readClusterSnapshot } from '../../cluster/cluster-snapshot.ts';
import type { AddressPlan } from '../../ipam-import/plan-addresses.ts';
import { applyPlan } from '../../kube-ovn-import/apply-plan.ts';
import type { LedgerContents } from '../../kube-ovn-import/conflicts.ts';
import { leaveOutConflicts } from '../../kube-ovn-import/leave-out.ts';
import type { Answer } from '../../output/answer.ts';
import { exitStatus } from '../../program/exit-status.ts';
import { createAnswer } from './answer.ts';

/** Adds `--apply`, and the help text: `steps` states the order of the imports. */
export const addApplyOption = (source: Command, steps: string): Command =>
  source.option('--apply', 'import; without it, only print what would be imported', false).addHelpText(
    'after',
    `
${steps}

Exit status:
  0  imported; without --apply: no conflicts
  ${exitStatus.refused}  there are conflicts, or the ledger rejected a part`,
  );

export interface ImportTarget {
  readonly allocator: LedgerClient;
  readonly kubernetes: KubernetesClient;
  readonly apply: boolean;
}

/** Plans an import. With `apply` it also runs, without what conflicts leave out, and unless a conflict stops it. */
export async function runImport(
  { allocator, kubernetes, apply }: ImportTarget,
  makePlan: (snapshot: ClusterSnapshot, ledger: LedgerContents) => AddressPlan,
): Promise<Answer> {
  const { subnets } = await allocator.call(SubnetsService.listSubnets, {});
  const { allocations } = await listAllocations(allocator, {});
  const snapshot = await readClusterSnapshot(kubernetes);
  const { plan: complete, conflicts } = makePlan(snapshot, { subnets, allocations });
  const plan = { ...complete, ...leaveOutConflicts(complete, conflicts, { allocations, subnets: snapshot.subnets }) };
  const applied = apply && conflicts.every(({ leavesOut }) => leavesOut);
  const rejected = applied ? await applyPlan(plan, { allocator, kubernetes }) : [];
  if (conflicts.length + rejected.length > 0) process.exitCode = exitStatus.refused;
  return createAnswer(plan, { applied, conflicts, rejected });
}

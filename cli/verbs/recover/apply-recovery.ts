/** Applies a recovery plan to a restored ledger. Every step is idempotent, and the ledger stays frozen until the last one. */
import { IpamService, LedgerService, type Position } from '../../../proto/generated/ipledger.ts';
import { applyPlan, type RejectedObject, type ImportTarget } from '../../kube-ovn-import/apply-plan.ts';
import type { RecoveryPlan, PlannedRelease } from './recovery-plan.ts';

/** The data of the event that starts the new epoch. */
export interface RecoveryReason {
  readonly reason: string;
  /** Recover although the ledger is not frozen. */
  readonly freezeFirst: boolean;
  /** The position at the comparison. The allocator rejects the recovery if another run has started an epoch since. */
  readonly comparedPosition: Position;
}

/**
 * @returns what the ledger rejected; then it stays frozen.
 * @throws CliError, IpledgerError when allocator or API do not answer; completed steps stay. IpledgerError POSITION_GONE when another
 *   run has started a new epoch since the comparison; nothing was changed.
 */
export async function applyRecovery(
  recovery: RecoveryPlan,
  reason: RecoveryReason,
  target: ImportTarget,
): Promise<RejectedObject[]> {
  const { allocator } = target;
  await allocator.call(LedgerService.restore, reason);
  for (const release of recovery.releases) await releaseWithBindings(release, reason, target);
  const { subnets, pools, imports } = recovery;
  const rejected = await applyPlan(
    { subnets, pools, attachments: imports, reservations: [], leftovers: [], foreign: [] },
    target,
  );
  if (rejected.length === 0) await allocator.call(LedgerService.unfreeze, {});
  return rejected;
}

/** Ends the bindings, too: the containers do not exist any more. */
async function releaseWithBindings(
  { allocation, reason: why }: PlannedRelease,
  { reason }: RecoveryReason,
  { allocator }: ImportTarget,
): Promise<void> {
  const { attachment, podUid, seq: allocationSeq, bindings } = allocation;
  const { namespace, pod } = attachment ?? {};
  const evidence = `${reason}: ${why}`;
  const cause = 'RELEASE_CAUSE_OPERATOR';
  await allocator.call(IpamService.release, { namespace, pod, podUid, cause, evidence, allocationSeq });
  for (const { containerId, interface: name } of bindings)
    await allocator.call(IpamService.unbind, {
      containerId,
      interface: name,
      cause: 'UNBIND_CAUSE_GARBAGE_COLLECTED',
    });
}

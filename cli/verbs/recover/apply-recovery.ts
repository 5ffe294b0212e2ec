/** Applies a recovery plan. Steps are idempotent; the ledger stays frozen until the last step. */
import { IpamService, LedgerService, type Position } from '../../../proto/generated/ipledger.ts';
import { applyPlan, type RejectedObject, type ImportTarget } from '../../import/apply-plan.ts';
import type { RecoveryPlan, PlannedRelease } from './recovery-plan.ts';

/** The data of the event that starts the new epoch. */
export interface RecoveryReason {
  readonly reason: string;
  /** Whether to recover although the ledger is not frozen. */
  readonly freezeFirst: boolean;
  /** The position at the comparison: the allocator rejects a recovery if the epoch has changed. */
  readonly comparedPosition: Position;
  /**
   * Waits until the agents have bound the containers again that the backup lacks. Without their
   * bindings, an address would be free as soon as its Pod ends or leaves the network.
   */
  readonly waitForAgents: () => Promise<void>;
}

/**
 * Applies the plan. The ledger stays frozen if it rejected anything but a Pod, which is returned.
 * @throws CliError, IpledgerError when allocator or API do not answer; completed steps stay.
 * IpledgerError POSITION_GONE when another run has started a new epoch since the comparison;
 * nothing was changed.
 */
export async function applyRecovery(
  recovery: RecoveryPlan,
  reason: RecoveryReason,
  target: ImportTarget,
): Promise<RejectedObject[]> {
  const { allocator } = target;
  const { waitForAgents, ...restored } = reason;
  await allocator.call(LedgerService.restore, restored);
  for (const each of recovery.releases) await release(each, reason, target);
  for (const { binding } of recovery.staleBindings)
    await allocator.call(IpamService.unbind, {
      containerId: binding?.containerId ?? '',
      interface: binding?.interface ?? '',
      cause: 'UNBIND_CAUSE_GARBAGE_COLLECTED',
      evidence: reason.reason,
    });
  const { subnets, pools, imports, quarantines } = recovery;
  const rejected = await applyPlan(
    { subnets, pools, attachments: imports, reservations: [], leftovers: [], foreign: [], quarantines },
    target,
    waitForAgents,
  );
  if (keepsFrozen(rejected)) return rejected;
  // Also after a wait before the last imports: the agents bind only what the ledger has
  await waitForAgents();
  await allocator.call(LedgerService.unfreeze, {});
  return rejected;
}

/** Whether the ledger stays frozen. A tenant's rejected Pod does not count: it is quarantined. */
export const keepsFrozen = (rejected: readonly RejectedObject[]): boolean => rejected.some(({ isPod }) => !isPod);

/** Releases an allocation. Its bindings stay until CNI DEL or the deletion of the Node. */
async function release(
  { allocation, reason: why }: PlannedRelease,
  { reason }: RecoveryReason,
  { allocator }: ImportTarget,
): Promise<void> {
  const { attachment, podUid, seq: allocationSeq } = allocation;
  const { namespace, pod } = attachment ?? {};
  const evidence = `${reason}: ${why}`;
  const cause = 'RELEASE_CAUSE_OPERATOR';
  await allocator.call(IpamService.release, { namespace, pod, podUid, cause, evidence, allocationSeq });
}

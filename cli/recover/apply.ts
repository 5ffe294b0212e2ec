/**
 * Lets a restored ledger go on. Each step may be done again, so a run that broke off is simply run again; until the last one
 * the ledger stays frozen.
 */
import { IpamService, LedgerService, type Position } from '../../proto/ipledger.ts';
import { apply, type Refused, type Target } from '../import/apply.ts';
import type { Recovery, Release } from './plan.ts';

/** Why, for the event that begins the new epoch. */
export interface Because {
  readonly reason: string;
  /** Nobody noticed that it was rewound: it is taken on our word. */
  readonly unnoticed: boolean;
  /** Where the ledger stood before it was compared: whoever else has let it go on since did so in our place. */
  readonly compared: Position;
}

/**
 * @returns what the ledger did not take: it stays frozen then.
 * @throws Failure, IpledgerError when allocator or API do not answer; what was done until then stays. IpledgerError POSITION_GONE when
 *   somebody else has begun a new epoch since it was compared: nothing was done.
 */
export async function recover(recovery: Recovery, because: Because, target: Target): Promise<Refused[]> {
  const { allocator } = target;
  await allocator.ask(LedgerService.restore, because);
  for (const release of recovery.releases) await takeBack(release, because, target);
  const { subnets, pools, imports: claims } = recovery;
  const refused = await apply({ subnets, pools, claims, reservations: [], leftovers: [], foreign: [] }, target);
  if (refused.length === 0) await allocator.ask(LedgerService.thaw, {});
  return refused;
}

/** Its containers are gone as well: nothing of it is kept back for them. */
async function takeBack({ allocation, why }: Release, { reason }: Because, { allocator }: Target): Promise<void> {
  const { attachment, podUid, seq: allocationSeq, bindings } = allocation;
  const { namespace, pod } = attachment ?? {};
  const evidence = `${reason}: ${why}`;
  const cause = 'RELEASE_CAUSE_OPERATOR';
  await allocator.ask(IpamService.release, { namespace, pod, podUid, cause, evidence, allocationSeq });
  for (const { containerId, interface: name } of bindings)
    await allocator.ask(IpamService.unbind, {
      containerId,
      interface: name,
      cause: 'UNBIND_CAUSE_GARBAGE_COLLECTED',
    });
}

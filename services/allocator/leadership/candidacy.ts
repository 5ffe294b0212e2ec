/** Makes a replica stand for election while its clock agrees with other replicas. */
import { once } from 'node:events';
import type { Etcd3 } from 'etcd3';
import type { Logger } from '../../../lib/process/log.ts';
import { campaign, type Candidate, type Term } from '../../../ledger/log/writer/election.ts';
import type { Membership } from '../../../ledger/log/writer/membership.ts';
import type { ReferenceClocks } from './reference-clocks.ts';

export interface CandidacyOptions {
  readonly etcd: Etcd3;
  readonly self: Candidate;
  readonly membership: Pick<Membership, 'untilClockAgrees' | 'clockSkewed'>;
  readonly clocks: Pick<ReferenceClocks, 'untilAgrees'>;
  /** When it is aborted, the replica stays a standby until the signal of `elect` is aborted. */
  readonly stopping: AbortSignal;
  readonly log: Logger;
}

/** Returns `elect`, which resolves with the term when this replica is elected. */
export function createCandidacy({ etcd, self, membership, clocks, stopping, log }: CandidacyOptions) {
  return async (signal: AbortSignal): Promise<Term> => {
    const standing = AbortSignal.any([signal, stopping]);
    while (!standing.aborted) {
      await Promise.all([membership.untilClockAgrees(standing), clocks.untilAgrees(standing)]);
      const eligible = AbortSignal.any([standing, membership.clockSkewed]);
      // A campaign rejects only when its signal is aborted.
      const term = await campaign(etcd, self, eligible, log).catch(() => undefined);
      if (term) return term;
    }
    if (!signal.aborted) await once(signal, 'abort');
    return Promise.reject(signal.reason as Error);
  };
}

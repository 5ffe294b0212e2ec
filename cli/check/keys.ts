/** The log, the claims and every other key in etcd, held against each other at one revision: the allocator does that. */
import { IpledgerError } from '../../lib/errors.ts';
import { type Finding, LedgerService } from '../../proto/ipledger.ts';
import { Failure } from '../failure.ts';
import { mendingOf } from '../mending.ts';
import type { Asked } from './ledger.ts';
import type { Disagreement } from './picture.ts';

/**
 * Every key that is not as the log says.
 * @throws Failure without a verdict; IpledgerError when the allocator refuses, or the asking was ended.
 */
export async function compareKeys({ allocator, signal }: Pick<Asked, 'allocator' | 'signal'>): Promise<Disagreement[]> {
  for await (const { done, findings } of allocator.listen(LedgerService.verify, {}))
    if (done) return findings.map(disagreement);
  if (signal.aborted) throw IpledgerError.from(signal.reason);
  throw new Failure('notCompared', 'the allocator ended its verification without a verdict');
}

function disagreement(finding: Finding): Disagreement {
  return { kind: 'key', where: finding.key, what: finding.what, remedy: mendingOf(finding) };
}

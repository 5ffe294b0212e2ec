/** Compares every key in etcd with the log. The allocator does that, at one revision. */
import { IpledgerError } from '../../../lib/errors.ts';
import { type Finding, LedgerService } from '../../../proto/generated/ipledger.ts';
import { CliError } from '../../program/cli-error.ts';
import { formatRepairCommand } from '../../output/repair-command.ts';
import type { LedgerEndpoints } from './read-ledger.ts';
import type { Disagreement } from './disagreement.ts';

/**
 * Every key that differs from what the log implies.
 * @throws CliError without a result; IpledgerError when the allocator rejects the request, or after an abort.
 */
export async function compareKeys({
  allocator,
  signal,
}: Pick<LedgerEndpoints, 'allocator' | 'signal'>): Promise<Disagreement[]> {
  for await (const { done, findings } of allocator.stream(LedgerService.verify, {}))
    if (done) return findings.map(createDisagreement);
  if (signal.aborted) throw IpledgerError.from(signal.reason);
  throw new CliError('notCompared', 'the allocator ended its verification without a result');
}

function createDisagreement(finding: Finding): Disagreement {
  return { kind: 'key', where: finding.key, what: finding.what, remedy: formatRepairCommand(finding) };
}

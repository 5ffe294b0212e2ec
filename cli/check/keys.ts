/** The log, the claims and every other key in etcd, held against each other at one revision: the allocator does that. */
import { IpledgerError } from '../../lib/errors.ts';
import { type Finding, LedgerService } from '../../proto/ipledger.ts';
import { Failure } from '../failure.ts';
import type { Asked } from './ledger.ts';
import type { Disagreement } from './picture.ts';
import { command } from './say.ts';

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

function disagreement({ key, what, expected }: Finding): Disagreement {
  const remedy =
    expected === ''
      ? command(['etcdctl', 'get', key], 'docs/audit.md tells what this proves; nothing but a backup mends the log')
      : command(['etcdctl', 'put', key, expected], 'what the log says of it; then restart the allocators');
  return { kind: 'key', where: key, what, remedy };
}

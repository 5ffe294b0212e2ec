/** Finds the addresses of a selftest that no other Pod gets yet: in cooldown, or held. */
import { errorMessage } from '../../../lib/errors.ts';
import { formatPodName } from '../../../lib/ledger-text/texts.ts';
import { type AddressRecord, IpamService } from '../../../proto/generated/ipledger.ts';
import type { LedgerClient } from '../../clients/ledger-client.ts';
import { readHistory } from '../../clients/read-history.ts';
import { describeContainer, endOfBinding } from '../../output/format.ts';
import { namespaceOf, podsOf, type TestPlan } from './test-objects.ts';

const maxEvents = 1_000;

/**
 * Sentences about addresses of a network that stays. The Subnet of a network of its own is removed.
 * Never throws.
 */
export async function findUnfreeAddresses(plan: TestPlan, allocator: LedgerClient): Promise<string[]> {
  if (typeof plan.network !== 'string') return [];
  const namespace = namespaceOf(plan);
  try {
    const used = new Map<string, { readonly subnet: string; readonly address: string }>();
    for (const { name } of podsOf(plan))
      for await (const { events } of readHistory(allocator, { namespace, pod: name }, maxEvents))
        for (const { type, subnet, before } of events)
          if (type === 'AddressAllocated')
            for (const { address } of before) used.set(`${subnet} ${address}`, { subnet, address });
    const records = await Promise.all([...used.values()].map((each) => allocator.call(IpamService.getAddress, each)));
    return records.flatMap(({ record }) => (record && describeState(record, namespace)) ?? []);
  } catch (error) {
    return [`the addresses of the Pods could not be read: ${errorMessage(error)}`];
  }
}

function describeState(record: AddressRecord, namespace: string): string | undefined {
  const { subnet, address, state, allocation, availableAt } = record;
  const where = `${address} of subnet ${subnet}`;
  if (allocation?.attachment?.namespace === namespace)
    return `${where} is not released. Run: ipledger why ${formatPodName(allocation.attachment)}`;
  if (state === 'cooldown') return `${where} is in cooldown until ${availableAt}`;
  const [binding] = record.bindings;
  if (state !== 'held' || !binding) return undefined;
  const until = availableAt === '' ? endOfBinding(binding.node) : `it is free at ${availableAt}`;
  return `${where} is held: ${describeContainer(binding)}, may still answer on it; ${until}`;
}

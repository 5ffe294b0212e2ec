/** `ipledger release`: releases allocations. */
import type { Command } from 'commander';
import { type AddressRecord, type Allocation, IpamService, type Position } from '../../proto/generated/ipledger.ts';
import { findSubnet, readAddressRecord } from '../clients/find-address.ts';
import type { LedgerClient } from '../clients/ledger-client.ts';
import { listAllocations } from '../clients/list-allocations.ts';
import type { Answer } from '../output/answer.ts';
import { formatAddresses, formatAllocation } from '../output/format.ts';
import { formatPodName } from '../../lib/ledger-text/texts.ts';
import { textColumns } from '../output/table.ts';
import { CliError } from '../cli-error.ts';
import { confirm, addDestructiveOptions, type DestructiveOptions } from '../program/operation-verb.ts';
import { runAndPrint } from '../program/verb.ts';

export function defineRelease(verb: Command): void {
  addDestructiveOptions(verb)
    .addHelpText(
      'after',
      `
Releases only the allocations that were shown: an address that another Pod holds by then stays allocated. While a container may
still answer on the address, the address is not allocated again. A running Pod requests an address again, and may get the same.`,
    )
    .action((subject: string, { reason, yes, subnet, ...options }: DestructiveOptions) =>
      runAndPrint(options, async (allocator, signal) => {
        const allocations = await findAllocations(allocator, subject, subnet);
        await confirm({ lines: allocations.map(describeAllocation), question: 'Release this?', yes }, signal);
        return createAnswer(await releaseAll(allocator, allocations, reason));
      }),
    );
}

/** @throws CliError without an allocation. */
async function findAllocations(
  allocator: LedgerClient,
  subject: string,
  subnet: string | undefined,
): Promise<Allocation[]> {
  const [namespace, pod, ...rest] = subject.split('/');
  if (pod !== undefined && rest.length === 0) {
    const { allocations } = await listAllocations(allocator, { namespace, pod, subnet });
    if (allocations.length > 0) return allocations;
    throw new CliError('refused', `Pod ${subject} has no address${subnet === undefined ? '' : ` of subnet ${subnet}`}`);
  }
  const found = await findSubnet(allocator, [subject], subnet);
  const record = await readAddressRecord(allocator, found, subject);
  if (record.allocation) return [record.allocation];
  throw new CliError('refused', `${subject} of subnet ${found} is not allocated: it is ${describeState(record)}`);
}

/** Describes the state of an address without an allocation, and what ends it. */
function describeState({ state, bindings: [binding], availableAt }: AddressRecord): string {
  if (state !== 'held' || !binding) return state;
  const { containerId, node } = binding;
  const until = availableAt === '' ? '' : ` until ${availableAt}`;
  return `held${until}, because container ${containerId} on node ${node} may still answer on it; if that node is down for good, \`kubectl delete node ${node}\` frees the address now. If only the container has ended: \`ipledger unbind\``;
}

function describeAllocation(allocation: Allocation): string {
  const [binding] = allocation.bindings;
  const bound = binding ? `, and container ${binding.containerId} on node ${binding.node} uses it` : '';
  return `Pod ${formatPodName(allocation.attachment)} holds ${formatAllocation(allocation)}${bound}`;
}

interface ReleaseResult {
  readonly position: Position | undefined;
  readonly released: readonly Allocation[];
  /** Allocations that ended, or were transferred, before the request. */
  readonly endedBefore: readonly Allocation[];
}

/** Releases allocations by their event numbers, so that a later allocation stays. */
async function releaseAll(
  allocator: LedgerClient,
  allocations: readonly Allocation[],
  evidence: string,
): Promise<ReleaseResult> {
  let position: Position | undefined;
  const released: Allocation[] = [];
  const endedBefore: Allocation[] = [];
  for (const allocation of allocations) {
    const { attachment, podUid, seq: allocationSeq } = allocation;
    const { namespace, pod } = attachment ?? {};
    const cause = 'RELEASE_CAUSE_OPERATOR';
    const reply = await allocator.call(IpamService.release, { namespace, pod, podUid, cause, evidence, allocationSeq });
    ({ position } = reply);
    (reply.released > 0 ? released : endedBefore).push(allocation);
  }
  return { position, released, endedBefore };
}

const columns = textColumns('SUBNET', 'ADDRESS', 'POD', 'UID', 'PROVIDER', 'RELEASED');

const formatRow = (allocation: Allocation, isReleased: boolean): string[] => [
  allocation.subnet,
  formatAddresses(allocation),
  formatPodName(allocation.attachment),
  allocation.podUid,
  allocation.attachment?.provider ?? '',
  isReleased ? 'yes' : 'no',
];

const createAnswer = (result: ReleaseResult): Answer => {
  const { released, endedBefore } = result;
  return {
    content: result,
    table: () =>
      released
        .map(
          (each) =>
            `${formatAddresses(each)} of subnet ${each.subnet} released from Pod ${formatPodName(each.attachment)}\n`,
        )
        .join(''),
    listing: () => ({
      columns,
      rows: [...released.map((each) => formatRow(each, true)), ...endedBefore.map((each) => formatRow(each, false))],
    }),
    note:
      endedBefore.length > 0
        ? `already released or transferred: ${endedBefore.map(formatAddresses).join(', ')}`
        : undefined,
  };
};

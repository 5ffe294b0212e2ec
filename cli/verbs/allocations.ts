/** `ipledger allocations`: lists the current allocations. */
import type { Command } from 'commander';
import type { Allocation } from '../../proto/generated/ipledger.ts';
import { type AllocationFilter, listAllocations } from '../clients/list-allocations.ts';
import { createTableAnswer } from '../output/answer.ts';
import { formatAddresses } from '../output/format.ts';
import { formatPodName, formatCause } from '../../lib/ledger-text/texts.ts';
import type { Column } from '../output/table.ts';
import { exitStatus } from '../cli-error.ts';
import { addVerbOptions, runAndPrint, type VerbOptions } from '../program/verb.ts';

const columns: readonly Column[] = [
  { name: 'SUBNET' },
  { name: 'ADDRESS' },
  { name: 'POD' },
  { name: 'PROVIDER' },
  { name: 'INTERFACE' },
  { name: 'NODE' },
  { name: 'BOUND' },
  { name: 'CAUSE' },
  { name: 'SINCE', time: true },
  { name: 'UID', wide: true },
  { name: 'OWNER', wide: true },
  { name: 'MAC', wide: true },
  { name: 'SEQ', wide: true },
];

export function defineAllocations(verb: Command): void {
  addVerbOptions(verb)
    .option('--subnet <name>', 'only this subnet')
    .option('-n, --namespace <name>', 'only Pods in this namespace')
    .option('--pod <name>', 'only Pods with this name')
    .option('--node <name>', 'only Pods on this node')
    .addHelpText(
      'after',
      `
Exit status:
  0  there are allocations
  ${exitStatus.empty}  there are none`,
    )
    .action(({ subnet, namespace, pod, node, ...options }: VerbOptions & AllocationFilter) =>
      runAndPrint(options, async (allocator) => {
        const { position, allocations } = await listAllocations(allocator, { subnet, namespace, pod, node });
        if (allocations.length === 0) process.exitCode = exitStatus.empty;
        return createTableAnswer(
          { columns, rows: allocations.map(formatRow) },
          { content: { position, allocations }, note: allocations.length > 0 ? undefined : 'no allocations' },
        );
      }),
    );
}

function formatRow(allocation: Allocation): string[] {
  const { subnet, attachment, node, bindings, cause, at, podUid, owner, mac, seq } = allocation;
  return [
    subnet,
    formatAddresses(allocation),
    formatPodName(attachment),
    attachment?.provider ?? '',
    allocation.interface,
    node,
    bindings.length > 0 ? 'yes' : 'no',
    formatCause(cause),
    at,
    podUid,
    owner ? `${owner.kind}/${owner.name}` : '',
    mac,
    String(seq),
  ];
}

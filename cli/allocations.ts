/** `ipledger allocations`: who holds which address now. */
import type { Command } from 'commander';
import { type Allocation, IpamService, type Position } from '../proto/ipledger.ts';
import type { Allocator } from './allocator.ts';
import { causeText } from './cause.ts';
import { exitStatus } from './failure.ts';
import { listed } from './output.ts';
import { everyPage } from './pages.ts';
import type { Column } from './table.ts';
import { addVerb, answer, type VerbOptions } from './verb.ts';

const pageSize = 1_000;

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

/** Which allocations; an absent field matches all. */
export interface Filter {
  readonly subnet?: string;
  readonly namespace?: string;
  readonly pod?: string;
  readonly node?: string;
}

export function addAllocations(program: Command): void {
  addVerb(program, 'allocations', 'who holds which address now')
    .option('--subnet <name>', 'only of this subnet')
    .option('-n, --namespace <name>', 'only of Pods in this namespace')
    .option('--pod <name>', 'only of Pods of this name')
    .option('--node <name>', 'only of Pods on this node')
    .addHelpText(
      'after',
      `
Exit status:
  0  there are some
  ${exitStatus.nothing}  there are none`,
    )
    .action(({ subnet, namespace, pod, node, ...options }: VerbOptions & Filter) =>
      answer(options, async (allocator) => {
        const { position, allocations } = await everyAllocation(allocator, { subnet, namespace, pod, node });
        if (allocations.length === 0) process.exitCode = exitStatus.nothing;
        return listed(
          { columns, rows: allocations.map(row) },
          { content: { position, allocations }, note: allocations.length > 0 ? undefined : 'no allocations' },
        );
      }),
    );
}

/** All pages of the list; the position is the last one's. */
export async function everyAllocation(
  allocator: Allocator,
  filter: { [Name in keyof Filter]: Filter[Name] | undefined },
): Promise<{ position: Position | undefined; allocations: Allocation[] }> {
  const read = (pageToken: string) => allocator.ask(IpamService.list, { ...filter, pageSize, pageToken });
  const all: Allocation[] = [];
  let last: Position | undefined;
  for await (const { position, allocations } of everyPage(read)) {
    for (const each of allocations) all.push(each);
    last = position;
  }
  return { position: last, allocations: all };
}

function row({ subnet, addresses, attachment, bindings, ...allocation }: Allocation): string[] {
  return [
    subnet,
    addresses.map(({ address }) => address).join(','),
    attachment ? `${attachment.namespace}/${attachment.pod}` : '',
    attachment?.provider ?? '',
    allocation.interface,
    allocation.node,
    bindings.length > 0 ? 'yes' : 'no',
    causeText(allocation.cause),
    allocation.at,
    allocation.podUid,
    allocation.owner ? `${allocation.owner.kind}/${allocation.owner.name}` : '',
    allocation.mac,
    String(allocation.seq),
  ];
}

/** `ipledger subnets`: lists the subnets with their usage, and the position of the ledger. */
import type { Command } from 'commander';
import { isNever } from '../../ledger/domain/commands/command.ts';
import { type ListSubnetsReply, type Position, type Subnet, SubnetsService } from '../../proto/generated/ipledger.ts';
import type { Answer } from '../output/answer.ts';
import { textColumns, formatTable } from '../output/table.ts';
import { addVerbOptions, runAndPrint, type VerbOptions } from '../program/verb.ts';

const columns = [
  ...textColumns('SUBNET', 'PROVIDER', 'CIDR', 'IN USE', 'AVAILABLE'),
  ...['COOLDOWN', 'BINDING TIMEOUT', 'MAX PER NAMESPACE', 'PROBED'].map((name) => ({ name, wide: true })),
];

export function defineSubnets(verb: Command): void {
  addVerbOptions(verb).action((options: VerbOptions) =>
    runAndPrint(options, async (allocator) => createAnswer(await allocator.call(SubnetsService.listSubnets, {}))),
  );
}

function createAnswer({ position, subnets }: ListSubnetsReply): Answer {
  const rows = subnets.flatMap(formatRows);
  return {
    content: { position, subnets },
    table: (zone, width) =>
      `${rows.length > 0 ? `${formatTable({ columns, rows }, zone, width)}\n` : ''}${formatLedgerPosition(position)}`,
    listing: () => ({ columns, rows }),
    note: rows.length > 0 ? undefined : 'no subnets',
  };
}

/** Formats a row for each address family, with its CIDR and counts. */
function formatRows({ name, spec, usage }: Subnet): string[][] {
  const cidrs = spec?.cidrBlock.split(',') ?? [];
  // An older allocator sends no count of the addresses that are free now
  return usage.map(({ family, inUse, available, free }) => {
    const cidr = cidrs.find((text) => text.includes(':') === (family === 6)) ?? '';
    const limits = [
      formatSeconds(spec?.cooldownMs),
      spec?.bindingTimeoutMs !== undefined && isNever(spec.bindingTimeoutMs)
        ? 'none'
        : formatSeconds(spec?.bindingTimeoutMs),
      String(spec?.maxAddressesPerNamespace ?? ''),
      spec?.probeAddresses ? 'yes' : '',
    ];
    return [name, spec?.provider ?? '', cidr, inUse, free || available, ...limits];
  });
}

/** Formats "60s"; "" without a value. */
const formatSeconds = (ms: number | undefined): string => (ms === undefined ? '' : `${ms / 1_000}s`);

function formatLedgerPosition(position: Position | undefined): string {
  if (!position) return '';
  return `ledger at epoch ${position.epoch}, seq ${position.seq}, hash ${position.hash.slice(0, 12)}\n`;
}

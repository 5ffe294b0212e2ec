/** `ipledger show`: the subnets with their usage, and where the ledger stands. */
import type { Command } from 'commander';
import { type ListSubnetsReply, type Position, type Subnet, SubnetsService } from '../proto/ipledger.ts';
import type { Answer } from './output.ts';
import { columnsOf, tableOf } from './table.ts';
import { addVerb, answer, type VerbOptions } from './verb.ts';

const columns = [
  ...columnsOf('SUBNET', 'PROVIDER', 'CIDR', 'IN USE', 'AVAILABLE'),
  ...['COOLDOWN', 'BINDING TIMEOUT', 'MOST PER NAMESPACE'].map((name) => ({ name, wide: true })),
];

export function addShow(program: Command): void {
  addVerb(program, 'show', "the subnets and how full they are, and the ledger's position").action(
    (options: VerbOptions) =>
      answer(options, async (allocator) => shown(await allocator.ask(SubnetsService.listSubnets, {}))),
  );
}

function shown({ position, subnets }: ListSubnetsReply): Answer {
  const rows = subnets.flatMap(subnetRows);
  return {
    content: { position, subnets },
    table: (zone, width) =>
      `${rows.length > 0 ? `${tableOf({ columns, rows }, zone, width)}\n` : ''}${positionLine(position)}`,
    listing: () => ({ columns, rows }),
    note: rows.length > 0 ? undefined : 'no subnet is configured',
  };
}

/** One row a family: each has a CIDR and counts of its own. */
function subnetRows({ name, spec, usage }: Subnet): string[][] {
  const cidrs = spec?.cidrBlock.split(',') ?? [];
  return usage.map(({ family, inUse, available }) => {
    const cidr = cidrs.find((text) => text.includes(':') === (family === 6)) ?? '';
    const limits = [seconds(spec?.cooldownMs), seconds(spec?.bindingTimeoutMs), text(spec?.maxAddressesPerNamespace)];
    return [name, spec?.provider ?? '', cidr, inUse, available, ...limits];
  });
}

const text = (value: number | undefined): string => (value === undefined ? '' : String(value));

/** "60s", as the Subnet's spec counts; "" for none. */
const seconds = (ms: number | undefined): string => (ms === undefined ? '' : `${ms / 1_000}s`);

function positionLine(position: Position | undefined): string {
  if (!position) return '';
  return `ledger at epoch ${position.epoch}, seq ${position.seq}, hash ${position.hash.slice(0, 12)}\n`;
}

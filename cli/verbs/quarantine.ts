/** `ipledger quarantine` stops new allocations of an address; `ipledger unquarantine` ends that. */
import type { Command } from 'commander';
import { type AddressRecord, IpamService } from '../../proto/generated/ipledger.ts';
import { findSubnet, readAddressRecord } from '../clients/find-address.ts';
import { escapeControlCharacters } from '../output/control-characters.ts';
import { formatPodName, joinNonEmpty } from '../../lib/ledger-text/texts.ts';
import {
  addOperationOptions,
  type OperationOptions,
  addDestructiveOptions,
  type DestructiveOptions,
  confirm,
} from '../program/operation-verb.ts';
import { runAndPrint, outputStyle } from '../program/verb.ts';
import { formatTime, type TimeZone } from '../time/times.ts';
import { textColumns, type Listing } from '../output/table.ts';
import { CliError } from '../cli-error.ts';

interface QuarantineOptions extends OperationOptions {
  readonly seenMac?: string;
  readonly seenOn?: string;
}

export function defineQuarantine(verb: Command): void {
  addOperationOptions(verb)
    .option('--seen-mac <address>', 'the MAC that answers on the address')
    .option('--seen-on <location>', 'where that MAC was seen, as a node or switch port')
    .action((address: string, { seenMac, seenOn: seenAt, reason, ...options }: QuarantineOptions) =>
      runAndPrint(options, async (allocator) => {
        const subnet = await findSubnet(allocator, [address], options.subnet);
        const request = { subnet, address, seenMac, seenAt, reason };
        const { position } = await allocator.call(IpamService.quarantine, request);
        const record = await readAddressRecord(allocator, subnet, address);
        return {
          content: { position, record },
          table: (zone) => `${escapeControlCharacters(formatQuarantine(record, zone))}\n`,
          listing: () => createQuarantineListing(record),
          note: describeHolder(record),
        };
      }),
    );
}

const describeHolder = ({ allocation }: AddressRecord): string | undefined =>
  allocation &&
  `Pod ${formatPodName(allocation.attachment)} holds the address, and keeps it until the Pod ends or \`ipledger release\``;

const columns = textColumns('SUBNET', 'ADDRESS', 'STATE', 'SEEN MAC', 'SEEN ON', 'REASON', 'SINCE');

/** A table with one row. */
function createQuarantineListing({ subnet, address, state, quarantine }: AddressRecord): Listing {
  const { seenMac = '', seenAt = '', reason = '', at = '' } = quarantine ?? {};
  return { columns, rows: [[subnet, address, state, seenMac, seenAt, reason, at]] };
}

/** Formats "10.0.0.30 of subnet lan is quarantined since …: 52:54:00:00:00:01 answers on it". */
function formatQuarantine({ subnet, address, quarantine }: AddressRecord, zone: TimeZone): string {
  const { seenMac = '', seenAt = '', reason = '', at = '' } = quarantine ?? {};
  const answers = seenMac === '' ? '' : `${seenMac} answers on it`;
  const why = joinNonEmpty(', ', answers, seenAt === '' ? '' : `seen on ${seenAt}`, reason);
  return `${address} of subnet ${subnet} is quarantined since ${formatTime(at, zone)}: ${why}`;
}

export function defineUnquarantine(verb: Command): void {
  addDestructiveOptions(verb).action((address: string, { reason, yes, ...options }: DestructiveOptions) =>
    runAndPrint(options, async (allocator, signal) => {
      const subnet = await findSubnet(allocator, [address], options.subnet);
      const record = await readAddressRecord(allocator, subnet, address);
      if (!record.quarantine) throw new CliError('refused', `${address} of subnet ${subnet} is not quarantined`);
      const { zone } = outputStyle(options);
      await confirm({ lines: [formatQuarantine(record, zone)], question: 'End this quarantine?', yes }, signal);
      const { position } = await allocator.call(IpamService.unquarantine, { subnet, address, reason });
      return {
        content: { position, unquarantined: record },
        table: () => `${address} of subnet ${subnet} is no longer quarantined\n`,
        listing: () => createQuarantineListing(record),
      };
    }),
  );
}

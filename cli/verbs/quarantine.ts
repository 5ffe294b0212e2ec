/**
 * `ipledger quarantine` stops new allocations of an address; `ipledger unquarantine` ends that, for
 * one or several.
 */
import type { Command } from 'commander';
import { type AddressRecord, IpamService, LedgerService, type Position } from '../../proto/generated/ipledger.ts';
import { IpledgerError } from '../../lib/errors.ts';
import { findSubnet, readAddressRecord } from '../clients/find-address.ts';
import type { LedgerClient } from '../clients/ledger-client.ts';
import { collectStream } from '../clients/read-history.ts';
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

const createQuarantineListing = (...records: readonly AddressRecord[]): Listing => ({
  columns,
  rows: records.map(({ subnet, address, state, quarantine }) => {
    const { seenMac = '', seenAt = '', reason = '', at = '' } = quarantine ?? {};
    return [subnet, address, state, seenMac, seenAt, reason, at];
  }),
});

/** Formats "10.0.0.30 of subnet lan is quarantined since …: 52:54:00:00:00:01 answers on it". */
function formatQuarantine({ subnet, address, quarantine }: AddressRecord, zone: TimeZone): string {
  const { seenMac = '', seenAt = '', reason = '', at = '' } = quarantine ?? {};
  const answers = seenMac === '' ? '' : `${seenMac} answers on it`;
  const why = joinNonEmpty(', ', answers, seenAt === '' ? '' : `seen on ${seenAt}`, reason);
  return `${address} of subnet ${subnet} is quarantined since ${formatTime(at, zone)}: ${why}`;
}

export function defineUnquarantine(verb: Command): void {
  addDestructiveOptions(verb)
    .addHelpText(
      'after',
      '\nWithout an address, but with --subnet: all quarantined addresses of that subnet, after a list of them.',
    )
    .action((addresses: string[], { reason, yes, ...options }: DestructiveOptions) =>
      runAndPrint(options, async (allocator, signal) => {
        const records = await findQuarantined(allocator, addresses, options.subnet, signal);
        const { zone } = outputStyle(options);
        const lines = records.map((record) => formatQuarantine(record, zone));
        const question = records.length === 1 ? 'End this quarantine?' : `End these ${records.length} quarantines?`;
        await confirm({ lines, question, yes }, signal);
        const position = await endQuarantines(allocator, records, reason);
        return {
          content: { position, unquarantined: records },
          table: () =>
            records.map(({ subnet, address }) => `${address} of subnet ${subnet} is no longer quarantined\n`).join(''),
          listing: () => createQuarantineListing(...records),
        };
      }),
    );
}

/** @throws IpledgerError that names the addresses whose quarantines it has ended before */
async function endQuarantines(
  allocator: LedgerClient,
  records: readonly AddressRecord[],
  reason: string,
): Promise<Position | undefined> {
  const ended: string[] = [];
  let position: Position | undefined;
  for (const { subnet, address } of records) {
    try {
      ({ position } = await allocator.call(IpamService.unquarantine, { subnet, address, reason }));
    } catch (thrown) {
      if (ended.length === 0) throw thrown;
      const { code, message } = IpledgerError.from(thrown);
      throw new IpledgerError(code, `${message} (at ${address}; ended before: ${ended.join(', ')})`, { cause: thrown });
    }
    ended.push(address);
  }
  return position;
}

/** @throws CliError if a named address, or the whole subnet, has no quarantine */
async function findQuarantined(
  allocator: LedgerClient,
  addresses: readonly string[],
  named: string | undefined,
  signal: AbortSignal,
): Promise<AddressRecord[]> {
  if (addresses.length === 0) {
    if (named === undefined)
      throw new CliError('usage', 'no quarantine is named: name addresses, or a subnet with --subnet for all of it');
    const parts = await collectStream(
      allocator.stream(LedgerService.stateAt, { subnet: named }),
      ({ position }) => position,
      signal,
    );
    const found = parts.flatMap(({ records }) => records).filter(({ quarantine }) => quarantine !== undefined);
    if (found.length === 0) throw new CliError('refused', `no address of subnet ${named} is quarantined`);
    return found;
  }
  const records: AddressRecord[] = [];
  for (const address of new Set(addresses)) {
    const subnet = await findSubnet(allocator, [address], named);
    const record = await readAddressRecord(allocator, subnet, address);
    if (!record.quarantine) throw new CliError('refused', `${address} of subnet ${subnet} is not quarantined`);
    records.push(record);
  }
  return records;
}

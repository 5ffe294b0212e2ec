/** `ipledger reserve` and `ipledger unreserve`: reserve addresses, and end reservations. */
import { type Command, Option } from 'commander';
import { IpamService, type AddressRecord, type Position } from '../../proto/generated/ipledger.ts';
import { findSubnet, readAddressRecord } from '../clients/find-address.ts';
import { createTableAnswer } from '../output/answer.ts';
import { CliError } from '../cli-error.ts';
import {
  addOperationOptions,
  type OperationOptions,
  addDestructiveOptions,
  type DestructiveOptions,
  confirm,
} from '../program/operation-verb.ts';
import { runAndPrint, outputStyle } from '../program/verb.ts';
import type { Column, Listing } from '../output/table.ts';
import type { LedgerClient } from '../clients/ledger-client.ts';
import { readAll } from '../../lib/ledger-client/pages.ts';
import { escapeControlCharacters } from '../output/control-characters.ts';
import { formatTime, type TimeZone } from '../time/times.ts';

interface ReserveOptions extends OperationOptions {
  readonly for: string;
  readonly mac?: string;
  readonly family?: string;
}

export function defineReserve(verb: Command): void {
  addOperationOptions(verb)
    .requiredOption('--for <owner>', 'the owner: pod/NAMESPACE/POD/PROVIDER, or free text, as vip/web')
    .option('--mac <address>', 'the MAC of the reservation')
    .addOption(new Option('--family <family>', 'without an address: only this family').choices(['ipv4', 'ipv6']))
    .action((addresses: string[], { for: reservedFor, mac, family: ipFamily, reason, ...options }: ReserveOptions) =>
      runAndPrint(options, async (allocator) => {
        if (addresses.length === 0 && options.subnet === undefined)
          throw new CliError(
            'usage',
            'nothing to reserve: name addresses, or a subnet with --subnet for any free address',
          );
        const subnet = await findSubnet(allocator, addresses, options.subnet);
        const request = { subnet, addresses, reservedFor, reason, mac, ipFamily };
        const { position, records } = await allocator.call(IpamService.reserve, request);
        return createTableAnswer(createReservationListing(records), { content: { position, records } });
      }),
    );
}

const columns: readonly Column[] = [
  { name: 'SUBNET' },
  { name: 'ADDRESS' },
  { name: 'OWNER' },
  { name: 'STATE' },
  { name: 'REASON' },
  { name: 'SINCE', time: true },
];

const createReservationListing = (records: readonly AddressRecord[]): Listing => ({
  columns,
  rows: records.map(formatRow),
});

const formatRow = ({ subnet, address, state, reservation }: AddressRecord): string[] => [
  subnet,
  address,
  reservation?.reservedFor ?? '',
  state,
  reservation?.reason ?? '',
  reservation?.at ?? '',
];

/** The most addresses that the API accepts in one request. */
const maxAddresses = 64;

interface UnreserveOptions extends DestructiveOptions {
  readonly for?: string;
}

export function defineUnreserve(verb: Command): void {
  addDestructiveOptions(verb)
    .option('--for <owner>', 'only reservations of this owner; without addresses: all of them')
    .action((addresses: string[], { for: reservedFor, reason, yes, ...options }: UnreserveOptions) =>
      runAndPrint(options, async (allocator, signal) => {
        if (addresses.length === 0 && reservedFor === undefined)
          throw new CliError('usage', 'no reservation is named: name addresses, or the owner with --for');
        const records = await findReservations(allocator, { addresses, subnet: options.subnet, reservedFor });
        const { zone } = outputStyle(options);
        const lines = records.map((each) => describeReservation(each, zone));
        await confirm({ lines, question: 'End this?', yes }, signal);
        const position = await endReservations(allocator, records, reason);
        return {
          content: { position, ended: records },
          table: () => describeEnded(records),
          listing: () => createReservationListing(records),
        };
      }),
    );
}

interface ReservationFilter {
  readonly addresses: readonly string[];
  readonly subnet: string | undefined;
  readonly reservedFor: string | undefined;
}

/** @throws CliError without a reservation, or with another owner's. */
async function findReservations(allocator: LedgerClient, filter: ReservationFilter): Promise<AddressRecord[]> {
  const { addresses, reservedFor } = filter;
  if (addresses.length === 0) {
    const request = { subnet: filter.subnet, reservedFor };
    const read = (pageToken: string) => allocator.call(IpamService.listReservations, { ...request, pageToken });
    const all = await readAll(read, ({ records }) => records);
    if (all.length === 0) throw new CliError('refused', `nothing is reserved for ${reservedFor}`);
    return all;
  }
  const subnet = await findSubnet(allocator, addresses, filter.subnet);
  const records = await Promise.all(addresses.map((address) => readAddressRecord(allocator, subnet, address)));
  for (const { address, reservation } of records) {
    if (!reservation) throw new CliError('refused', `${address} of subnet ${subnet} is not reserved`);
    if (reservedFor !== undefined && reservation.reservedFor !== reservedFor)
      throw new CliError('refused', `${address} of subnet ${subnet} is reserved for ${reservation.reservedFor}`);
  }
  return records;
}

/** Ends reservations, but not of an address that another owner has reserved since. */
async function endReservations(allocator: LedgerClient, records: readonly AddressRecord[], reason: string) {
  let position: Position | undefined;
  const groups = Map.groupBy(records, ({ subnet, reservation }) => JSON.stringify([subnet, reservation?.reservedFor]));
  for (const group of groups.values()) {
    const { subnet, reservation } = group[0] as AddressRecord;
    for (let from = 0; from < group.length; from += maxAddresses) {
      const addresses = group.slice(from, from + maxAddresses).map(({ address }) => address);
      const request = { subnet, addresses, reservedFor: reservation?.reservedFor, reason };
      ({ position } = await allocator.call(IpamService.unreserve, request));
    }
  }
  return position;
}

const describeReservation = ({ subnet, address, reservation }: AddressRecord, zone: TimeZone): string =>
  `${address} of subnet ${subnet} is reserved for ${reservation?.reservedFor} since ${formatTime(reservation?.at ?? '', zone)}`;

const describeEnded = (records: readonly AddressRecord[]): string =>
  records
    .map(
      ({ subnet, address, reservation }) =>
        `${address} of subnet ${subnet} is no longer reserved for ${escapeControlCharacters(reservation?.reservedFor ?? '')}\n`,
    )
    .join('');

/** `ipledger reserve` and `unreserve`: addresses that are held without a Pod. */
import { type Command, Option } from 'commander';
import { type AddressRecord, IpamService, type Position } from '../../proto/ipledger.ts';
import type { Allocator } from '../allocator.ts';
import { Failure } from '../failure.ts';
import { listed } from '../output.ts';
import { everyPage } from '../pages.ts';
import { printable } from '../printable.ts';
import type { Column, Listing } from '../table.ts';
import { showTime, type Zone } from '../times.ts';
import { answer, styleOf } from '../verb.ts';
import { confirm } from './confirm.ts';
import { recordOf, subnetOf } from './subject.ts';
import { addDestructive, addOperation, type DestructiveOptions, type OperationOptions } from './verb.ts';

const pageSize = 1_000;
/** So many the API ends at once. */
const mostAtOnce = 64;

const columns: readonly Column[] = [
  { name: 'SUBNET' },
  { name: 'ADDRESS' },
  { name: 'FOR' },
  { name: 'STATE' },
  { name: 'REASON' },
  { name: 'SINCE', time: true },
];

interface ReserveOptions extends OperationOptions {
  readonly for: string;
  readonly mac?: string;
  readonly family?: string;
}

export function addReserve(program: Command): void {
  addOperation(
    program,
    'reserve [address...]',
    'hold addresses for somebody: one, or one of each family; none: any free',
  )
    .requiredOption('--for <what>', 'who may take them: pod/NAMESPACE/POD/PROVIDER, or a text that says it, as vip/web')
    .option('--mac <address>', 'the MAC that goes with them')
    .addOption(new Option('--family <family>', 'any free one of this family only').choices(['ipv4', 'ipv6']))
    .action((addresses: string[], { for: reservedFor, mac, family: ipFamily, reason, ...options }: ReserveOptions) =>
      answer(options, async (allocator) => {
        if (addresses.length === 0 && options.subnet === undefined)
          throw new Failure('usage', 'name the addresses, or by --subnet where any free one will do');
        const subnet = await subnetOf(allocator, addresses, options.subnet);
        const request = { subnet, addresses, reservedFor, reason, mac, ipFamily };
        const { position, records } = await allocator.ask(IpamService.reserve, request);
        return listed(listingOf(records), { content: { position, records } });
      }),
    );
}

const listingOf = (records: readonly AddressRecord[]): Listing => ({ columns, rows: records.map(row) });

const row = ({ subnet, address, state, reservation }: AddressRecord): string[] => [
  subnet,
  address,
  reservation?.reservedFor ?? '',
  state,
  reservation?.reason ?? '',
  reservation?.at ?? '',
];

interface UnreserveOptions extends DestructiveOptions {
  readonly for?: string;
}

export function addUnreserve(program: Command): void {
  addDestructive(program, 'unreserve [address...]', 'end reservations; whoever holds such an address keeps it')
    .option('--for <what>', 'only what is reserved for this; without addresses: all of it')
    .action((addresses: string[], { for: reservedFor, reason, yes, ...options }: UnreserveOptions) =>
      answer(options, async (allocator, signal) => {
        if (addresses.length === 0 && reservedFor === undefined)
          throw new Failure('usage', 'name the addresses, or by --for what they are reserved for');
        const asked = { addresses, subnet: options.subnet, reservedFor };
        const records = await reserved(allocator, asked);
        const { zone } = styleOf(options);
        await confirm({ lines: records.map((each) => sentence(each, zone)), question: 'End this?', yes }, signal);
        const position = await end(allocator, records, reason);
        return {
          content: { position, ended: records },
          table: () => ended(records),
          listing: () => listingOf(records),
        };
      }),
    );
}

interface Asked {
  readonly addresses: readonly string[];
  readonly subnet: string | undefined;
  readonly reservedFor: string | undefined;
}

/** @throws Failure when nothing of that is reserved. */
async function reserved(allocator: Allocator, asked: Asked): Promise<AddressRecord[]> {
  const { addresses, reservedFor } = asked;
  if (addresses.length === 0) return allReserved(allocator, asked);
  const subnet = await subnetOf(allocator, addresses, asked.subnet);
  const records = await Promise.all(addresses.map((address) => recordOf(allocator, subnet, address)));
  for (const { address, reservation } of records) {
    if (!reservation) throw new Failure('refused', `${address} of subnet ${subnet} is not reserved`);
    if (reservedFor !== undefined && reservation.reservedFor !== reservedFor)
      throw new Failure('refused', `${address} of subnet ${subnet} is reserved for ${reservation.reservedFor}`);
  }
  return records;
}

async function allReserved(allocator: Allocator, { subnet, reservedFor }: Asked): Promise<AddressRecord[]> {
  const all: AddressRecord[] = [];
  const read = (pageToken: string) =>
    allocator.ask(IpamService.listReservations, { subnet, reservedFor, pageSize, pageToken });
  for await (const { records } of everyPage(read)) for (const each of records) all.push(each);
  if (all.length === 0) throw new Failure('refused', `nothing is reserved for ${reservedFor}`);
  return all;
}

/** Ends what was shown and nothing else: an address that is reserved for somebody else by now stays so. */
async function end(allocator: Allocator, records: readonly AddressRecord[], reason: string) {
  let position: Position | undefined;
  const alike = Map.groupBy(records, ({ subnet, reservation }) => JSON.stringify([subnet, reservation?.reservedFor]));
  for (const group of alike.values()) {
    const { subnet, reservation } = group[0] as AddressRecord;
    for (let from = 0; from < group.length; from += mostAtOnce) {
      const addresses = group.slice(from, from + mostAtOnce).map(({ address }) => address);
      const request = { subnet, addresses, reservedFor: reservation?.reservedFor, reason };
      ({ position } = await allocator.ask(IpamService.unreserve, request));
    }
  }
  return position;
}

const sentence = ({ subnet, address, reservation }: AddressRecord, zone: Zone): string =>
  `${address} of subnet ${subnet} is reserved for ${reservation?.reservedFor} since ${showTime(reservation?.at ?? '', zone)}`;

const ended = (records: readonly AddressRecord[]): string =>
  records
    .map(
      ({ subnet, address, reservation }) =>
        `${address} of subnet ${subnet} is no longer reserved for ${printable(reservation?.reservedFor ?? '')}\n`,
    )
    .join('');

/** `ipledger quarantine` and `lift`: addresses on which somebody outside answers. */
import type { Command } from 'commander';
import { type AddressRecord, IpamService } from '../../proto/ipledger.ts';
import { podOf } from '../check/say.ts';
import { Failure } from '../failure.ts';
import { printable } from '../printable.ts';
import { columnsOf, type Listing } from '../table.ts';
import { showTime, type Zone } from '../times.ts';
import { answer, styleOf } from '../verb.ts';
import { confirm } from './confirm.ts';
import { recordOf, subnetOf } from './subject.ts';
import { addDestructive, addOperation, type DestructiveOptions, type OperationOptions } from './verb.ts';

interface QuarantineOptions extends OperationOptions {
  readonly seenMac?: string;
  readonly seenAt?: string;
}

export function addQuarantine(program: Command): void {
  addOperation(program, 'quarantine <address>', 'give an address to nobody; whoever holds it keeps it')
    .option('--seen-mac <address>', 'the MAC that answers on it')
    .option('--seen-at <place>', 'where that was seen')
    .action((address: string, { seenMac, seenAt, reason, ...options }: QuarantineOptions) =>
      answer(options, async (allocator) => {
        const subnet = await subnetOf(allocator, [address], options.subnet);
        const request = { subnet, address, seenMac, seenAt, reason };
        const { position } = await allocator.ask(IpamService.quarantine, request);
        const record = await recordOf(allocator, subnet, address);
        return {
          content: { position, record },
          table: (zone) => `${printable(sentence(record, zone))}\n`,
          listing: () => listingOf(record),
          note: stillHeld(record),
        };
      }),
    );
}

export function addLift(program: Command): void {
  addDestructive(program, 'lift <address>', 'end a quarantine: the address can be given again').action(
    (address: string, { reason, yes, ...options }: DestructiveOptions) =>
      answer(options, async (allocator, signal) => {
        const subnet = await subnetOf(allocator, [address], options.subnet);
        const record = await recordOf(allocator, subnet, address);
        if (!record.quarantine) throw new Failure('refused', `${address} of subnet ${subnet} is not quarantined`);
        const { zone } = styleOf(options);
        await confirm({ lines: [sentence(record, zone)], question: 'End this?', yes }, signal);
        const { position } = await allocator.ask(IpamService.lift, { subnet, address, reason });
        return {
          content: { position, lifted: record },
          table: () => `${address} of subnet ${subnet} is no longer quarantined\n`,
          listing: () => listingOf(record),
        };
      }),
  );
}

const columns = columnsOf('SUBNET', 'ADDRESS', 'STATE', 'SEEN MAC', 'SEEN AT', 'REASON', 'SINCE');

function listingOf({ subnet, address, state, quarantine }: AddressRecord): Listing {
  const { seenMac = '', seenAt = '', reason = '', at = '' } = quarantine ?? {};
  return { columns, rows: [[subnet, address, state, seenMac, seenAt, reason, at]] };
}

function sentence({ subnet, address, quarantine }: AddressRecord, zone: Zone): string {
  const { seenMac = '', seenAt = '', reason = '', at = '' } = quarantine ?? {};
  const seen = [seenMac === '' ? '' : `${seenMac} answers on it`, seenAt === '' ? '' : `seen at ${seenAt}`, reason];
  const why = seen.filter((part) => part !== '').join(', ');
  return `${address} of subnet ${subnet} is quarantined since ${showTime(at, zone)}: ${why}`;
}

const stillHeld = ({ allocation }: AddressRecord): string | undefined =>
  allocation && `Pod ${podOf(allocation.attachment)} holds it, and keeps it until it is gone or \`ipledger release\``;

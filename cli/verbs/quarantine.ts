/** `ipledger quarantine`: stops new allocations of an address, as when an unmanaged device answers on it. */
import type { Command } from 'commander';
import { type AddressRecord, IpamService } from '../../proto/generated/ipledger.ts';
import { findSubnet, readAddressRecord } from '../clients/find-address.ts';
import { escapeControlCharacters } from '../output/control-characters.ts';
import { formatPodName } from '../output/format.ts';
import { createQuarantineListing, formatQuarantine } from '../output/quarantine.ts';
import { addOperationOptions, type OperationOptions } from '../program/operation-verb.ts';
import { runAndPrint } from '../program/verb.ts';

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

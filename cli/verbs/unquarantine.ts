/** `ipledger unquarantine`: ends a quarantine. */
import type { Command } from 'commander';
import { IpamService } from '../../proto/generated/ipledger.ts';
import { findSubnet, readAddressRecord } from '../clients/find-address.ts';
import { createQuarantineListing, formatQuarantine } from '../output/quarantine.ts';
import { CliError } from '../cli-error.ts';
import { confirm } from '../program/confirm.ts';
import { addDestructiveOptions, type DestructiveOptions } from '../program/operation-verb.ts';
import { outputStyle, runAndPrint } from '../program/verb.ts';

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

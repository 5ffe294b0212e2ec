/** `ipledger reserve`: reserves addresses. */
import { type Command, Option } from 'commander';
import { IpamService } from '../../proto/generated/ipledger.ts';
import { findSubnet } from '../clients/find-address.ts';
import { createTableAnswer } from '../output/answer.ts';
import { createReservationListing } from '../output/reservation.ts';
import { CliError } from '../cli-error.ts';
import { addOperationOptions, type OperationOptions } from '../program/operation-verb.ts';
import { runAndPrint } from '../program/verb.ts';

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

/** Finds the subnet and the record of the addresses that an operation names. */
import { isIP } from 'node:net';
import { cidrContains } from '../../lib/net/ip.ts';
import { type AddressRecord, IpamService, SubnetsService } from '../../proto/generated/ipledger.ts';
import type { LedgerClient } from './ledger-client.ts';
import { CliError } from '../cli-error.ts';

/**
 * The one subnet that contains all these addresses; `named`, if given.
 * @throws CliError for an invalid address, and for addresses in no subnet or in several.
 */
export async function findSubnet(
  allocator: LedgerClient,
  addresses: readonly string[],
  named?: string,
): Promise<string> {
  const invalid = addresses.find((address) => isIP(address) === 0);
  if (invalid !== undefined) throw new CliError('usage', `${invalid} is not an IP address`);
  if (named !== undefined) return named;
  const { subnets } = await allocator.call(SubnetsService.listSubnets, {});
  const names = subnets
    .filter(({ spec }) =>
      addresses.every((address) => spec?.cidrBlock.split(',').some((cidr) => cidrContains(cidr, address))),
    )
    .map(({ name }) => name);
  const [only, ...others] = names;
  const which = addresses.join(' and ');
  if (only === undefined)
    throw new CliError('refused', `${which}: no subnet contains this; \`ipledger subnets\` lists the subnets`);
  if (others.length > 0)
    throw new CliError('usage', `${which}: the subnets ${names.join(' and ')} contain this; name one with --subnet`);
  return only;
}

/** The current record of an address. @throws IpledgerError ADDRESS_UNKNOWN, SUBNET_UNKNOWN */
export async function readAddressRecord(
  allocator: LedgerClient,
  subnet: string,
  address: string,
): Promise<AddressRecord> {
  const { record } = await allocator.call(IpamService.getAddress, { subnet, address });
  if (!record) throw new CliError('refused', `the ledger has no record of ${address} in subnet ${subnet}`);
  return record;
}

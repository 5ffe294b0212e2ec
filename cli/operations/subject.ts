/** What an operation is about: an address as a person writes it, found in its subnet. */
import { isIP } from 'node:net';
import { cidrHas } from '../../lib/ip.ts';
import { type AddressRecord, IpamService, SubnetsService } from '../../proto/ipledger.ts';
import type { Allocator } from '../allocator.ts';
import { Failure } from '../failure.ts';

/**
 * The one subnet that holds all these addresses.
 * @throws Failure for what is no address, is in no subnet, or could be in several.
 */
export async function subnetOf(allocator: Allocator, addresses: readonly string[], named?: string): Promise<string> {
  const malformed = addresses.find((address) => isIP(address) === 0);
  if (malformed !== undefined) throw new Failure('usage', `${malformed} is no IP address`);
  if (named !== undefined) return named;
  const { subnets } = await allocator.ask(SubnetsService.listSubnets, {});
  const all = subnets
    .filter(({ spec }) =>
      addresses.every((address) => spec?.cidrBlock.split(',').some((cidr) => cidrHas(cidr, address))),
    )
    .map(({ name }) => name);
  const [only, ...others] = all;
  const which = addresses.join(' and ');
  if (only === undefined) throw new Failure('refused', `${which}: in no subnet; \`ipledger show\` lists them`);
  if (others.length > 0)
    throw new Failure('usage', `${which}: in the subnets ${all.join(' and ')}; choose by --subnet`);
  return only;
}

/** What is known of an address now. @throws IpledgerError ADDRESS_UNKNOWN, SUBNET_UNKNOWN */
export async function recordOf(allocator: Allocator, subnet: string, address: string): Promise<AddressRecord> {
  const { record } = await allocator.ask(IpamService.get, { subnet, address });
  if (!record) throw new Failure('refused', `nothing is known of ${address} in subnet ${subnet}`);
  return record;
}

/** What an operation is about: an address as a person writes it, found in its subnet. */
import { BlockList, isIP, isIPv4 } from 'node:net';
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
    .filter(({ spec }) => addresses.every((address) => holds(spec?.cidrBlock ?? '', address)))
    .map(({ name }) => name);
  const [only, ...others] = all;
  const which = addresses.join(' and ');
  if (only === undefined) throw new Failure('refused', `${which}: in no subnet; \`ipledger show\` lists them`);
  if (others.length > 0)
    throw new Failure('usage', `${which}: in the subnets ${all.join(' and ')}; choose by --subnet`);
  return only;
}

/** Whether a CIDR, or one of two joined with a comma, holds an address. */
function holds(cidrBlock: string, address: string): boolean {
  const family = isIPv4(address) ? 'ipv4' : 'ipv6';
  const own = cidrBlock.split(',').find((cidr) => cidr.includes(':') === (family === 'ipv6'));
  if (own === undefined) return false;
  const [network = '', length = ''] = own.split('/');
  const list = new BlockList();
  list.addSubnet(network, Number(length), family);
  return list.check(address, family);
}

/** What is known of an address now. @throws IpledgerError ADDRESS_UNKNOWN, SUBNET_UNKNOWN */
export async function recordOf(allocator: Allocator, subnet: string, address: string): Promise<AddressRecord> {
  const { record } = await allocator.ask(IpamService.get, { subnet, address });
  if (!record) throw new Failure('refused', `nothing is known of ${address} in subnet ${subnet}`);
  return record;
}

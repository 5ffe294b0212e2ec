/** A served allocator of a case's own, on a ledger in memory, with the subnets that the case gives. */
import { type ErrorCode, IpledgerError } from '../../../lib/errors.ts';
import type { Input } from '../../../proto/codec.ts';
import { type SubnetSpec, SubnetsService } from '../../../proto/ipledger.ts';
import type { SubnetSpec as SpecInForce } from '../../../services/allocator/domain/event.ts';
import { Journal } from '../../../services/allocator/domain/journal.ts';
import { configureSubnet } from '../../../services/allocator/domain/indexes.ts';
import { subnetOf } from '../../../services/allocator/domain/subnet.ts';
import type { Served } from '../../../services/allocator/grpc/specification.ts';
import { CannotExecute, understandOnly } from '../case.ts';
import { type Fields, textOf, textsOf } from '../json.ts';

/** Our codes under the names that Kube-OVN's errors have. */
const kubeOvnNames: Partial<Record<ErrorCode, string>> = {
  ADDRESS_OUT_OF_RANGE: 'AddressOutOfRange',
  ADDRESS_IN_USE: 'AddressConflict',
  MAC_IN_USE: 'AddressConflict',
  SUBNET_FULL: 'NoAvailableAddress',
  SUBNET_UNKNOWN: 'NoSubnet',
  SUBNET_INVALID: 'CIDRInvalid',
};

/** A refusal as it is compared. @throws CannotExecute where nothing was refused, but is not served yet. */
export function refusalOf(thrown: unknown): Fields {
  const { code, message } = IpledgerError.from(thrown);
  if (code === 'NOT_IMPLEMENTED') throw new CannotExecute(message);
  if (code === 'BUG') throw thrown;
  const name = kubeOvnNames[code];
  return { error: name === undefined || message.includes(name) ? message : `${name}: ${message}` };
}

/** Fields in which a case gives a subnet. */
export const specKeys = ['name', 'cidrBlock', 'gateway', 'excludeIps', 'provider', 'protocol', 'vlan', 'gatewayMAC'];

/**
 * Configures a subnet like any other, and then puts it in force with exactly the excludes that the case gives: the cases speak of
 * Kube-OVN's allocator alone, in front of which nobody puts the gateway among them. Without cooldown, which it does not know.
 * @throws IpledgerError the refusal.
 */
export async function configure(served: Served, name: string, given: Fields): Promise<void> {
  const spec: Input<SubnetSpec> = {
    cidrBlock: textOf(given['cidrBlock']),
    gateway: textOf(given['gateway']),
    excludeIps: textsOf(given['excludeIps']),
    provider: textOf(given['provider']),
    protocol: isMacOnly(given) ? 'Mac' : textOf(given['protocol']),
    cooldownMs: 0,
  };
  const { subnet } = await served.call(SubnetsService.applySubnet, { name, spec });
  if (!subnet?.spec || subnet.spec.cidrBlock === '') return;
  const { cidrBlock, provider, protocol } = subnet.spec;
  putInForce(served, name, { ...given, cidrBlock, provider, protocol });
}

const isMacOnly = ({ vlan, cidrBlock }: Fields): boolean => textOf(vlan) !== '' && textOf(cidrBlock) === '';

/** Puts a subnet in force as it is written, whatever the rules for Subnets say. */
export function putInForce({ replica }: Served, name: string, given: Fields): void {
  const cidrBlock = textOf(given['cidrBlock']);
  const subnet = subnetOf(name, {
    cidrBlock,
    gateway: gatewaysOf(cidrBlock, textOf(given['gateway'])),
    excludeIps: textsOf(given['excludeIps']),
    provider: textOf(given['provider']),
    protocol: textOf(given['protocol']) as SpecInForce['protocol'],
    cooldownMs: 0,
    bindingTimeoutMs: 0,
  });
  configureSubnet(replica.state, { subnet }, new Journal());
}

/** The gateway of each family, in the order of the CIDRs; where none is given, one that no host has. */
function gatewaysOf(cidrBlock: string, given: string): string {
  const gateways = given.split(',').map((text) => text.trim());
  const gatewayOf = (cidr: string): string => {
    const six = cidr.includes(':');
    return gateways.find((gateway) => gateway !== '' && gateway.includes(':') === six) ?? (six ? '::' : '0.0.0.0');
  };
  return cidrBlock.split(',').map(gatewayOf).join(',');
}

/** @throws CannotExecute for a subnet that says more than is understood. */
export const understandSpec = (given: Fields): void => understandOnly('subnet field', given, specKeys);

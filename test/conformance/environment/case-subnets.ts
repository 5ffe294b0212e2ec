/** Configures the subnets of a case in its allocator, whose ledger is in memory. */
import { type ErrorCode, IpledgerError } from '../../../lib/errors.ts';
import type { MessageInput } from '../../../proto/codec.ts';
import { type SubnetSpec, SubnetsService } from '../../../proto/generated/ipledger.ts';
import type { SubnetSpec as SpecInForce } from '../../../ledger/domain/values/configuration.ts';
import { UndoLog } from '../../../ledger/domain/state/undo-log.ts';
import { indexSubnet } from '../../../ledger/domain/state/indexes.ts';
import { subnetFromSpec } from '../../../ledger/domain/state/subnet.ts';
import type { ServedAllocator } from '../../../services/allocator/grpc/testing/served-allocator.ts';
import { UnsupportedCaseError, rejectUnknownKeys } from '../case.ts';
import { type Fields, textOf, textsOf } from '../../harness/json.ts';

/** Error codes with the names of Kube-OVN's errors. */
const kubeOvnNames: Partial<Record<ErrorCode, string>> = {
  ADDRESS_OUT_OF_RANGE: 'AddressOutOfRange',
  ADDRESS_IN_USE: 'AddressConflict',
  ADDRESS_QUARANTINED: 'AddressConflict',
  ADDRESS_RESERVED: 'AddressConflict',
  MAC_IN_USE: 'AddressConflict',
  MAC_RESERVED: 'AddressConflict',
  SUBNET_FULL: 'NoAvailableAddress',
  SUBNET_UNKNOWN: 'NoSubnet',
  SUBNET_INVALID: 'CIDRInvalid',
};

/**
 * Formats the result of a rejected operation.
 * @throws UnsupportedCaseError if the operation is not implemented
 */
export function formatRefusal(thrown: unknown): Fields {
  const { code, message } = IpledgerError.from(thrown);
  if (code === 'NOT_IMPLEMENTED') throw new UnsupportedCaseError(message);
  if (code === 'BUG') throw thrown;
  const name = kubeOvnNames[code];
  return { error: name === undefined || message.includes(name) ? message : `${name}: ${message}` };
}

/** The fields of a subnet in a case. */
export const specKeys = ['name', 'cidrBlock', 'gateway', 'excludeIps', 'provider', 'protocol', 'vlan', 'gatewayMAC'];

/**
 * Configures a subnet through the API, then overrides its excludes with exactly those of the case:
 * the cases are about Kube-OVN's allocator without its controller, which adds the gateway to the
 * excludes. There is no cooldown, which Kube-OVN does not have.
 * @throws IpledgerError when the subnet is rejected
 */
export async function applySubnet(served: ServedAllocator, name: string, given: Fields): Promise<void> {
  const spec: MessageInput<SubnetSpec> = {
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
  overrideSubnet(served, name, { ...given, cidrBlock, provider, protocol });
}

const isMacOnly = ({ vlan, cidrBlock }: Fields): boolean => textOf(vlan) !== '' && textOf(cidrBlock) === '';

/** Sets a subnet in the ledger's state without validation. */
export function overrideSubnet({ replica }: ServedAllocator, name: string, given: Fields): void {
  const cidrBlock = textOf(given['cidrBlock']);
  const subnet = subnetFromSpec(name, {
    cidrBlock,
    gateway: gatewaysOf(cidrBlock, textOf(given['gateway'])),
    excludeIps: textsOf(given['excludeIps']),
    provider: textOf(given['provider']),
    protocol: textOf(given['protocol']) as SpecInForce['protocol'],
    cooldownMs: 0,
    bindingTimeoutMs: 0,
  });
  indexSubnet(replica.state, { subnet }, new UndoLog());
}

/** Returns a gateway for each CIDR; without a gateway, an address that no host has. */
function gatewaysOf(cidrBlock: string, given: string): string {
  const gateways = given.split(',').map((text) => text.trim());
  const gatewayOf = (cidr: string): string => {
    const six = cidr.includes(':');
    return gateways.find((gateway) => gateway !== '' && gateway.includes(':') === six) ?? (six ? '::' : '0.0.0.0');
  };
  return cidrBlock.split(',').map(gatewayOf).join(',');
}

/** @throws UnsupportedCaseError for a subnet with unknown fields */
export const rejectUnknownSpecKeys = (given: Fields): void => rejectUnknownKeys('subnet field', given, specKeys);

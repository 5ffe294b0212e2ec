/** Network of OVN4NFV (`k8s.plugin.opnfv.org/v1alpha1`), for which the watcher makes a Subnet. */
import { isAddress, isCidr } from '../../../../lib/net/ip.ts';
import { asRecord, asText, type UntypedJson } from '../../../../lib/kubernetes/untyped-json.ts';
import { subnetLimits, textLimits, tooLong, tooMany, truncate } from '../../limits.ts';
import type { ResourceKind } from '../../../../lib/kubernetes/client/informer.ts';
import { type CustomResource, customResourceOf } from './custom-resource.ts';

export interface Ovn4nfvNetwork extends CustomResource {
  /** The first range per family, IPv4 first; at least one, unless there are problems. */
  readonly ranges: readonly Ovn4nfvRange[];
  /** Fields that have a value, but no effect here. */
  readonly ignoredFields: readonly string[];
}

export interface Ovn4nfvRange {
  readonly cidr: string;
  /** The gateway without prefix length; "" for the first usable address. */
  readonly gateway: string;
  /** The excluded addresses, as "address" or "first..last". */
  readonly excludeIps: readonly string[];
}

export const ovn4nfvNetworkApi = {
  apiVersion: 'k8s.plugin.opnfv.org/v1alpha1',
  kind: 'Network',
  plural: 'networks',
} as const;

export const ovn4nfvNetworks: ResourceKind<Ovn4nfvNetwork> = {
  path: `/apis/${ovn4nfvNetworkApi.apiVersion}/${ovn4nfvNetworkApi.plural}`,
  mayBeMissing: true,
  parse: toOvn4nfvNetwork,
};

/** The number of entries of `ipv4Subnets` and of `ipv6Subnets`, of which only the first is read. */
const maxRanges = 16;
/** The length of `excludeIps`, in characters. */
const excludesLength = 16_384;

/** @throws Error for an object without name or uid */
export function toOvn4nfvNetwork(raw: unknown): Ovn4nfvNetwork {
  const object = asRecord(raw);
  const spec = asRecord(object['spec']);
  const problems: string[] = [];
  const ranges = [rangeOf(spec, 'ipv4Subnets', problems), rangeOf(spec, 'ipv6Subnets', problems)].filter(
    (range) => range !== undefined,
  );
  if (ranges.length === 0 && problems.length === 0)
    problems.push('spec.ipv4Subnets and spec.ipv6Subnets are empty: name a subnet in one of them');
  const type = asText(spec['cniType']);
  if (type !== '' && type !== 'ovn4nfv')
    problems.push(`spec.cniType ${truncate(JSON.stringify(type))} is not served: must be ovn4nfv`);
  return {
    ...customResourceOf(asRecord(object['metadata']), object['status']),
    ranges,
    ignoredFields: ignoredFieldsOf(spec),
    problems,
  };
}

function rangeOf(spec: UntypedJson, field: string, problems: string[]): Ovn4nfvRange | undefined {
  const value = spec[field] ?? [];
  const problem = (text: string): undefined => void problems.push(text);
  if (!Array.isArray(value)) return problem(`spec.${field} must be a list`);
  const many = tooMany(`spec.${field}`, value, { most: maxRanges, unit: 'entries' });
  if (many !== undefined) return problem(many);
  if (value.length === 0) return undefined;
  const { subnet, gateway, excludeIps } = asRecord(value[0]);
  const where = `spec.${field}[0]`;
  const long =
    tooLong(`${where}.subnet`, asText(subnet), textLimits.addressLength) ??
    tooLong(`${where}.gateway`, asText(gateway), textLimits.addressLength) ??
    tooLong(`${where}.excludeIps`, asText(excludeIps), excludesLength);
  if (long !== undefined) return problem(long);
  const excludes = asText(excludeIps)
    .split(/\s+/)
    .filter((each) => each !== '');
  const manyExcludes = tooMany(`${where}.excludeIps`, excludes, { most: subnetLimits.excludeIps, unit: 'entries' });
  if (manyExcludes !== undefined) return problem(manyExcludes);
  if (!isCidr(asText(subnet))) return problem(`${where}.subnet ${JSON.stringify(subnet ?? '')} is not a CIDR`);
  const [address = ''] = asText(gateway).split('/');
  if (address !== '' && !isAddress(address))
    return problem(`${where}.gateway ${JSON.stringify(gateway)} is not an address with a prefix length`);
  return { cidr: asText(subnet), gateway: address, excludeIps: excludes };
}

function ignoredFieldsOf(spec: UntypedJson): string[] {
  const isSet = (value: unknown): boolean => (Array.isArray(value) ? value : Object.keys(asRecord(value))).length > 0;
  const unused = ['dns', 'routes'].filter((field) => isSet(spec[field]));
  const further = ['ipv4Subnets', 'ipv6Subnets'].filter((field) => {
    const value: unknown = spec[field];
    return Array.isArray(value) && value.length > 1;
  });
  return [...unused.map((field) => `spec.${field}`), ...further.map((field) => `spec.${field} after the first entry`)];
}

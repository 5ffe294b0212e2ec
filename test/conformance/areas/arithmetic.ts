/** subnet-math: address arithmetic of the domain; addresses with their masks as the plugin prints them. */
import { formatAddress, lastOf, overlap, parseAddress, parseCidr } from '../../../services/allocator/domain/address.ts';
import { formatRanges, minus, size } from '../../../services/allocator/domain/interval.ts';
import {
  formatSubnet,
  normaliseSubnet,
  type SubnetFamily,
  subnetOf,
} from '../../../services/allocator/domain/subnet.ts';
import { CannotExecute, notUnderstood, understandOnly } from '../case.ts';
import { type Fields, fieldsOf, type Json, listOf, textOf, textsOf } from '../json.ts';
import type { Stage } from '../stage.ts';
import { runPlugin, usualEnvironment } from '../world/plugin.ts';
import { type Area, type Execute, failed } from './area.ts';
import { mergedExcludes } from '../world/ranges.ts';

const requested = { gateway: '', excludeIps: [] as string[], provider: 'math.default', protocol: '' };

/** The families of a CIDR block, whatever a Subnet's rules say about it. */
function familiesOf(cidrBlock: string, excludeIps: readonly string[] = []): readonly SubnetFamily[] {
  const gateway = cidrBlock
    .split(',')
    .map((cidr) => (cidr.includes(':') ? '::' : '0.0.0.0'))
    .join(',');
  const spec = { cidrBlock, gateway, excludeIps, provider: '', protocol: 'IPv4' as const };
  return subnetOf('math', { ...spec, cooldownMs: 0, bindingTimeoutMs: 0 }).families;
}

/**
 * What is wrong with a CIDR block as such; that it is reserved is no matter of arithmetic.
 * @param gateway tried as the subnet's.
 */
function problemsOf(cidrBlock: string, gateway = ''): string {
  const normalised = normaliseSubnet('math', { ...requested, cidrBlock, gateway });
  const problems = 'problems' in normalised ? normalised.problems : [];
  return problems.filter((problem) => !problem.includes(' conflict with v')).join('; ');
}

const completed = ({ cidr, gateway }: Fields): Fields => ({
  gateway: formatSubnet({ ...requested, cidrBlock: textOf(cidr), gateway: textOf(gateway) }).gateway,
});

const joined = (texts: readonly string[]): string => texts.join(',');

type Compute = (given: Fields, stage: Stage) => Promise<Fields> | Fields;

/** The first and the last address that a host may have. */
const ends =
  (name: string, end: 'first' | 'last'): Compute =>
  ({ cidr }) => {
    const problem = problemsOf(textOf(cidr));
    if (problem !== '') return failed(problem);
    const texts = familiesOf(textOf(cidr)).map(({ family, hosts }) => formatAddress({ family, value: hosts[end] }));
    return { [name]: joined(texts) };
  };

/** The first and the last address of all, which no host may have. */
const edges =
  (name: string, edge: 'base' | 'last'): Compute =>
  ({ cidr }) => {
    const texts = familiesOf(textOf(cidr)).map(({ family, cidr: parsed }) =>
      formatAddress({ family, value: edge === 'base' ? parsed.base : lastOf(parsed) }),
    );
    return { [name]: joined(texts) };
  };

function contains({ cidr, ips }: Fields): Fields {
  const cidrs = textOf(cidr)
    .split(',')
    .flatMap((text) => parseCidr(text) ?? []);
  const addresses = textOf(ips)
    .split(',')
    .map((ip) => parseCidr(ip.includes('/') ? ip : `${ip}/${ip.includes(':') ? 128 : 32}`));
  return { contains: addresses.every((address) => address && cidrs.some((each) => overlap(each, address))) };
}

function protocol({ address }: Fields): Fields {
  const families = textOf(address)
    .split(',')
    .map((text) => (parseAddress(text) ?? parseCidr(text))?.family);
  const [first, second] = families;
  if (families.length === 1 && first !== undefined) return { protocol: `IPv${first}` };
  const both = families.length === 2 && first !== undefined && second !== undefined && first !== second;
  return { protocol: both ? 'Dual' : '' };
}

/** The domain puts the CIDR of its family beside an address, and the plugin takes the mask from there. */
async function withMask({ ip, cidr }: Fields, { run }: Stage): Promise<Fields> {
  const texts: string[] = [];
  for (const address of textOf(ip).split(',')) {
    const family = familiesOf(textOf(cidr)).find((each) => each.family === parseAddress(address)?.family);
    if (!family) return failed(`${address}: no CIDR of its family in ${textOf(cidr)}`);
    const body = { ips: [{ ip: address, cidr: family.cidrText }] };
    const ipam = { type: 'kube-ovn', server_socket: '/daemon.sock' };
    const config = { cniVersion: '1.0.0', name: 'math', type: 'macvlan', ipam };
    const answer = () => ({ status: 200, body });
    const { exit, printed } = await runPlugin(run, { config, env: usualEnvironment, answer });
    if (exit !== 0) return failed(textOf(fieldsOf(printed)['msg']));
    texts.push(...listOf(fieldsOf(printed)['ips']).map((each) => textOf(fieldsOf(each)['address'])));
  }
  return { address: joined(texts) };
}

/** Of both families together, all addresses that there are. */
const everything = ['0.0.0.0/0', '::/0'] as const;

const computations: Readonly<Record<string, Compute>> = {
  firstIP: ends('firstIP', 'first'),
  lastIP: ends('lastIP', 'last'),
  defaultGateway: ({ cidr }) => completed({ cidr: cidr ?? '' }),
  completedGateway: completed,
  effectiveExcludeIps: ({ cidr, excludeIps }) => ({
    effective: mergedExcludes(
      familiesOf(textOf(cidr), textsOf(excludeIps)).flatMap(({ family, hosts, usable }) => {
        const excluded = minus([hosts], usable);
        return excluded.length === 0 ? [] : formatRanges(family, excluded).split(',');
      }),
    ),
  }),
  addressCount: ({ cidr }) => ({
    count: String(familiesOf(textOf(cidr)).reduce((sum, { hosts }) => sum + size([hosts]), 0n)),
  }),
  excludedCount: ({ excludeIps }) => ({
    count: String(
      familiesOf(joined(everything), textsOf(excludeIps)).reduce(
        (sum, { hosts, usable }) => sum + size([hosts]) - size(usable),
        0n,
      ),
    ),
  }),
  contains,
  protocol,
  addressWithMask: withMask,
  ...Object.fromEntries(['network', 'networkNumber', 'subnetNumber'].map((name) => [name, edges(name, 'base')])),
  ...Object.fromEntries(['broadcast', 'subnetBroadcast'].map((name) => [name, edges(name, 'last')])),
};

const compute: Execute = async (the, stage) => {
  understandOnly('given', the.given, ['cidr', 'gateway', 'excludeIps', 'ips', 'address', 'ip']);
  const got: Record<string, Json> = {};
  for (const name of textsOf(the.when['compute'])) {
    const computation = computations[name];
    if (!computation) throw notUnderstood('compute', name);
    try {
      Object.assign(got, await computation(the.given, stage));
    } catch (error) {
      if (error instanceof CannotExecute) throw error;
      Object.assign(got, failed(error instanceof Error ? error.message : String(error)));
    }
  }
  const { count, effective, ...rest } = the.expect;
  const expected = {
    ...rest,
    ...(count !== undefined && { count: typeof count === 'number' ? String(count) : count }),
    // Neighbours may be told as one range or as several.
    ...(effective !== undefined && { effective: mergedExcludes(textsOf(effective)) }),
  };
  return { expected, got };
};

/** An address that no host may have is seen when it is tried as a gateway. */
const notNetworkOrBroadcast: Execute = (the) => {
  if (!textOf(the.when['validate']).includes('network/broadcast'))
    throw notUnderstood('validate', the.when['validate']);
  understandOnly('given', the.given, ['cidr', 'ip']);
  const problem = problemsOf(textOf(the.given['cidr']), textOf(the.given['ip']));
  return { expected: the.expect, got: problem === '' ? {} : failed(problem) };
};

export const arithmeticAreas: readonly Area[] = [
  {
    name: 'subnet-math',
    lane: 'plugin',
    forms: [
      { when: 'compute', execute: compute },
      { when: 'validate', execute: notNetworkOrBroadcast },
    ],
  },
];

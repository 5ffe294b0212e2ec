/** subnet-math: the domain's address arithmetic, and the plugin's addresses with masks. */
import {
  formatAddress,
  lastAddressOf,
  cidrsOverlap,
  parseAddress,
  parseCidr,
} from '../../../ledger/domain/addresses/address.ts';
import { formatRanges, difference, countAddresses } from '../../../ledger/domain/addresses/interval.ts';
import { type SubnetFamily, subnetFromSpec } from '../../../ledger/domain/state/subnet.ts';
import { formatSubnet, normaliseSubnet } from '../../../ledger/domain/state/normalise-subnet.ts';
import { UnsupportedCaseError, unsupportedError, rejectUnknownKeys } from '../case.ts';
import { type Fields, fieldsOf, type Json, listOf, textOf, textsOf } from '../../harness/json.ts';
import type { RunContext } from '../run-context.ts';
import { runPlugin, defaultEnvironment } from '../environment/plugin-runner.ts';
import { type Area, type Execute, errorResult } from './area.ts';
import { mergeExcludes } from '../environment/address-ranges.ts';

const requested = { gateway: '', excludeIps: [] as string[], provider: 'math.default', protocol: '' };

/** The families of a CIDR block, without the rules of Subnets. */
function familiesOf(cidrBlock: string, excludeIps: readonly string[] = []): readonly SubnetFamily[] {
  const gateway = cidrBlock
    .split(',')
    .map((cidr) => (cidr.includes(':') ? '::' : '0.0.0.0'))
    .join(',');
  const spec = { cidrBlock, gateway, excludeIps, provider: '', protocol: 'IPv4' as const };
  return subnetFromSpec('math', { ...spec, cooldownMs: 0, bindingTimeoutMs: 0 }).families;
}

/**
 * Returns the problems of a CIDR block, without conflicts with reserved ranges, which are not
 * arithmetic.
 * @param gateway used as the subnet's gateway
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

type Compute = (given: Fields, context: RunContext) => Promise<Fields> | Fields;

/** Computes the first or the last host address. */
const ends =
  (name: string, end: 'first' | 'last'): Compute =>
  ({ cidr }) => {
    const problem = problemsOf(textOf(cidr));
    if (problem !== '') return errorResult(problem);
    const texts = familiesOf(textOf(cidr)).map(({ family, hosts }) => formatAddress({ family, value: hosts[end] }));
    return { [name]: joined(texts) };
  };

/** Computes the network or the broadcast address. */
const edges =
  (name: string, edge: 'base' | 'last'): Compute =>
  ({ cidr }) => {
    const texts = familiesOf(textOf(cidr)).map(({ family, cidr: parsed }) =>
      formatAddress({ family, value: edge === 'base' ? parsed.base : lastAddressOf(parsed) }),
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
  return { contains: addresses.every((address) => address && cidrs.some((each) => cidrsOverlap(each, address))) };
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

/** Reads the address with its mask, which the plugin adds from the CIDR of the address's family. */
async function withMask({ ip, cidr }: Fields, { run }: RunContext): Promise<Fields> {
  const texts: string[] = [];
  for (const address of textOf(ip).split(',')) {
    const family = familiesOf(textOf(cidr)).find((each) => each.family === parseAddress(address)?.family);
    if (!family) return errorResult(`${address}: no CIDR of its family in ${textOf(cidr)}`);
    const body = { ips: [{ ip: address, cidr: family.cidrText }] };
    const ipam = { type: 'kube-ovn', server_socket: '/daemon.sock' };
    const config = { cniVersion: '1.0.0', name: 'math', type: 'macvlan', ipam };
    const respond = () => ({ status: 200, body });
    const { exit, printed } = await runPlugin(run, { config, env: defaultEnvironment, respond });
    if (exit !== 0) return errorResult(textOf(fieldsOf(printed)['msg']));
    texts.push(...listOf(fieldsOf(printed)['ips']).map((each) => textOf(fieldsOf(each)['address'])));
  }
  return { address: joined(texts) };
}

/** All addresses of both families. */
const everything = ['0.0.0.0/0', '::/0'] as const;

const computations: Readonly<Record<string, Compute>> = {
  firstIP: ends('firstIP', 'first'),
  lastIP: ends('lastIP', 'last'),
  defaultGateway: ({ cidr }) => completed({ cidr: cidr ?? '' }),
  completedGateway: completed,
  effectiveExcludeIps: ({ cidr, excludeIps }) => ({
    effective: mergeExcludes(
      familiesOf(textOf(cidr), textsOf(excludeIps)).flatMap(({ family, hosts, usable }) => {
        const excluded = difference([hosts], usable);
        return excluded.length === 0 ? [] : formatRanges(family, excluded).split(',');
      }),
    ),
  }),
  addressCount: ({ cidr }) => ({
    count: String(familiesOf(textOf(cidr)).reduce((sum, { hosts }) => sum + countAddresses([hosts]), 0n)),
  }),
  excludedCount: ({ excludeIps }) => ({
    count: String(
      familiesOf(joined(everything), textsOf(excludeIps)).reduce(
        (sum, { hosts, usable }) => sum + countAddresses([hosts]) - countAddresses(usable),
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

const compute: Execute = async (testCase, context) => {
  rejectUnknownKeys('given', testCase.given, ['cidr', 'gateway', 'excludeIps', 'ips', 'address', 'ip']);
  const got: Record<string, Json> = {};
  for (const name of textsOf(testCase.when['compute'])) {
    const computation = computations[name];
    if (!computation) throw unsupportedError('compute', name);
    try {
      Object.assign(got, await computation(testCase.given, context));
    } catch (error) {
      if (error instanceof UnsupportedCaseError) throw error;
      Object.assign(got, errorResult(error instanceof Error ? error.message : String(error)));
    }
  }
  const { count, effective, ...rest } = testCase.expect;
  const expected = {
    ...rest,
    ...(count !== undefined && { count: typeof count === 'number' ? String(count) : count }),
    // Adjacent addresses may be one range or several.
    ...(effective !== undefined && { effective: mergeExcludes(textsOf(effective)) }),
  };
  return { expected, got };
};

/** Checks that a network or broadcast address is rejected as a gateway. */
const notNetworkOrBroadcast: Execute = (testCase) => {
  if (!textOf(testCase.when['validate']).includes('network/broadcast'))
    throw unsupportedError('validate', testCase.when['validate']);
  rejectUnknownKeys('given', testCase.given, ['cidr', 'ip']);
  const problem = problemsOf(textOf(testCase.given['cidr']), textOf(testCase.given['ip']));
  return { expected: testCase.expect, got: problem === '' ? {} : errorResult(problem) };
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

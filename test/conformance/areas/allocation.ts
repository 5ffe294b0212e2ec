/** alloc-*, ippool, mac: allocations in steps, with an allocator in this process. */
import { IpledgerError } from '../../../lib/errors.ts';
import { SubnetsService } from '../../../proto/generated/ipledger.ts';
import { unsupportedError, rejectUnknownKeys } from '../case.ts';
import { type Fields, fieldsOf, isFields, type Json, listOf, textOf, textsOf } from '../../harness/json.ts';
import { formatCounts } from '../environment/address-counts.ts';
import { overrideSubnet, formatRefusal } from '../environment/case-subnets.ts';
import { withAllocator, executeStep } from '../environment/allocator-steps.ts';
import { type Area, type Execute, type Form, comparisonOf } from './area.ts';

/** Replaces "=stepN" by the field of the same name in the result of that step. */
function resolveReferences(expected: Json, got: readonly Fields[]): Json {
  return listOf(expected).map((result) =>
    Object.fromEntries(
      Object.entries(fieldsOf(result)).map(([key, value]) => {
        const step = /^=step(\d+)$/.exec(textOf(value))?.[1];
        return [key, step === undefined ? value : (got[Number(step)]?.[key] ?? '(nothing)')];
      }),
    ),
  );
}

const steps: Execute = (testCase) => {
  rejectUnknownKeys('given', testCase.given, ['subnets']);
  rejectUnknownKeys('expectation', testCase.expect, ['results']);
  return withAllocator(listOf(testCase.given['subnets']).map(fieldsOf), testCase, async (stepContext) => {
    const results: Fields[] = [];
    for (const step of listOf(testCase.when['steps'])) results.push(await executeStep(stepContext, fieldsOf(step)));
    return { expected: { results: resolveReferences(testCase.expect['results'] ?? null, results) }, got: { results } };
  });
};

/** Executes a step of an operation, or a list of steps. */
const singleOperation =
  (op: string): Execute =>
  async (testCase) => {
    rejectUnknownKeys('given', testCase.given, ['subnet', 'gatewayMAC']);
    const { gatewayMAC } = testCase.given;
    const subnet = { ...fieldsOf(testCase.given['subnet']), ...(gatewayMAC !== undefined && { gatewayMAC }) };
    const operands = testCase.when[op] ?? null;
    try {
      return await withAllocator([subnet], testCase, async (stepContext) => {
        const results: Fields[] = [];
        for (const step of isFields(operands) ? [operands] : listOf(operands).map(fieldsOf))
          results.push(await executeStep(stepContext, { pod: 'ns/p', ...step, op }));
        return comparisonOf(testCase, isFields(operands) ? (results[0] ?? {}) : { results });
      });
    } catch (thrown) {
      if (!(thrown instanceof IpledgerError)) throw thrown;
      return comparisonOf(testCase, { ...formatRefusal(thrown), results: [] }); // the subnet was rejected
    }
  };

/** Creates an IPPool. */
const createPool: Execute = (testCase) => {
  rejectUnknownKeys('given', testCase.given, ['subnets']);
  return withAllocator(listOf(testCase.given['subnets']).map(fieldsOf), testCase, async ({ served }) => {
    const { name, spec } = fieldsOf(testCase.when['create IPPool']);
    const { subnet, ips, namespaces } = fieldsOf(spec);
    const poolSpec = { subnet: textOf(subnet), ips: textsOf(ips), namespaces: textsOf(namespaces) };
    try {
      await served.call(SubnetsService.applyPool, { name: textOf(name), spec: poolSpec });
      return comparisonOf(testCase, {});
    } catch (thrown) {
      return comparisonOf(testCase, formatRefusal(thrown));
    }
  });
};

const everything = { name: 'everything', cidrBlock: '0.0.0.0/0,::/0', protocol: 'Dual' };

/** Parses a list of addresses, ranges and CIDRs, by a pool in a subnet of all addresses. */
const parseRanges: Execute = (testCase) => {
  rejectUnknownKeys('given', testCase.given, []);
  const narrower = { ...everything, cidrBlock: '10.0.0.0/8,fd00::/8' };
  return withAllocator([narrower], testCase, async ({ served }) => {
    overrideSubnet(served, everything.name, { ...everything, provider: 'everything.conformance' });
    const spec = { subnet: everything.name, ips: textsOf(testCase.when['parse range list']) };
    try {
      const { pool } = await served.call(SubnetsService.applyPool, { name: 'list', spec });
      const { v4AvailableRange, v6AvailableRange } = formatCounts(pool?.usage ?? []);
      const texts = [textOf(v4AvailableRange), textOf(v6AvailableRange)].filter((text) => text !== '');
      return comparisonOf(testCase, { string: texts.join(',') });
    } catch (thrown) {
      return comparisonOf(testCase, formatRefusal(thrown));
    }
  });
};

const cidrsOf: Readonly<Record<string, string>> = {
  IPv4: '10.0.0.0/16',
  IPv6: 'fd00::/64',
  Dual: '10.0.0.0/16,fd00::/64',
};

/**
 * Whether a pool with these counts of available addresses has one of the requested family ('': of
 * every family).
 */
const hasAvailable: Execute = async (testCase) => {
  rejectUnknownKeys('given', testCase.given, ['ippool status', 'subnet protocol']);
  const { v4AvailableIPs = 0, v6AvailableIPs = 0 } = fieldsOf(testCase.given['ippool status']);
  const cidrBlock = cidrsOf[textOf(testCase.given['subnet protocol']) || 'Dual'];
  if (cidrBlock === undefined) throw unsupportedError('subnet protocol', testCase.given['subnet protocol']);
  const ips = [
    ...Array.from({ length: Number(v4AvailableIPs) }, (_, index) => `10.0.1.${index + 1}`),
    ...Array.from({ length: Number(v6AvailableIPs) }, (_, index) => `fd00::1:${(index + 1).toString(16)}`),
  ];
  const result: boolean[] = [];
  for (const family of textsOf(testCase.when['has available for family'])) {
    const has = await withAllocator([{ name: 's', cidrBlock }], testCase, async (stepContext) => {
      const pool = await executeStep(stepContext, { op: 'upsertPool', name: 'pool', ips });
      const allocation = await executeStep(stepContext, { op: 'random', pod: 'ns/p', pool: 'pool', family });
      return pool['error'] === undefined && allocation['error'] === undefined;
    });
    result.push(has);
  }
  return comparisonOf(testCase, { result });
};

const maxGenerated = 5_000;

/** The MACs that an allocator generates for NICs of an OVN provider. */
const generateMacs: Execute = (testCase) => {
  rejectUnknownKeys('given', testCase.given, []);
  rejectUnknownKeys('expectation', testCase.expect, ['each', 'distinct']);
  const each = fieldsOf(testCase.expect['each']);
  rejectUnknownKeys('expectation each', each, ['regex', 'firstOctetBits']);
  return withAllocator([{ name: 's', cidrBlock: '10.0.0.0/16' }], testCase, async (stepContext) => {
    const count = Math.min(Number(testCase.when['generate random MAC']) || 1, maxGenerated);
    const macs: string[] = [];
    for (let index = 0; index < count; index++)
      macs.push(textOf((await executeStep(stepContext, { op: 'random', pod: `ns/p${index}` }))['mac']));
    const pattern = new RegExp(textOf(each['regex']) || '.');
    const invalid = macs.filter((mac) => !pattern.test(mac) || !hasBits(mac, textOf(each['firstOctetBits'])));
    const violating = invalid.slice(0, 3).map((mac) => mac || '(no MAC)');
    const distinct = new Set(macs).size === macs.length;
    return { expected: { violating: [], distinct: testCase.expect['distinct'] ?? true }, got: { violating, distinct } };
  });
};

/** @param words for instance "locally administered bit set, multicast bit clear" */
function hasBits(mac: string, words: string): boolean {
  const octet = Number.parseInt(mac.slice(0, 2), 16);
  const matches = (bit: string, mask: number): boolean => {
    const state = new RegExp(`${bit} bit (set|clear)`).exec(words)?.[1];
    return state === undefined || ((octet & mask) !== 0) === (state === 'set');
  };
  return matches('locally administered', 2) && matches('multicast', 1);
}

const stepForms: readonly Form[] = [{ when: 'steps', execute: steps }];

const poolForms: readonly Form[] = [
  ...stepForms,
  { when: 'create IPPool', execute: createPool },
  { when: 'parse range list', execute: parseRanges },
  { when: 'has available for family', execute: hasAvailable },
];

export const allocationAreas: readonly Area[] = [
  { name: 'alloc-random', lane: 'memory', forms: stepForms },
  { name: 'alloc-static', lane: 'memory', forms: stepForms },
  { name: 'ippool', lane: 'memory', forms: poolForms },
];

/** The forms of area `mac` that need no Pod. */
export const macForms: readonly Form[] = [
  ...stepForms,
  { when: 'generate random MAC', execute: generateMacs },
  { when: 'random', execute: singleOperation('random') },
  { when: 'static', execute: singleOperation('static') },
];

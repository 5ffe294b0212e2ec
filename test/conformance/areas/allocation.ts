/** alloc-*, ippool, mac: what an allocator gives, step by step. */
import { IpledgerError } from '../../../lib/errors.ts';
import { SubnetsService } from '../../../proto/ipledger.ts';
import { notUnderstood, understandOnly } from '../case.ts';
import { type Fields, fieldsOf, isFields, type Json, listOf, textOf, textsOf } from '../json.ts';
import { countsOf } from '../world/counts.ts';
import { putInForce, refusalOf } from '../world/ledger.ts';
import { play, resultOf } from '../world/steps.ts';
import { type Area, type Execute, type Form, seen } from './area.ts';

/** "=stepN" is the same as that step's field. */
function resolved(expected: Json, got: readonly Fields[]): Json {
  return listOf(expected).map((result) =>
    Object.fromEntries(
      Object.entries(fieldsOf(result)).map(([key, value]) => {
        const step = /^=step(\d+)$/.exec(textOf(value))?.[1];
        return [key, step === undefined ? value : (got[Number(step)]?.[key] ?? '(nothing)')];
      }),
    ),
  );
}

const steps: Execute = (the) => {
  understandOnly('given', the.given, ['subnets']);
  understandOnly('expectation', the.expect, ['results']);
  return play(listOf(the.given['subnets']).map(fieldsOf), the, async (playing) => {
    const results: Fields[] = [];
    for (const step of listOf(the.when['steps'])) results.push(await resultOf(playing, fieldsOf(step)));
    return { expected: { results: resolved(the.expect['results'] ?? null, results) }, got: { results } };
  });
};

/** One step of an operation, or a list of them. */
const only =
  (op: string): Execute =>
  async (the) => {
    understandOnly('given', the.given, ['subnet', 'gatewayMAC']);
    const { gatewayMAC } = the.given;
    const subnet = { ...fieldsOf(the.given['subnet']), ...(gatewayMAC !== undefined && { gatewayMAC }) };
    const asked = the.when[op] ?? null;
    try {
      return await play([subnet], the, async (playing) => {
        const results: Fields[] = [];
        for (const step of isFields(asked) ? [asked] : listOf(asked).map(fieldsOf))
          results.push(await resultOf(playing, { pod: 'ns/p', ...step, op }));
        return seen(the, isFields(asked) ? (results[0] ?? {}) : { results });
      });
    } catch (thrown) {
      if (!(thrown instanceof IpledgerError)) throw thrown;
      return seen(the, { ...refusalOf(thrown), results: [] }); // the subnet itself
    }
  };

/** An IPPool as its owner writes it. */
const createPool: Execute = (the) => {
  understandOnly('given', the.given, ['subnets']);
  return play(listOf(the.given['subnets']).map(fieldsOf), the, async ({ served }) => {
    const { name, spec } = fieldsOf(the.when['create IPPool']);
    const { subnet, ips, namespaces } = fieldsOf(spec);
    const wanted = { subnet: textOf(subnet), ips: textsOf(ips), namespaces: textsOf(namespaces) };
    try {
      await served.call(SubnetsService.applyPool, { name: textOf(name), spec: wanted });
      return seen(the, {});
    } catch (thrown) {
      return seen(the, refusalOf(thrown));
    }
  });
};

const everything = { name: 'everything', cidrBlock: '0.0.0.0/0,::/0', protocol: 'Dual' };

/** A list of addresses, ranges and CIDRs is what a pool is made of: it is read by making one, in a subnet of everything. */
const parseRanges: Execute = (the) => {
  understandOnly('given', the.given, []);
  const narrower = { ...everything, cidrBlock: '10.0.0.0/8,fd00::/8' };
  return play([narrower], the, async ({ served }) => {
    putInForce(served, everything.name, { ...everything, provider: 'everything.conformance' });
    const spec = { subnet: everything.name, ips: textsOf(the.when['parse range list']) };
    try {
      const { pool } = await served.call(SubnetsService.applyPool, { name: 'list', spec });
      const { v4AvailableRange, v6AvailableRange } = countsOf(pool?.usage ?? []);
      const texts = [textOf(v4AvailableRange), textOf(v6AvailableRange)].filter((text) => text !== '');
      return seen(the, { string: texts.join(',') });
    } catch (thrown) {
      return seen(the, refusalOf(thrown));
    }
  });
};

const cidrsOf: Readonly<Record<string, string>> = {
  IPv4: '10.0.0.0/16',
  IPv6: 'fd00::/64',
  Dual: '10.0.0.0/16,fd00::/64',
};

/** Whether a pool with so many addresses left of each family can give one of the family asked for ('': of all). */
const hasAvailable: Execute = async (the) => {
  understandOnly('given', the.given, ['ippool status', 'subnet protocol']);
  const { v4AvailableIPs = 0, v6AvailableIPs = 0 } = fieldsOf(the.given['ippool status']);
  const cidrBlock = cidrsOf[textOf(the.given['subnet protocol']) || 'Dual'];
  if (cidrBlock === undefined) throw notUnderstood('subnet protocol', the.given['subnet protocol']);
  const ips = [
    ...Array.from({ length: Number(v4AvailableIPs) }, (_, index) => `10.0.1.${index + 1}`),
    ...Array.from({ length: Number(v6AvailableIPs) }, (_, index) => `fd00::1:${(index + 1).toString(16)}`),
  ];
  const result: boolean[] = [];
  for (const family of textsOf(the.when['has available for family'])) {
    const has = await play([{ name: 's', cidrBlock }], the, async (playing) => {
      const made = await resultOf(playing, { op: 'upsertPool', name: 'pool', ips });
      const taken = await resultOf(playing, { op: 'random', pod: 'ns/p', pool: 'pool', family });
      return made['error'] === undefined && taken['error'] === undefined;
    });
    result.push(has);
  }
  return seen(the, { result });
};

const mostGenerated = 5_000;

/** MACs as an allocator gives them to Kube-OVN's own NICs that ask for none. */
const generateMacs: Execute = (the) => {
  understandOnly('given', the.given, []);
  understandOnly('expectation', the.expect, ['each', 'distinct']);
  const each = fieldsOf(the.expect['each']);
  understandOnly('expectation each', each, ['regex', 'firstOctetBits']);
  return play([{ name: 's', cidrBlock: '10.0.0.0/16' }], the, async (playing) => {
    const count = Math.min(Number(the.when['generate random MAC']) || 1, mostGenerated);
    const macs: string[] = [];
    for (let index = 0; index < count; index++)
      macs.push(textOf((await resultOf(playing, { op: 'random', pod: `ns/p${index}` }))['mac']));
    const pattern = new RegExp(textOf(each['regex']) || '.');
    const odd = macs.filter((mac) => !pattern.test(mac) || !hasBits(mac, textOf(each['firstOctetBits'])));
    const violating = odd.slice(0, 3).map((mac) => mac || '(no MAC)');
    const distinct = new Set(macs).size === macs.length;
    return { expected: { violating: [], distinct: the.expect['distinct'] ?? true }, got: { violating, distinct } };
  });
};

/** "locally administered bit set, multicast bit clear" */
function hasBits(mac: string, words: string): boolean {
  const octet = Number.parseInt(mac.slice(0, 2), 16);
  const says = (bit: string, mask: number): boolean => {
    const wanted = new RegExp(`${bit} bit (set|clear)`).exec(words)?.[1];
    return wanted === undefined || ((octet & mask) !== 0) === (wanted === 'set');
  };
  return says('locally administered', 2) && says('multicast', 1);
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
  { when: 'random', execute: only('random') },
  { when: 'static', execute: only('static') },
];

/** Rules of deviations.json that are code: predicates on a case, and computed expectations. */
import { isAddress, isCidr } from '../../lib/net/ip.ts';
import type { Case } from './case.ts';
import { type Fields, fieldsOf, listOf, textOf, textsOf } from '../harness/json.ts';
import { predictResults, strandsAddress } from './reference-model.ts';

/** Predicates by their name in deviations.json (`$is`). */
export const predicates: Readonly<Record<string, (testCase: Case) => boolean>> = {
  'a step would leave an address in use outside its subnet': strandsAddress,
  'the configuration names another provider than the network has': ({ given }) => {
    const nad = fieldsOf(given['NAD']);
    const { provider, ipam } = fieldsOf(nad['spec.config']);
    const configured = textOf(fieldsOf(ipam)['provider']) || textOf(provider);
    const own = `${textOf(nad['name'])}.${textOf(nad['namespace'])}`;
    return configured !== '' && configured !== own && configured !== `${own}.ovn`;
  },
  'the namespace names no Subnet': ({ given }) =>
    textOf(fieldsOf(given['namespace annotations'])['ovn.kubernetes.io/logical_switch']) === '',
  'a subnet is of MACs alone': ({ given }) =>
    [given['subnet'] ?? null, ...listOf(given['subnets'])]
      .map(fieldsOf)
      .some(({ vlan, cidrBlock }) => textOf(vlan) !== '' && textOf(cidrBlock) === ''),
  'a route cannot be read': ({ given }) =>
    listOf(fieldsOf(given['daemon response'])['routes'])
      .map(fieldsOf)
      .some(({ dst = '', gw = '' }) => (dst !== '' && !isCidr(textOf(dst))) || (gw !== '' && !isAddress(textOf(gw)))),
};

/** Computed expectations by their name in deviations.json (`$computed`). */
export const computedExpectations: Readonly<Record<string, (testCase: Case) => Fields>> = {
  'by the rules of the ledger': (testCase) => ({ results: predictResults(testCase) }),
  'the element of the list at ordinal less start': ({ given, when }) => {
    const start = Number(/start\D*(\d+)/.exec(textOf(given['owner']))?.[1] ?? 0);
    const [, list = ''] =
      Object.entries(fieldsOf(given['annotations'])).find(([key]) => key.endsWith('/ip_pool')) ?? [];
    const elements = textOf(list).split(textOf(list).includes(';') ? ';' : ',');
    const ordinals = textsOf(when['create pods in order']).map((pod) => Number(/\d+$/.exec(pod)?.[0]));
    return { ips: ordinals.map((ordinal) => elements[ordinal - start]?.trim() ?? null) };
  },
  'the first subnet by name that has room': ({ given }) => {
    const taken = fieldsOf(given['in use']);
    const names = listOf(given['subnets'])
      .map(fieldsOf)
      .filter(({ name, cidrBlock, excludeIps }) => {
        const prefix = Number(textOf(cidrBlock).split('/')[1]);
        const hosts = prefix >= 31 ? 2 : 2 ** (32 - prefix) - 2;
        return hosts - listOf(excludeIps).length - Object.keys(fieldsOf(taken[textOf(name)])).length > 0;
      })
      .map(({ name }) => textOf(name));
    return { subnet: names.sort()[0] ?? null };
  },
};

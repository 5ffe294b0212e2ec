/** naming: what objects are called, and what a provider's name says. */
import { isOvnProvider } from '../../../lib/provider.ts';
import { ipName } from '../../../lib/ip-name.ts';
import { notUnderstood, understandOnly } from '../case.ts';
import { textOf } from '../json.ts';
import { type Area, type Execute, seen } from './area.ts';

const compute: Execute = (the) => {
  if (!/IP CR name|nic key/.test(textOf(the.when['compute']))) throw notUnderstood('compute', the.when['compute']);
  understandOnly('given', the.given, ['pod', 'namespace', 'provider', 'vm', 'virtualmachine', 'ordinal']);
  const { pod, vm, virtualmachine, namespace, provider, ordinal = 0 } = the.given;
  // What a virtual machine's Pods hold is under the machine's name.
  const named = textOf(vm) || textOf(virtualmachine) || textOf(pod);
  const of = { namespace: textOf(namespace), provider: textOf(provider), ordinal: Number(ordinal) };
  return seen(the, { name: ipName({ pod: named, ...of }) });
};

const evaluate: Execute = (the) => {
  if (textOf(the.when['evaluate']) !== 'is OVN provider') throw notUnderstood('evaluate', the.when['evaluate']);
  understandOnly('given', the.given, ['provider']);
  return seen(the, { result: isOvnProvider(textOf(the.given['provider'])) });
};

export const nameAreas: readonly Area[] = [
  {
    name: 'naming',
    lane: 'memory',
    forms: [
      { when: 'compute', execute: compute },
      { when: 'evaluate', execute: evaluate },
    ],
  },
];

/** naming: names of IP objects, and OVN providers. */
import { isOvnProvider } from '../../../lib/kubernetes/served-network.ts';
import { ipObjectName } from '../../../lib/kubernetes/ip-object-name.ts';
import { unsupportedError, rejectUnknownKeys } from '../case.ts';
import { textOf } from '../../harness/json.ts';
import { type Area, type Execute, comparisonOf } from './area.ts';

const compute: Execute = (testCase) => {
  if (!/IP CR name|nic key/.test(textOf(testCase.when['compute'])))
    throw unsupportedError('compute', testCase.when['compute']);
  rejectUnknownKeys('given', testCase.given, ['pod', 'namespace', 'provider', 'vm', 'virtualmachine', 'ordinal']);
  const { pod, vm, virtualmachine, namespace, provider, ordinal = 0 } = testCase.given;
  // The IP object of a virtual machine's Pod has the machine's name.
  const owner = textOf(vm) || textOf(virtualmachine) || textOf(pod);
  const attachment = { namespace: textOf(namespace), provider: textOf(provider), ordinal: Number(ordinal) };
  return comparisonOf(testCase, { name: ipObjectName({ pod: owner, ...attachment }) });
};

const evaluate: Execute = (testCase) => {
  if (textOf(testCase.when['evaluate']) !== 'is OVN provider')
    throw unsupportedError('evaluate', testCase.when['evaluate']);
  rejectUnknownKeys('given', testCase.given, ['provider']);
  return comparisonOf(testCase, { result: isOvnProvider(textOf(testCase.given['provider'])) });
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

/** networks-annotation, pod-annotation, webhook: how the watcher reads what people write on Pods. */
import { selections } from '../../../services/pod-watcher/intent/attachments.ts';
import { requestOf } from '../../../services/pod-watcher/intent/request.ts';
import {
  defaultNetworkAnnotation,
  hasAllocatedAnnotation,
  networksAnnotation,
  type Pod,
  toPod,
} from '../../../services/pod-watcher/kubernetes/objects.ts';
import { notUnderstood, understandOnly } from '../case.ts';
import { type Fields, fieldsOf, jsonOf, textFieldsOf, textOf } from '../json.ts';
import { type Execute, failed, type Form, seen } from './area.ts';

function podWith(annotations: Readonly<Record<string, string>>, namespace = 'default'): Pod {
  return toPod({ metadata: { name: 'p', namespace, uid: 'uid-of-p', annotations } });
}

const parse: Execute = (the) => {
  understandOnly('given', the.given, ['annotation', 'pod namespace']);
  const namespace = textOf(the.given['pod namespace']) || 'default';
  const result = selections(podWith({ [networksAnnotation]: textOf(the.given['annotation']) }, namespace));
  if (!result.ok) return seen(the, failed(result.problem));
  return seen(the, { elements: result.value.map((selection) => elementOf(fieldsOf(jsonOf(selection)))) });
};

/** A selection under the names that the annotation gives its parts. */
function elementOf({ addresses, mac, defaultRoute, interface: name, ...selection }: Fields): Fields {
  const parts = { ips: addresses, mac, interface: name, 'default-route': defaultRoute };
  const there = Object.entries(parts).filter(([, part]) => part !== undefined && part !== '' && part !== null);
  return { ...selection, ...(Object.fromEntries(there) as Fields) };
}

/** The networks in the order in which they are attached. */
const list: Execute = (the) => {
  understandOnly('given', the.given, ['annotations', 'namespace', 'pod namespace']);
  understandOnly('expectation', the.expect, ['order', 'default OVN network']);
  const namespace = textOf(the.given['namespace']) || textOf(the.given['pod namespace']) || 'default';
  const result = selections(podWith(textFieldsOf(the.given['annotations']), namespace));
  if (!result.ok) return seen(the, failed(result.problem));
  const order = result.value.map((selection) => `${selection.namespace}/${selection.name}`);
  // Nothing is ever attached that was not asked for.
  return seen(the, { order, 'default OVN network': 'not added' });
};

const isDefault: Execute = (the) => {
  understandOnly('given', the.given, [defaultNetworkAnnotation, 'attachment']);
  const { name, namespace } = fieldsOf(the.given['attachment']);
  const value = textOf(the.given[defaultNetworkAnnotation]);
  const result = selections(podWith({ [defaultNetworkAnnotation]: value }, textOf(namespace)));
  const found =
    result.ok && result.value.some((each) => each.main && each.name === name && each.namespace === namespace);
  return seen(the, { result: found });
};

const providerOf = /^(.*)\.kubernetes\.io\/[a-z_]+$/;

/** What is wrong with a Pod's requests, provider by provider. */
function validate(annotations: Readonly<Record<string, string>>): Fields {
  const providers = new Set(Object.keys(annotations).flatMap((key) => providerOf.exec(key)?.[1] ?? []));
  const selection = { namespace: 'default', name: 'p', interface: '', addresses: [], mac: '', main: false };
  const pod = podWith(annotations);
  const problems = [...providers].flatMap((provider) => {
    const request = requestOf({ pod, selection, provider, ordinal: 0, subnets: ['subnet'] });
    return request.ok ? [] : [request.problem];
  });
  return problems.length === 0 ? { valid: true } : { valid: false, error: problems.join('; ') };
}

const validatePod: Execute = (the) => {
  understandOnly('given', the.given, ['annotations', 'pod annotations']);
  const annotations = { ...textFieldsOf(the.given['annotations']), ...textFieldsOf(the.given['pod annotations']) };
  return seen(the, validate(annotations));
};

const validateAddresses: Execute = (the) => {
  understandOnly('given', the.given, ['annotation ip_address']);
  const key = 'macvlan.default.kubernetes.io/ip_address';
  return seen(the, validate({ [key]: textOf(the.given['annotation ip_address']) }));
};

const hasAllocated: Execute = (the) => {
  understandOnly('given', the.given, ['annotations', 'pod annotations']);
  const annotations = { ...textFieldsOf(the.given['annotations']), ...textFieldsOf(the.given['pod annotations']) };
  return seen(the, { result: hasAllocatedAnnotation(annotations) });
};

/** One question for each text that `evaluate` may hold. */
const questions: Readonly<Record<string, Execute>> = {
  'is default network': isDefault,
  'has any allocated annotation': hasAllocated,
};

const evaluate: Execute = (the, stage) => {
  const question = questions[textOf(the.when['evaluate'])];
  if (!question) throw notUnderstood('evaluate', the.when['evaluate']);
  return question(the, stage);
};

export const networksForms: readonly Form[] = [
  { when: 'parse', execute: parse },
  { when: 'evaluate', execute: evaluate },
  { when: 'list networks', execute: list },
];

export const podForms: readonly Form[] = [
  { when: 'validate', execute: validatePod },
  { when: 'evaluate', execute: evaluate },
];

export const webhookForms: readonly Form[] = [{ when: 'validate', execute: validateAddresses }];

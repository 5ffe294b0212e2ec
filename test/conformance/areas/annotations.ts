/** networks-annotation, pod-annotation, webhook: how the watcher parses the annotations of Pods. */
import { parseNetworkSelections } from '../../../services/pod-watcher/controllers/pods/planning/network-selections.ts';
import { PodAnnotations } from '../../../services/pod-watcher/controllers/pods/planning/attachment-annotations.ts';
import { buildAttachmentRequest } from '../../../services/pod-watcher/controllers/pods/planning/attachment-request.ts';
import {
  defaultNetworkAnnotation,
  hasAllocatedAnnotation,
  networksAnnotation,
  type Pod,
  toPod,
} from '../../../services/pod-watcher/kubernetes/objects/pod.ts';
import { unsupportedError, rejectUnknownKeys } from '../case.ts';
import { type Fields, fieldsOf, jsonOf, textFieldsOf, textOf } from '../../harness/json.ts';
import { type Execute, errorResult, type Form, comparisonOf } from './area.ts';

function podWith(annotations: Readonly<Record<string, string>>, namespace = 'default'): Pod {
  return toPod({ metadata: { name: 'p', namespace, uid: 'uid-of-p', annotations } });
}

const parse: Execute = (testCase) => {
  rejectUnknownKeys('given', testCase.given, ['annotation', 'pod namespace']);
  const namespace = textOf(testCase.given['pod namespace']) || 'default';
  const result = parseNetworkSelections(
    podWith({ [networksAnnotation]: textOf(testCase.given['annotation']) }, namespace),
  );
  if (!result.ok) return comparisonOf(testCase, errorResult(result.problem));
  return comparisonOf(testCase, { elements: result.value.map((selection) => elementOf(fieldsOf(jsonOf(selection)))) });
};

/** A selection with the field names of the annotation. */
function elementOf({ addresses, mac, defaultRoute, interface: name, ...selection }: Fields): Fields {
  const parts = { ips: addresses, mac, interface: name, 'default-route': defaultRoute };
  const present = Object.entries(parts).filter(([, part]) => part !== undefined && part !== '' && part !== null);
  return { ...selection, ...(Object.fromEntries(present) as Fields) };
}

/** Lists the networks in the order of their attachment. */
const list: Execute = (testCase) => {
  rejectUnknownKeys('given', testCase.given, ['annotations', 'namespace', 'pod namespace']);
  rejectUnknownKeys('expectation', testCase.expect, ['order', 'default OVN network']);
  const namespace = textOf(testCase.given['namespace']) || textOf(testCase.given['pod namespace']) || 'default';
  const result = parseNetworkSelections(podWith(textFieldsOf(testCase.given['annotations']), namespace));
  if (!result.ok) return comparisonOf(testCase, errorResult(result.problem));
  const order = result.value.map((selection) => `${selection.namespace}/${selection.name}`);
  // ipledger attaches only networks that the Pod selects.
  return comparisonOf(testCase, { order, 'default OVN network': 'not added' });
};

const isDefault: Execute = (testCase) => {
  rejectUnknownKeys('given', testCase.given, [defaultNetworkAnnotation, 'attachment']);
  const { name, namespace } = fieldsOf(testCase.given['attachment']);
  const value = textOf(testCase.given[defaultNetworkAnnotation]);
  const result = parseNetworkSelections(podWith({ [defaultNetworkAnnotation]: value }, textOf(namespace)));
  const found =
    result.ok && result.value.some((each) => each.isMain && each.name === name && each.namespace === namespace);
  return comparisonOf(testCase, { result: found });
};

const providerOf = /^(.*)\.kubernetes\.io\/[a-z_]+$/;

/** Validates a Pod's requests, provider by provider. */
function validate(annotations: Readonly<Record<string, string>>): Fields {
  const providers = new Set(Object.keys(annotations).flatMap((key) => providerOf.exec(key)?.[1] ?? []));
  const selection = { namespace: 'default', name: 'p', interface: '', addresses: [], mac: '', isMain: false };
  const parsed = new PodAnnotations(podWith(annotations));
  const problems = [...providers].flatMap((provider) => {
    const attachment = { selection, provider, ordinal: 0 };
    const request = buildAttachmentRequest({ ...attachment, annotations: parsed.of(attachment) });
    return request.ok ? [] : [request.problem];
  });
  return problems.length === 0 ? { valid: true } : { valid: false, error: problems.join('; ') };
}

const validatePod: Execute = (testCase) => {
  rejectUnknownKeys('given', testCase.given, ['annotations', 'pod annotations']);
  const annotations = {
    ...textFieldsOf(testCase.given['annotations']),
    ...textFieldsOf(testCase.given['pod annotations']),
  };
  return comparisonOf(testCase, validate(annotations));
};

const validateAddresses: Execute = (testCase) => {
  rejectUnknownKeys('given', testCase.given, ['annotation ip_address']);
  const key = 'macvlan.default.kubernetes.io/ip_address';
  return comparisonOf(testCase, validate({ [key]: textOf(testCase.given['annotation ip_address']) }));
};

const hasAllocated: Execute = (testCase) => {
  rejectUnknownKeys('given', testCase.given, ['annotations', 'pod annotations']);
  const annotations = {
    ...textFieldsOf(testCase.given['annotations']),
    ...textFieldsOf(testCase.given['pod annotations']),
  };
  return comparisonOf(testCase, { result: hasAllocatedAnnotation(annotations) });
};

/** The evaluations by the text of `evaluate`. */
const evaluations: Readonly<Record<string, Execute>> = {
  'is default network': isDefault,
  'has any allocated annotation': hasAllocated,
};

const evaluate: Execute = (testCase, context) => {
  const evaluation = evaluations[textOf(testCase.when['evaluate'])];
  if (!evaluation) throw unsupportedError('evaluate', testCase.when['evaluate']);
  return evaluation(testCase, context);
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

/**
 * allocate, ip_pool-annotation, subnet-select, nad and other areas that create Pods and check their
 * allocations: the watcher on a Kubernetes API, with an allocator.
 */
import type { Allocation } from '../../../proto/generated/ipledger.ts';
import { type Case, unsupportedError } from '../case.ts';
import type { Comparison } from '../compare.ts';
import { type Fields, fieldsOf, isFields, type Json, listOf, hasPrefix, textOf, textsOf } from '../../harness/json.ts';
import type { RunContext } from '../run-context.ts';
import {
  formatAddresses,
  observePod,
  createPods,
  createCaseObjects,
  type PodObservation,
  occupyAddresses,
  defaultPodName,
} from '../environment/case-pods.ts';
import type { KubeObject } from '../../harness/kubernetes/kubernetes-client.ts';
import { type AttachmentSelection, type CaseSetup, parseCaseSetup } from '../environment/case-setup.ts';
import type { CaseEnvironment } from '../environment/environment.ts';
import { type Execute, type Form } from './area.ts';
import { runScenario } from './pod-scenarios.ts';

/** The Pods of a case, after the watcher has processed them. */
export interface PodCase {
  readonly environment: CaseEnvironment;
  readonly setup: CaseSetup;
  /** The Pods in the order of their creation. */
  readonly pods: readonly KubeObject[];
}

type Pair = readonly [expected: Json, got: Json];

/** Reads both sides of one expectation. */
type Reading = (expected: Json, podCase: PodCase, observed: readonly PodObservation[]) => Pair | Promise<Pair>;

/** The prefix of the annotations of an allocation. */
function shownProvider({ attachment, interface: name }: Allocation, { annotations }: PodObservation): string {
  const provider = attachment?.provider ?? '';
  const withInterface = `${provider}.${name}`;
  return annotations[`${withInterface}.kubernetes.io/allocated`] === 'true' ? withInterface : provider;
}

/** The address in a Pod's annotations; null for none. */
function ipOf(observation: PodObservation | undefined): string | null {
  const [first] = observation?.allocations ?? [];
  if (!observation || !first) return null;
  return observation.annotations[`${shownProvider(first, observation)}.kubernetes.io/ip_address`] ?? null;
}

const pair = (expected: Json, got: Json): Pair => [expected, got];
const first = (observed: readonly PodObservation[]): PodObservation =>
  observed[0] ?? { annotations: {}, allocations: [], reasons: [], error: '', ips: [] };

const subnetsOf = (observed: readonly PodObservation[]): string | null =>
  first(observed).allocations[0]?.subnet ?? null;

export const observations: Readonly<Record<string, Reading>> = {
  ip: (expected, _podCase, observed) => pair(expected, ipOf(observed[0])),
  ips: (expected, { pods }, observed) => {
    const got = observed.map(ipOf);
    return isFields(expected)
      ? pair(expected, Object.fromEntries(pods.map(({ metadata }, index) => [metadata.name, got[index] ?? null])))
      : pair(expected, got);
  },
  subnet: (expected, _podCase, observed) => pair(expected, subnetsOf(observed)),
  provider: (expected, _podCase, observed) =>
    pair(expected, first(observed).allocations[0]?.attachment?.provider ?? null),
  networks: (expected, _podCase, observed) =>
    pair(
      expected,
      first(observed).allocations.map((each) => ({
        provider: shownProvider(each, first(observed)),
        subnet: each.subnet,
      })),
    ),
  'pod annotations': (expected, _podCase, observed) => pair(expected, first(observed).annotations),
  annotations: (expected, _podCase, observed) => pair(expected, first(observed).annotations),
  'IP CR': (expected, _podCase, observed) => pair(expected, first(observed).ips[0]?.spec ?? null),
  'IP CR spec.macAddress': (expected, _podCase, observed) =>
    pair(expected, first(observed).ips[0]?.spec?.['macAddress'] ?? null),
  'mac_address annotation': (expected, { setup }, observed) => {
    const key = Object.keys(setup.annotations).find((each) => each.endsWith('/mac_address')) ?? '';
    const now = first(observed).annotations[key];
    const state = now === setup.annotations[key] ? 'kept' : 'changed';
    return pair(expected, now === undefined ? 'deleted' : state);
  },
  event: (expected, _podCase, observed) =>
    pair(expected, observed.flatMap(({ reasons }) => reasons).find((each) => each === expected) ?? null),
  'no fallback to': (expected, _podCase, observed) =>
    pair(expected, subnetsOf(observed) === expected ? 'it was used' : expected),
  'annotations written': (expected, _podCase, observed) => {
    const written = observed
      .flatMap(({ annotations }) => Object.keys(annotations))
      .filter((key) => key.endsWith('/allocated'));
    return pair(hasPrefix(expected, 'none') ? 'none' : expected, written.length === 0 ? 'none' : written.join(','));
  },
  ['wanted']: (expected, podCase, observed) => distinct(expected, podCase, observed),
  'released by': async (expected, podCase) => {
    if (!hasPrefix(expected, 'pod key')) throw unsupportedError('expectation released by', expected);
    return pair('released', await releasedAfterDeletion(podCase));
  },
};

/** Compares the expectation "one distinct IP per attachment". */
function distinct(expected: Json, { setup }: PodCase, observed: readonly PodObservation[]): Pair {
  if (!hasPrefix(expected, 'one distinct IP per attachment')) throw unsupportedError('expectation', expected);
  const attached = setup.annotations['k8s.v1.cni.cncf.io/networks'] ?? '';
  const count = attached.startsWith('[') ? listOf(JSON.parse(attached) as Json).length : attached.split(',').length;
  return [count, new Set(first(observed).allocations.map(formatAddresses)).size];
}

async function releasedAfterDeletion({ environment, pods }: PodCase): Promise<string> {
  for (const { metadata } of pods) {
    const { namespace = '', name } = metadata;
    await environment.kubernetes.remove('Pod', `${namespace}/${name}`);
  }
  await environment.waitUntilProcessed();
  const remaining = await Promise.all(pods.map((pod) => observePod(environment, pod)));
  return remaining.every(({ allocations }) => allocations.length === 0) ? 'released' : 'kept';
}

const errorKeys = ['error', 'errorContains', 'errorMatches'];

/** Compares all expectations of a case. @throws UnsupportedCaseError for an unknown expectation */
export async function observe(
  expect: Fields,
  podCase: PodCase,
  more: Readonly<Record<string, Reading>> = {},
): Promise<Comparison> {
  const readings = { ...observations, ...more };
  const observed = await Promise.all(podCase.pods.map((pod) => observePod(podCase.environment, pod)));
  const names = podCase.pods.map(({ metadata }) => metadata.name);
  const expected: Record<string, Json> = {};
  const got: Record<string, Json> = {};
  for (const [key, value] of Object.entries(expect)) {
    const reading = readings[key];
    if (errorKeys.includes(key)) expected[key] = value;
    else if (names.includes(key)) [expected[key], got[key]] = readNamedPod(value, observed[names.indexOf(key)]);
    else if (reading) [expected[key], got[key]] = await reading(value, podCase, observed);
    else throw unsupportedError('expectation', key);
  }
  // A case with several Pods, or with a Pod's name as key, names the rejected Pod itself
  const errors = observed.map(({ error }) => error).filter((error) => error !== '');
  const isNamed = names.some((name) => name in expect);
  if ((podCase.pods.length === 1 && !isNamed) || errorKeys.some((key) => key in expect))
    got['error'] = errors.join('; ');
  return { expected, got };
}

/** Reads an expectation whose key is a Pod's name. */
function readNamedPod(expected: Json, observation: PodObservation | undefined): Pair {
  if (!isFields(expected)) return [expected, ipOf(observation)];
  const { event } = expected;
  const got = {
    error: observation?.error ?? '',
    event: observation?.reasons.find((each) => each === event) ?? null,
    ip: ipOf(observation),
  };
  return [expected, got];
}

/** Creates the objects and the Pods of a case, and waits until the expectation is met. */
async function perform(
  testCase: Case,
  context: RunContext,
  { names, attached }: { names?: readonly string[]; attached?: AttachmentSelection },
): Promise<Comparison> {
  const setup = parseCaseSetup(testCase.given, attached);
  await using environment = await (await context.environment()).startCase();
  await createCaseObjects(environment, setup);
  await environment.startWatcher();
  await occupyAddresses(environment, setup);
  const pods = await createPods(environment, setup, names ?? [defaultPodName(setup)]);
  const podCase = { environment, setup, pods };
  return await environment.waitForMatch(() => observe(testCase.expect, podCase));
}

const reconcile: Execute = (testCase, context) => {
  if (typeof testCase.given['pod'] === 'string') return runScenario(testCase, context);
  const networks = textOf(testCase.when['attach']);
  return perform(testCase, context, networks === '' ? {} : { attached: { networks: networks } });
};

/** Executes a case of a Pod that requests its primary network without annotations. */
const primary: Execute = (testCase, context) => {
  const networks = Object.keys(fieldsOf(testCase.given['pod annotations'])).some((key) => key.startsWith('k8s.v1'));
  return perform(testCase, context, networks ? {} : { attached: { networks: '' } });
};

const createInOrder: Execute = (testCase, context) =>
  perform(testCase, context, { names: textsOf(testCase.when['create pods in order']) });

/** Performs "create a", "delete a" in order. */
const performSteps: Execute = async (testCase, context) => {
  const setup = parseCaseSetup(testCase.given);
  await using environment = await (await context.environment()).startCase();
  await createCaseObjects(environment, setup);
  await environment.startWatcher();
  const pods = new Map<string, KubeObject>();
  for (const step of textsOf(testCase.when['steps'])) {
    const [verb, name = ''] = step.split(' ');
    if (verb === 'create') pods.set(name, (await createPods(environment, setup, [name]))[0] as KubeObject);
    else if (verb === 'delete') await environment.kubernetes.remove('Pod', `${setup.namespace}/${name}`);
    else throw unsupportedError('step', step);
    await environment.waitUntilProcessed();
  }
  return await environment.waitForMatch(() =>
    observe(testCase.expect, { environment, setup, pods: [...pods.values()] }),
  );
};

/**
 * Resolves the attachments of a Pod, as its allocations show. For a Pod that is being deleted the
 * released allocations show it: they were made while its network existed.
 */
const resolve: Execute = async (testCase, context) => {
  const deleting = fieldsOf(testCase.given['pod'])['deletionTimestamp'] !== undefined;
  if (!deleting) return perform(testCase, context, {});
  const setup = parseCaseSetup(testCase.given);
  const deleted = setup.networks.filter(({ config }) => config === undefined);
  const networks = setup.networks.map((each) => ({ ...each, config: each.config ?? defaultConfigOf(each) }));
  await using environment = await (await context.environment()).startCase();
  await createCaseObjects(environment, { ...setup, networks });
  await environment.startWatcher();
  const pods = await createPods(environment, setup, [defaultPodName(setup)]);
  const podCase = { environment, setup, pods };
  const [observation] = await Promise.all(pods.map((pod) => observePod(environment, pod)));
  for (const { namespace, name } of deleted)
    await environment.kubernetes.remove('NetworkAttachmentDefinition', `${namespace}/${name}`);
  const released = await releasedAfterDeletion(podCase);
  const allocated = (observation?.allocations ?? []).map(({ attachment, subnet }) => ({
    provider: attachment?.provider ?? '',
    subnet,
  }));
  return { expected: testCase.expect, got: { networks: released === 'released' ? allocated : 'not released' } };
};

const defaultConfigOf = ({ name, namespace }: { name: string; namespace: string }): string =>
  JSON.stringify({ type: 'macvlan', ipam: { type: 'kube-ovn', provider: `${name}.${namespace}` } });

export const podActingForms: readonly Form[] = [
  { when: 'reconcile pod', execute: reconcile },
  { when: 'attach', execute: reconcile },
  { when: 'acquire', execute: primary },
  { when: 'choose default subnet', execute: primary },
  { when: 'create pods in order', execute: createInOrder },
  { when: 'steps', execute: performSteps },
  { when: 'resolve attachment', execute: resolve },
];

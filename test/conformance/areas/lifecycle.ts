/** lifecycle: events in the life of a Pod, and the fate of its address. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Case, unsupportedError, rejectUnknownKeys } from '../case.ts';
import type { Comparison } from '../compare.ts';
import { type Json, hasPrefix, textFieldsOf, textOf } from '../../harness/json.ts';
import type { RunContext } from '../run-context.ts';
import { observePod, createPod, createCaseObjects } from '../environment/case-pods.ts';
import {
  createAllocatedPod,
  type AllocatedPodOptions,
  addressFate,
  ipObjectFate,
  type AllocatedPod,
  recreatePod,
  deletePod,
  describeReallocation,
} from '../environment/allocated-pod.ts';
import { type AttachmentSelection, type CaseSetup, parseCaseSetup } from '../environment/case-setup.ts';
import type { CaseEnvironment } from '../environment/environment.ts';
import { type Area, type Execute } from './area.ts';
import { callDaemon, performEvent } from './lifecycle-events.ts';
import { parseFate } from './fate.ts';

/** Returns the actual fate for an expectation's key; undefined for an unknown key. */
async function fateOfKey(key: string, words: Json, life: AllocatedPod): Promise<string | undefined> {
  const member = life.pods.find(({ metadata }) => metadata.name === key.replace(/^address of /, ''));
  if (member) return addressFate(life, member);
  if (/^(?:address(?:es)?|ip)$/.test(key)) return addressFate(life, life.pod, { ofUid: /old uid/.test(textOf(words)) });
  return key === 'IP CR' ? ipObjectFate(life) : undefined;
}

/** Compares the fates; then, if expected, the allocation of a new Pod with the same name. */
async function compareFates({ expect }: Case, life: AllocatedPod): Promise<Comparison> {
  const reallocation = Object.entries(expect).find(
    ([key, words]) => /recreat|new pod|same ordinal/i.test(key) || /^(?:gets )?(?:the )?same\b/i.test(textOf(words)),
  );
  const fates = Object.entries(expect).filter(([key]) => key !== reallocation?.[0]);
  const settled = await life.caseEnvironment.waitForMatch(async () => {
    const [expected, got]: Record<string, Json>[] = [{}, {}];
    for (const [key, words] of fates) {
      const fate = await fateOfKey(key, words, life);
      if (fate === undefined) throw unsupportedError('expectation', key);
      Object.assign(expected ?? {}, { [key]: parseFate(words) });
      Object.assign(got ?? {}, { [key]: fate });
    }
    return { expected: expected ?? {}, got: got ?? {} };
  });
  if (!reallocation) return settled;
  if (!/same/.test(textOf(reallocation[1]))) throw unsupportedError('expectation', reallocation[1]);
  return { expected: [settled.expected, 'the same'], got: [settled.got, await describeReallocation(life)] };
}

/** Runs `body` with a Pod that has its address. */
async function withAllocatedPod(
  context: RunContext,
  setup: CaseSetup,
  options: AllocatedPodOptions,
  body: (life: AllocatedPod, environment: CaseEnvironment) => Promise<Comparison>,
): Promise<Comparison> {
  await using environment = await (await context.environment()).startCase();
  await createCaseObjects(environment, setup);
  await environment.startWatcher();
  return await body(await createAllocatedPod(environment, setup, options), environment);
}

/**
 * The time after which a deletion is overdue: longer than a grace period of one second and the
 * margin after it, with timestamps in whole seconds.
 */
const overdueMs = 3_500;

const performEvents: Execute = (testCase, context) => {
  const event = textOf(testCase.when['event']);
  const keys = Object.keys(testCase.given).join();
  const scenario = scenarios.find(({ given, words }) => given.test(keys) && words.test(event));
  if (scenario) return scenario.perform(testCase, context);
  rejectUnknownKeys('given', testCase.given, ['owner', 'restartPolicy', 'CNI DEL']);
  const { owner = '', restartPolicy = 'Always' } = testCase.given;
  const setup = parseCaseSetup({ owner, restartPolicy });
  const [, from, to] = /^scale\D*?(?:from (\d+) )?to (\d+)/i.exec(event) ?? [];
  const replicas = to === undefined ? 1 : Number(from ?? Number(to) + 1);
  const grace = /grace|lost|terminating/i.test(event);
  return withAllocatedPod(
    context,
    setup,
    { replicas, ...(grace && { graceSeconds: 1 }) },
    async (life, environment) => {
      await performEvent(life, event);
      if (grace) await sleep(overdueMs);
      await environment.waitUntilProcessed();
      return compareFates(testCase, life);
    },
  );
};

/** A case that is more than one event. */
interface Scenario {
  /** Keys of `given`. */
  readonly given: RegExp;
  readonly words: RegExp;
  readonly perform: Execute;
}

/** A scenario that begins with a Pod that has its address. */
const scenarioWithPod = (
  given: RegExp,
  words: RegExp,
  body: (testCase: Case, life: AllocatedPod, environment: CaseEnvironment) => Promise<Comparison>,
  attached: (testCase: Case) => AttachmentSelection = () => ({}),
): Scenario => ({
  given,
  words,
  perform: (testCase, context) =>
    withAllocatedPod(
      context,
      parseCaseSetup({ owner: testCase.given['owner'] ?? '' }, attached(testCase)),
      {},
      (life, environment) => body(testCase, life, environment),
    ),
});

/** Creates a Pod with the same name before the watcher notices the deletion of the old Pod. */
const replaced = scenarioWithPod(
  /old pod.*new pod/,
  /^process delete of uid 1/,
  async (testCase, life, environment) => {
    await environment.stopWatcher();
    await deletePod(environment, life.pod);
    await createPod(environment, 'default', life.pod.metadata.name, { annotations: life.setup.annotations });
    await environment.startWatcher();
    await environment.waitUntilProcessed();
    return compareFates(testCase, life);
  },
);

const networksDeleted = scenarioWithPod(
  /^pod$/,
  /^pods? deleted/,
  async (testCase, life, environment) => {
    for (const { namespace, name } of life.setup.networks)
      await environment.kubernetes.remove('NetworkAttachmentDefinition', `${namespace}/${name}`);
    await environment.waitUntilProcessed();
    await deletePod(environment, life.pod);
    await environment.waitUntilProcessed();
    return compareFates(testCase, life);
  },
  ({ given }) => {
    if (!hasPrefix(given['pod'], 'two attachments, NADs deleted before the pod'))
      throw unsupportedError('given pod', given['pod']);
    return { networks: 'one,two' };
  },
);

const sandboxAgain = scenarioWithPod(/^pod$/, /^CNI DEL then ADD with another container id/, async (testCase, life) => {
  rejectUnknownKeys('expectation', testCase.expect, ['ip', 'address']);
  const before = await callDaemon(life, 'add', 'c1');
  await callDaemon(life, 'del', 'c1');
  const after = await callDaemon(life, 'add', 'c2');
  const fate = before !== '' && before === after ? 'kept' : 'released';
  const keys = Object.keys(testCase.expect);
  return {
    expected: Object.fromEntries(keys.map((key) => [key, parseFate(testCase.expect[key] ?? null)])),
    got: Object.fromEntries(keys.map((key) => [key, fate])),
  };
});

const movedByTemplate = scenarioWithPod(
  /template annotation/,
  /^pod recreated/,
  async (testCase, life, environment) => {
    rejectUnknownKeys('expectation', testCase.expect, ['wanted']);
    const words = textOf(testCase.expect['wanted']);
    const changed = /logical_switch changed/.test(textOf(testCase.given['template annotation']));
    if (!changed || !words.startsWith('old address released, new subnet used'))
      throw unsupportedError('expectation', words);
    await environment.kubernetes.create({
      kind: 'Subnet',
      metadata: { name: 'changed' },
      spec: { provider: 'ovn', cidrBlock: '10.77.0.0/24' },
    });
    await environment.waitUntilProcessed();
    await deletePod(environment, life.pod);
    const recreated = await recreatePod(life, { 'macvlan.default.kubernetes.io/logical_switch': 'changed' });
    return environment.waitForMatch(async () => {
      const subnet = (await observePod(environment, recreated)).allocations[0]?.subnet ?? null;
      return {
        expected: { old: 'released', subnet: 'changed' },
        got: { old: await addressFate(life, life.pod), subnet },
      };
    });
  },
);

/** Reserves an address before its Pod exists, as an operator does. */
const reserved: Scenario = {
  given: /IP CR labels/,
  words: /^pod deleted/,
  async perform(testCase, context) {
    const labels = textFieldsOf(testCase.given['IP CR labels']);
    if (labels['ovn.kubernetes.io/ip_reserved'] !== 'true') throw unsupportedError('given IP CR labels', labels);
    const setup = parseCaseSetup({});
    await using environment = await (await context.environment()).startCase();
    await createCaseObjects(environment, setup);
    await environment.startWatcher();
    const spec = { podName: 'p', namespace: 'default', subnet: 'macvlan', v4IpAddress: '172.17.0.77' };
    await environment.kubernetes.create({ kind: 'IP', metadata: { name: 'p.default.macvlan.default' }, spec });
    await environment.waitUntilProcessed();
    const life = await createAllocatedPod(environment, setup);
    await deletePod(environment, life.pod);
    await environment.waitUntilProcessed();
    return await compareFates(testCase, life);
  },
};

const scenarios: readonly Scenario[] = [replaced, networksDeleted, sandboxAgain, movedByTemplate, reserved];

export const lifecycleAreas: readonly Area[] = [
  { name: 'lifecycle', lane: 'cluster', forms: [{ when: 'event', execute: performEvents }] },
];

/** allocate: scenarios that the case describes in words. */
import { type Case, unsupportedError, rejectUnknownKeys } from '../case.ts';
import type { Comparison } from '../compare.ts';
import { type Json, textOf } from '../../harness/json.ts';
import type { RunContext } from '../run-context.ts';
import {
  formatAddresses,
  allocateDirectly,
  observePod,
  createPod,
  createCaseObjects,
} from '../environment/case-pods.ts';
import { macvlanConfig, parseCaseSetup } from '../environment/case-setup.ts';
import { getAddressRecord, type CaseEnvironment } from '../environment/environment.ts';

import { parseFate } from './fate.ts';

interface Scenario {
  readonly words: RegExp;
  readonly perform: (testCase: Case, environment: CaseEnvironment) => Promise<Comparison>;
}

/** Executes the scenario of a case. @throws UnsupportedCaseError */
export async function runScenario(testCase: Case, context: RunContext): Promise<Comparison> {
  const words = textOf(testCase.given['pod']);
  const scenario = scenarios.find((each) => each.words.test(words));
  if (!scenario) throw unsupportedError('given pod', words);
  await using environment = await (await context.environment()).startCase();
  return await scenario.perform(testCase, environment);
}

const network = (name: string) => ({
  namespace: 'default',
  name,
  config: JSON.stringify(macvlanConfig(`${name}.default`)),
});

const secondExhausted: Scenario = {
  words: /^two attachments, (?:the )?second subnet (?:is )?exhausted/,
  async perform(testCase, environment) {
    rejectUnknownKeys('expectation', testCase.expect, ['annotations written', 'first address', 'event']);
    const subnets = [
      { name: 'one', spec: { provider: 'one.default', cidrBlock: '10.1.0.0/24' } },
      { name: 'two', spec: { provider: 'two.default', cidrBlock: '10.2.0.0/30' } },
    ];
    const networks = [network('one'), network('two')];
    await createCaseObjects(environment, { ...parseCaseSetup({}), networks, subnets });
    await environment.startWatcher();
    await allocateDirectly(environment, await createPod(environment, 'default', 'other'), {
      subnet: 'two',
      addresses: ['10.2.0.2'],
    });
    const annotations = { 'k8s.v1.cni.cncf.io/networks': 'one,two' };
    const pod = await createPod(environment, 'default', 'p', { annotations });
    await environment.waitUntilProcessed();
    const { 'first address': ofFirst, ...others } = testCase.expect;
    const whileFull = await environment.waitForMatch(async () => {
      const observation = await observePod(environment, pod);
      const { event } = others;
      const got = {
        event: observation.reasons.find((reason) => reason === event) ?? null,
        'annotations written': writtenAnnotations(observation.annotations),
      };
      return { expected: { ...others, 'annotations written': 'none' }, got };
    });
    const reserved = (await getAddressRecord(environment, 'one', '10.1.0.2'))?.allocation !== undefined;
    await environment.kubernetes.patch('Subnet', 'two', { spec: { cidrBlock: '10.2.0.0/29' } });
    const state = reserved ? 'reserved' : 'free';
    const expected = /^(?:stays )?reserved/.test(textOf(ofFirst)) ? 'reserved' : textOf(ofFirst) || state;
    const expectedRetry = { first: `${expected}, 10.1.0.2 on retry` };
    const retried = await environment.waitForMatch(async () => {
      const [first] = (await observePod(environment, pod)).allocations;
      const got = first ? `${formatAddresses(first)} on retry` : 'nothing on retry';
      return { expected: expectedRetry, got: { first: `${state}, ${got}` } };
    });
    return { expected: [whileFull.expected, retried.expected], got: [whileFull.got, retried.got] };
  },
};

function writtenAnnotations(annotations: Readonly<Record<string, string>>): Json {
  const written = Object.keys(annotations).filter((key) => key.endsWith('/allocated') || key.endsWith('/ip_address'));
  return written.length === 0 ? 'none' : written.join(',');
}

/** Deletes the Pod just before its annotations are patched. */
const deletedBeforePatch: Scenario = {
  words: /^deleted between allocation and annotation patch/,
  async perform(testCase, environment) {
    rejectUnknownKeys('expectation', testCase.expect, ['enqueue', 'finally']);
    await createCaseObjects(environment, parseCaseSetup({}));
    await environment.startWatcher();
    let patched = false;
    environment.idleDetector.beforeRequest = async ({ method, path }) => {
      if (patched || method !== 'PATCH' || !path.endsWith('/pods/p')) return;
      patched = true;
      await environment.kubernetes.remove('Pod', 'p');
    };
    const annotations = { 'k8s.v1.cni.cncf.io/networks': 'macvlan' };
    const pod = await createPod(environment, 'default', 'p', { annotations });
    await environment.waitUntilProcessed();
    return await environment.waitForMatch(async () => {
      const fate = (await observePod(environment, pod)).allocations.length === 0 ? 'released' : 'kept';
      // The release proves that the watcher noticed the deletion.
      const expected = Object.entries(testCase.expect).map(([key, words]) => [
        key,
        key === 'finally' ? parseFate(words) : words,
      ]);
      const noticed = testCase.expect['enqueue'] !== undefined && {
        enqueue: fate === 'released' ? 'delete pod' : null,
      };
      return {
        expected: Object.fromEntries(expected) as Json,
        got: { finally: patched ? fate : 'never patched', ...noticed },
      };
    });
  },
};

const scenarios: readonly Scenario[] = [secondExhausted, deletedBeforePatch];

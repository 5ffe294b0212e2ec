/** recovery: restarts of the watcher, and its garbage collection. */
import { IpamService } from '../../../proto/generated/ipledger.ts';
import { type Case, unsupportedError, rejectUnknownKeys } from '../case.ts';
import type { Comparison } from '../compare.ts';
import { type Fields, hasPrefix, textOf } from '../../harness/json.ts';
import type { RunContext } from '../run-context.ts';
import { observePod, createPod, createCaseObjects } from '../environment/case-pods.ts';
import {
  createAllocatedPod,
  addressFate,
  ipObjectFate,
  type AllocatedPod,
  deletePod,
  describeReallocation,
} from '../environment/allocated-pod.ts';
import { parseCaseSetup } from '../environment/case-setup.ts';
import { getAddressRecord, type CaseEnvironment } from '../environment/environment.ts';
import { type Area, type Execute } from './area.ts';
import { parseFate } from './fate.ts';

/** A situation at a restart of the watcher. */
interface Situation {
  /** The keys of `given`, with patterns of their values. */
  readonly given: Readonly<Record<string, RegExp>>;
  readonly expect: readonly string[];
  /** Stops the watcher in between. */
  readonly perform: (testCase: Case, environment: CaseEnvironment) => Promise<Comparison>;
}

async function restartWatcher(
  environment: CaseEnvironment,
  owner: string,
  whileStopped: (life: AllocatedPod) => Promise<void>,
): Promise<AllocatedPod> {
  const setup = parseCaseSetup({ owner });
  await createCaseObjects(environment, setup);
  await environment.startWatcher();
  const life = await createAllocatedPod(environment, setup);
  await environment.stopWatcher();
  await whileStopped(life);
  await environment.startWatcher();
  await environment.waitUntilProcessed();
  return life;
}

const deleteItsPod = (life: AllocatedPod): Promise<void> => deletePod(life.caseEnvironment, life.pod);

/** Compares the fates of the address and its IP object. */
function compareFates({ expect }: Case, life: AllocatedPod): Promise<Comparison> {
  return life.caseEnvironment.waitForMatch(async () => {
    const address = await addressFate(life, life.pod);
    const got: Fields = { address, 'IP CR': await ipObjectFate(life) };
    return { expected: Object.fromEntries(Object.entries(expect).map(([key, words]) => [key, parseFate(words)])), got };
  });
}

const situations: readonly Situation[] = [
  {
    given: { 'running pod': /^allocated annotation present/, 'IP CR': /^missing/ },
    expect: ['IP CR', 'address'],
    async perform(testCase, environment) {
      const life = await restartWatcher(environment, '', ({ ipName }) => environment.kubernetes.remove('IP', ipName));
      return environment.waitForMatch(async () => {
        const recreated = (await ipObjectFate(life)) === 'kept' ? 'recreated' : 'missing';
        const expected: Fields = {
          'IP CR': hasPrefix(testCase.expect['IP CR'], 'recreated') ? 'recreated' : (testCase.expect['IP CR'] ?? null),
        };
        return { expected, got: { 'IP CR': recreated } };
      });
    },
  },
  {
    given: { 'running pod': /^allocated annotation present/, 'IP CR': /^present/ },
    expect: ['IP CR', 'address'],
    perform: async (testCase, environment) =>
      compareFates(testCase, await restartWatcher(environment, '', () => Promise.resolve())),
  },
  {
    given: { 'StatefulSet IP CR': /^present/, pod: /^absent/ },
    expect: ['address'],
    async perform(testCase, environment) {
      const life = await restartWatcher(environment, 'StatefulSet web', deleteItsPod);
      const fate = await compareFates({ ...testCase, expect: { address: testCase.expect['address'] ?? null } }, life);
      if (!/same ordinal gets it again/.test(textOf(testCase.expect['address']))) return fate;
      return { expected: [fate.expected, 'the same'], got: [fate.got, await describeReallocation(life)] };
    },
  },
  {
    given: { 'VirtualMachine IP CR': /^present/, pod: /^absent/ },
    expect: ['address', 'IP CR'],
    perform: async (testCase, environment) =>
      compareFates(testCase, await restartWatcher(environment, 'VirtualMachineInstance vm1', deleteItsPod)),
  },
  {
    given: { 'ordinary IP CR': /^present/, pod: /^deleted while controller was down/ },
    expect: ['address', 'IP CR'],
    perform: async (testCase, environment) =>
      compareFates(testCase, await restartWatcher(environment, '', deleteItsPod)),
  },
  {
    given: { 'two running pods': /^both annotated with (\S+)/ },
    expect: ['first loaded wins', 'second'],
    perform: createConflictingPods,
  },
  {
    given: { pod: /^created while (?:the )?controller (?:is|was) down/ },
    expect: ['address', 'annotations', 'pod'],
    async perform(testCase, environment) {
      await createCaseObjects(environment, parseCaseSetup({}));
      const pod = await createPod(environment, 'default', 'p', { annotations: parseCaseSetup({}).annotations });
      await environment.startWatcher();
      await environment.waitUntilProcessed();
      return environment.waitForMatch(async () => {
        const given = (await observePod(environment, pod)).allocations.length > 0 ? 'allocated' : 'nothing';
        const expected = Object.keys(testCase.expect).map((key) => [
          key,
          /^(?:gets|allocated)/.test(textOf(testCase.expect[key])) ? 'allocated' : 'unsupported',
        ]);
        return {
          expected: Object.fromEntries(expected) as Fields,
          got: Object.fromEntries(Object.keys(testCase.expect).map((key) => [key, given])),
        };
      });
    },
  },
];

/** Creates two Pods whose annotations, of another controller, have the same address. */
async function createConflictingPods(testCase: Case, environment: CaseEnvironment): Promise<Comparison> {
  const [, address = ''] = /^both annotated with ([0-9a-f.:]+)/.exec(textOf(testCase.given['two running pods'])) ?? [];
  const setup = parseCaseSetup({ annotations: { 'macvlan.default.kubernetes.io/ip_address': address } });
  await createCaseObjects(environment, setup);
  const annotations = { ...setup.annotations, 'macvlan.default.kubernetes.io/allocated': 'true' };
  const pods = [
    await createPod(environment, 'default', 'p1', { annotations }),
    await createPod(environment, 'default', 'p2', { annotations }),
  ];
  await environment.startWatcher();
  await environment.waitUntilProcessed();
  return environment.waitForMatch(async () => {
    const observed = await Promise.all(pods.map((pod) => observePod(environment, pod)));
    const holders = observed.filter(({ allocations }) => allocations.length > 0);
    const rejected = observed.find(({ allocations }) => allocations.length === 0);
    const hasEvent = rejected?.error.includes(address) === true;
    return {
      expected: testCase.expect,
      got: {
        'first loaded wins': holders.length === 1,
        second: hasEvent ? 'an Event names the conflict' : 'logged only, not repaired',
      },
    };
  });
}

const restart: Execute = async (testCase, context) => {
  const situation = situations.find(({ given }) => {
    const keys = Object.keys(testCase.given);
    return (
      keys.length === Object.keys(given).length && keys.every((key) => given[key]?.test(textOf(testCase.given[key])))
    );
  });
  if (!situation) throw unsupportedError('given', testCase.given);
  rejectUnknownKeys('expectation', testCase.expect, situation.expect);
  await using environment = await (await context.environment()).startCase();
  return await situation.perform(testCase, environment);
};

/** Checks that a running watcher releases an allocation without an owner. */
async function releaseOrphan(testCase: Case, context: RunContext): Promise<Comparison> {
  rejectUnknownKeys('given', testCase.given, ['orphan IP CR']);
  rejectUnknownKeys('expectation', testCase.expect, ['wanted']);
  const periodically = hasPrefix(testCase.expect['wanted'], 'collected periodically');
  if (!periodically || !hasPrefix(testCase.given['orphan IP CR'], 'owner pod gone'))
    throw unsupportedError('expectation', testCase.expect);
  await using environment = await (await context.environment()).startCase();
  await createCaseObjects(environment, parseCaseSetup({}));
  await environment.startWatcher();
  const pod = { namespace: 'default', name: 'ghost', uid: 'uid-of-ghost' };
  const attachments = [{ provider: 'macvlan.default', subnets: ['macvlan'] }];
  const { allocations } = await environment.allocator.call(IpamService.allocate, { pod, attachments });
  const address = allocations[0]?.addresses[0]?.address ?? '';
  await environment.waitUntilProcessed();
  return await environment.waitForMatch(async () => {
    const isAllocated = (await getAddressRecord(environment, 'macvlan', address))?.allocation !== undefined;
    const hasObject = (await environment.kubernetes.list('IP')).some(({ spec }) => spec?.['podName'] === 'ghost');
    return {
      expected: { address: 'released', 'IP CR': 'released' },
      got: { address: isAllocated ? 'kept' : 'released', 'IP CR': hasObject ? 'kept' : 'released' },
    };
  });
}

export const recoveryAreas: readonly Area[] = [
  {
    name: 'recovery',
    lane: 'cluster',
    forms: [
      { when: 'controller restart', execute: restart },
      { when: 'wait', execute: releaseOrphan },
    ],
  },
];

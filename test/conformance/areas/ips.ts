/** ip-crd: IP objects that users create or change. */
import { ApiError } from '../../../lib/kubernetes/client/api-error.ts';
import { type Case, unsupportedError, rejectUnknownKeys } from '../case.ts';
import type { Comparison } from '../compare.ts';
import { type Fields, fieldsOf, type Json, textOf } from '../../harness/json.ts';
import type { RunContext } from '../run-context.ts';
import { createCaseObjects } from '../environment/case-pods.ts';
import { createAllocatedPod } from '../environment/allocated-pod.ts';
import type { KubeObject } from '../../harness/kubernetes/kubernetes-client.ts';
import { parseCaseSetup } from '../environment/case-setup.ts';
import { getAddressRecord, type CaseEnvironment } from '../environment/environment.ts';
import { type Area, type Execute, errorResult } from './area.ts';

/** Returns the setup for an IP object: its Subnet, which contains its address. */
function setupFor(spec: Fields): ReturnType<typeof parseCaseSetup> {
  const [subnet, four, six] = ['subnet', 'v4IpAddress', 'v6IpAddress'].map((key) => textOf(spec[key]));
  const both = textOf(spec['ipAddress']).split(',');
  const ofFour = four || both.find((text) => text.includes('.'));
  const ofSix = six || both.find((text) => text.includes(':'));
  const cidrs = [...(ofFour ? [`${ofFour}/16`] : []), ...(ofSix ? [`${ofSix.toLowerCase()}/64`] : [])];
  const cidrBlock = cidrs.length > 0 ? cidrs.join(',') : '10.16.0.0/16';
  return parseCaseSetup({ subnets: subnet ? [{ name: subnet, provider: 'ovn', cidrBlock }] : [] }, { networks: '' });
}

/** Returns the messages about an object: its Warning Events and its conditions. */
async function listMessages(environment: CaseEnvironment, object: KubeObject): Promise<string> {
  const [now, events] = await Promise.all([
    environment.kubernetes.find('IP', object.metadata.name),
    environment.kubernetes.listEventsOf(object),
  ]);
  const warnings = events.filter(({ type }) => type === 'Warning').map(({ message }) => message);
  const conditions = Array.isArray(now?.status?.['conditions'])
    ? now.status['conditions'].map((each: Json) => fieldsOf(each))
    : [];
  return [...warnings, ...conditions.map(({ message }) => textOf(message))].filter((text) => text !== '').join('; ');
}

const expectations = ['ignored', 'error', 'errorContains', 'errorMatches', 'spec', 'labels', 'finalizers', 'address'];

/** Converts "spec.v4IpAddress" to nested fields. */
function nestFields(expect: Fields): Fields {
  const dotted = Object.entries(expect).filter(([key]) => /^(?:spec|labels)[.]/.test(key));
  const rest = Object.entries(expect).filter(([key]) => !/^(?:spec|labels)[.]/.test(key));
  const inside = (part: string): Fields =>
    Object.fromEntries(
      dotted.flatMap(([key, value]) => (key.startsWith(`${part}.`) ? [[key.slice(part.length + 1), value]] : [])),
    );
  const parts = ['spec', 'labels'].map((part) => [part, { ...fieldsOf(expect[part]), ...inside(part) }] as const);
  return {
    ...Object.fromEntries(rest),
    ...Object.fromEntries(parts.filter(([, part]) => Object.keys(part).length > 0)),
  };
}

/** Returns the state of a reserved IP object and its address. */
async function observeReserved(environment: CaseEnvironment, object: KubeObject): Promise<Fields> {
  const now = await environment.kubernetes.find('IP', object.metadata.name);
  const [subnet, four] = ['subnet', 'v4IpAddress'].map((key) => textOf(now?.spec?.[key]));
  const record = subnet && four ? await getAddressRecord(environment, subnet, four).catch(() => undefined) : undefined;
  const untouched =
    JSON.stringify([now?.spec, now?.metadata.labels ?? null]) ===
    JSON.stringify([object.spec, object.metadata.labels ?? null]);
  const { allocations } = await countAllocations(environment);
  const free = record === undefined || ['fresh', 'idle', 'cooldown', 'excluded'].includes(record.state);
  return {
    ignored: now !== undefined && untouched && allocations === 0,
    spec: now?.spec ?? {},
    labels: now?.metadata.labels ?? {},
    finalizers: [...(now?.metadata.finalizers ?? [])],
    address: free ? 'free' : 'reserved',
    ...errorResult(await listMessages(environment, object)),
  };
}

async function countAllocations({ allocator }: CaseEnvironment): Promise<{ readonly allocations: number }> {
  let allocations = 0;
  for (const claims of allocator.replica.state.claims.values())
    for (const { allocation } of claims.values())
      if (allocation && allocation.attachment.namespace !== 'sentinels') allocations += 1;
  return { allocations };
}

const create: Execute = async (testCase, context) => {
  rejectUnknownKeys('given', testCase.given, ['create IP']);
  rejectUnknownKeys('expectation', nestFields(testCase.expect), expectations);
  const { name, spec } = fieldsOf(testCase.given['create IP']);
  const requested = fieldsOf(spec);
  await using environment = await (await context.environment()).startCase();
  await createCaseObjects(environment, setupFor(requested));
  await environment.startWatcher();
  let object: KubeObject;
  try {
    object = await environment.kubernetes.create({ kind: 'IP', metadata: { name: textOf(name) }, spec: requested });
  } catch (error) {
    if (error instanceof ApiError && error.reaction === 'invalid')
      return { expected: testCase.expect, got: errorResult(error.message) };
    throw error;
  }
  await environment.waitUntilProcessed();
  return await environment.waitForMatch(async () => ({
    expected: nestFields(testCase.expect),
    got: await observeReserved(environment, object),
  }));
};

/** Changes a field of a running Pod's IP object. */
const change: Execute = async (testCase, context) => {
  rejectUnknownKeys('given', testCase.given, ['existing IP CR']);
  const field = textOf(testCase.when['webhook update field']);
  await using environment = await (await context.environment()).startCase();
  const setup = parseCaseSetup({});
  await createCaseObjects(environment, setup);
  await environment.startWatcher();
  const { ipName } = await createAllocatedPod(environment, setup);
  return await patchIp(testCase, environment, ipName, { [field]: anotherValue(field) });
};

function anotherValue(field: string): string {
  if (/^v4|^ipAddress/.test(field)) return '172.17.9.9';
  if (field.startsWith('v6')) return 'fd00::9';
  return field === 'macAddress' ? '02:00:00:00:00:09' : 'StatefulSet';
}

async function patchIp(
  testCase: Case,
  { kubernetes }: CaseEnvironment,
  name: string,
  spec: Fields,
): Promise<Comparison> {
  try {
    await kubernetes.patch('IP', name, { spec });
    return { expected: testCase.expect, got: { denied: false } };
  } catch (error) {
    if (!(error instanceof ApiError && error.reaction === 'invalid')) throw error;
    return { expected: testCase.expect, got: { denied: true, ...errorResult(error.message) } };
  }
}

const reconcile: Execute = (testCase: Case, context: RunContext) => {
  if (testCase.given['create IP'] === undefined) throw unsupportedError('given', testCase.given);
  return create(testCase, context);
};

export const ipAreas: readonly Area[] = [
  {
    name: 'ip-crd',
    lane: 'cluster',
    forms: [
      { when: 'reconcile', execute: reconcile },
      { when: 'webhook update field', execute: change },
    ],
  },
];

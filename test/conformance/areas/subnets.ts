/**
 * subnet-format, subnet-validate, subnet-status, subnet-finalizer: Subnet objects on a Kubernetes
 * API. The API server rejects an invalid Subnet, or its conditions name the problem.
 */
import { ApiError } from '../../../lib/kubernetes/client/api-error.ts';
import { parseAddress } from '../../../ledger/domain/addresses/address.ts';
import { type Case, unsupportedError, rejectUnknownKeys } from '../case.ts';
import type { Comparison } from '../compare.ts';
import {
  type Fields,
  fieldsOf,
  isFields,
  type Json,
  listOf,
  hasPrefix,
  textFieldsOf,
  textOf,
  textsOf,
} from '../../harness/json.ts';
import type { RunContext } from '../run-context.ts';
import {
  allocateDirectly,
  observePod,
  createPod,
  createPods,
  createCaseObjects,
  waitForAllocation,
} from '../environment/case-pods.ts';
import type { KubeObject } from '../../harness/kubernetes/kubernetes-client.ts';
import { parseCaseSetup } from '../environment/case-setup.ts';
import type { CaseEnvironment } from '../environment/environment.ts';
import { type Area, type Execute, errorResult } from './area.ts';

/**
 * Returns whether the watcher found a Subnet valid, and why not; undefined while it has not
 * processed the Subnet.
 */
function verdictOn({ metadata, status }: KubeObject): Fields | undefined {
  const conditions = listOf(status?.['conditions']).map(fieldsOf);
  const validated = conditions.find(({ type }) => type === 'Validated');
  if (!validated || validated['observedGeneration'] !== metadata.generation) return undefined;
  return validated['status'] === 'True'
    ? { valid: true }
    : { valid: false, ...errorResult(textOf(validated['message'])) };
}

/** Creates a Subnet; resolves to whether it is valid. */
async function createAndValidate(environment: CaseEnvironment, name: string, spec: Fields): Promise<Fields> {
  try {
    await environment.kubernetes.create({ kind: 'Subnet', metadata: { name }, spec });
  } catch (error) {
    if (error instanceof ApiError && error.reaction === 'invalid')
      return { valid: false, ...errorResult(error.message) };
    throw error;
  }
  const validated = await environment.waitForMatch(async () => {
    const subnet = await environment.kubernetes.find('Subnet', name);
    const verdict = subnet && verdictOn(subnet);
    return { expected: { validated: true }, got: { validated: verdict !== undefined, verdict: verdict ?? null } };
  });
  const { verdict } = fieldsOf(validated.got);
  return isFields(verdict) ? verdict : { valid: false, ...errorResult('the watcher did not validate it') };
}

const othersKeys = [
  'subnets',
  'existing',
  'existing subnet',
  'existing subnets',
  'existing Subnet',
  'existing Subnets',
];

/** Creates the other Subnets of a case. */
async function createOthers(environment: CaseEnvironment, given: Fields): Promise<void> {
  const others = othersKeys.flatMap((key) => (isFields(given[key]) ? [given[key]] : listOf(given[key]).map(fieldsOf)));
  for (const [index, { name, spec, ...rest }] of others.entries())
    await createAndValidate(environment, textOf(name) || `other-${index}`, isFields(spec) ? spec : rest);
}

async function validateSubnet(
  testCase: Case,
  context: RunContext,
  { name, spec }: { name: string; spec: Fields },
): Promise<Comparison> {
  rejectUnknownKeys('given', testCase.given, ['env', 'node internal IP', 'vpc', ...othersKeys]);
  await using environment = await (await context.environment()).startCase();
  const address = textOf(testCase.given['node internal IP']);
  if (address !== '') {
    await environment.kubernetes.create({ kind: 'Node', metadata: { name: 'addressed' } });
    const status: Fields = { addresses: [{ type: 'InternalIP', address }] };
    await environment.kubernetes.patch('Node', 'addressed', { status }, 'status');
  }
  await environment.startWatcher(textFieldsOf(testCase.given['env']));
  await createOthers(environment, testCase.given);
  const got = await createAndValidate(environment, name, spec);
  // A case without an error key expects no error.
  return { expected: testCase.expect, got };
}

const validate: Execute = (testCase, context) => {
  const { name, spec, ...rest } = fieldsOf(testCase.when['validate Subnet'] ?? testCase.when['create Subnet'] ?? null);
  return validateSubnet(testCase, context, { name: textOf(name) || 'tried', spec: isFields(spec) ? spec : rest });
};

const reconcileOvn: Execute = (testCase, context) => {
  const { name, ...spec } = fieldsOf(testCase.when['reconcile OVN Subnet']);
  return validateSubnet(testCase, context, {
    name: textOf(name) || 'tried',
    spec: isFields(spec['spec']) ? spec['spec'] : spec,
  });
};

/** Checks a CIDR with a Subnet. */
const globalUnicast: Execute = (testCase, context) =>
  validateSubnet(testCase, context, {
    name: 'tried',
    spec: { cidrBlock: testCase.when['check global unicast'] ?? '', provider: 'tried.default' },
  });

/** Compares a Subnet's spec before and after the watcher has processed it. */
const format: Execute = async (testCase, context) => {
  rejectUnknownKeys('given', testCase.given, ['spec', 'name']);
  rejectUnknownKeys('expectation', testCase.expect, ['spec']);
  const given = fieldsOf(testCase.given['spec']);
  await using environment = await (await context.environment()).startCase();
  await environment.startWatcher();
  const name = textOf(testCase.given['name']) || 'formatted';
  await createAndValidate(environment, name, given);
  await environment.waitUntilProcessed();
  const expectedSpec = testCase.expect['spec'] ?? null;
  const unchanged = hasPrefix(expectedSpec, 'unchanged');
  if (!unchanged && !isFields(expectedSpec)) throw unsupportedError('expectation spec', expectedSpec);
  return await environment.waitForMatch(async () => {
    const spec = (await environment.kubernetes.find('Subnet', name))?.spec ?? {};
    if (!unchanged) return { expected: { spec: expectedSpec }, got: { spec } };
    const changed = Object.keys({ ...spec, ...given }).filter(
      (key) => JSON.stringify(spec[key]) !== JSON.stringify(given[key]),
    );
    return { expected: { changed: [] }, got: { changed } };
  });
};

/** Compares a Subnet's counts while Pods have the addresses of the case. */
const status: Execute = async (testCase, context) => {
  rejectUnknownKeys('given', testCase.given, ['spec', 'name', 'IP CRs in subnet']);
  const name = textOf(testCase.given['name']) || 'counted';
  const spec = { provider: `${name}.default`, ...fieldsOf(testCase.given['spec']) };
  const setup = parseCaseSetup({ subnets: [{ name, spec }], networks: `default/${name}` });
  await using environment = await (await context.environment()).startCase();
  await createCaseObjects(environment, setup);
  await environment.startWatcher();
  for (const [index, ip] of textsOf(testCase.given['IP CRs in subnet']).entries()) {
    const podSetup = {
      ...setup,
      annotations: { ...setup.annotations, [`${name}.default.kubernetes.io/ip_address`]: ip },
    };
    const [pod] = await createPods(environment, podSetup, [`p${index}`]);
    if (pod) await waitForAllocation(environment, pod);
  }
  return await environment.waitForMatch(async () => {
    const subnet = await environment.kubernetes.find('Subnet', name);
    return { expected: testCase.expect, got: subnet?.status ?? {} };
  });
};

/** The number of addresses in use by Pods. The status also counts Kube-OVN's own addresses. */
function countPodAddresses(counts: Fields, family: 4 | 6): number {
  const using = Number(counts[`v${family}usingIPs`] ?? 0);
  const own = textOf(counts['u2oInterconnectionIP'])
    .split(',')
    .filter((text) => parseAddress(text)?.family === family);
  return Math.max(0, using - own.length);
}

/** Checks whether a Subnet with this number of used addresses can be deleted. */
const removeFinalizer: Execute = async (testCase, context) => {
  if (!/may remove finalizer/.test(textOf(testCase.when['evaluate'])))
    throw unsupportedError('evaluate', testCase.when['evaluate']);
  rejectUnknownKeys('given', testCase.given, ['deletionTimestamp', 'status']);
  rejectUnknownKeys('expectation', testCase.expect, ['remove']);
  const counts = fieldsOf(testCase.given['status']);
  const [four, six] = [countPodAddresses(counts, 4), countPodAddresses(counts, 6)];
  await using environment = await (await context.environment()).startCase();
  const spec: Fields = { provider: 'going.default', cidrBlock: '10.0.0.0/24,fd00::/120' };
  await environment.startWatcher();
  await createAndValidate(environment, 'going', spec);
  for (let index = 0; index < Math.max(four, six); index++) {
    const pod = await createPod(environment, 'default', `holder-${index}`);
    await allocateDirectly(environment, pod, { subnet: 'going', addresses: [] });
  }
  await environment.waitUntilProcessed();
  const deleting = testCase.given['deletionTimestamp'];
  if (deleting !== undefined && deleting !== false && deleting !== null)
    await environment.kubernetes.remove('Subnet', 'going');
  await environment.waitUntilProcessed();
  return await environment.waitForMatch(async () => {
    const remaining = await environment.kubernetes.find('Subnet', 'going');
    return { expected: testCase.expect, got: { remove: remaining === undefined } };
  });
};

/** Checks whether the deletion of a Subnet in use is denied. */
const webhookDelete: Execute = async (testCase, context) => {
  rejectUnknownKeys('given', testCase.given, ['Subnet status']);
  const counts = fieldsOf(testCase.given['Subnet status']);
  const holders = Math.max(countPodAddresses(counts, 4), countPodAddresses(counts, 6));
  await using environment = await (await context.environment()).startCase();
  await environment.startWatcher();
  await createAndValidate(environment, 'used', { provider: 'used.default', cidrBlock: '10.0.0.0/24' });
  for (let index = 0; index < holders; index++)
    await allocateDirectly(environment, await createPod(environment, 'default', `holder-${index}`), {
      subnet: 'used',
      addresses: [],
    });
  await environment.waitForMatch(async () => {
    const subnet = await environment.kubernetes.find('Subnet', 'used');
    return { expected: { v4usingIPs: holders }, got: subnet?.status ?? {} };
  });
  try {
    await environment.kubernetes.remove('Subnet', 'used');
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { expected: testCase.expect, got: { denied: true, ...errorResult(error.message) } };
  }
  await environment.waitUntilProcessed();
  const left = await environment.kubernetes.find('Subnet', 'used');
  const afterwards = left ? (left.metadata.deletionTimestamp ? 'deleting, and there' : 'there') : 'gone';
  return { expected: testCase.expect, got: { denied: false, afterwards } };
};

/** Deletes a Subnet in use, then its Pod. */
export const deleteInOrder: Execute = async (testCase, context) => {
  const { NAD: nad, Subnet: subnet } = testCase.given;
  rejectUnknownKeys('given', testCase.given, ['NAD', 'Subnet']);
  rejectUnknownKeys('expectation', testCase.expect, ['subnet deletion']);
  if (
    !/^pod, then Subnet/i.test(textOf(testCase.when['delete'])) ||
    !hasPrefix(testCase.expect['subnet deletion'], 'completes after')
  )
    throw unsupportedError('delete', testCase.when['delete']);
  const setup = parseCaseSetup({
    ...(nad !== undefined && { NAD: nad }),
    ...(subnet !== undefined && { Subnet: subnet }),
  });
  const name = setup.subnets[0]?.name ?? 'macvlan';
  await using environment = await (await context.environment()).startCase();
  await createCaseObjects(environment, setup);
  await environment.startWatcher();
  const [pod] = await createPods(environment, setup, ['p']);
  if (!pod) throw new Error('no Pod');
  await waitForAllocation(environment, pod);
  // The Subnet is deleted while in use, which is stricter than the order of the case.
  await environment.kubernetes.remove('Subnet', name);
  await environment.waitUntilProcessed();
  const whileUsed = (await environment.kubernetes.find('Subnet', name)) ? 'waits' : 'deleted immediately';
  await environment.kubernetes.remove('Pod', `${setup.namespace}/p`);
  await environment.waitUntilProcessed();
  return await environment.waitForMatch(async () => {
    const isDeleted = (await environment.kubernetes.find('Subnet', name)) === undefined;
    const allocations = (await observePod(environment, pod)).allocations.length;
    const got: Json = { whileUsed, afterwards: isDeleted && allocations === 0 ? 'deleted' : 'still there' };
    return { expected: { whileUsed: 'waits', afterwards: 'deleted' }, got };
  });
};

export const subnetAreas: readonly Area[] = [
  { name: 'subnet-format', lane: 'cluster', forms: [{ when: 'format', execute: format }] },
  { name: 'subnet-status', lane: 'cluster', forms: [{ when: 'compute', execute: status }] },
  { name: 'subnet-finalizer', lane: 'cluster', forms: [{ when: 'evaluate', execute: removeFinalizer }] },
  {
    name: 'subnet-validate',
    lane: 'cluster',
    forms: [
      { when: /^(?:validate|create) Subnet$/, execute: validate },
      { when: 'check global unicast', execute: globalUnicast },
      { when: 'reconcile OVN Subnet', execute: reconcileOvn },
      { when: 'webhook delete', execute: webhookDelete },
    ],
  },
];

/**
 * daemon-http: the agent on its socket, with watcher and allocator. The annotations that Kube-OVN's
 * controller writes are requests here: under the same keys they make the allocator allocate the
 * same addresses.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createNamespace, ip } from '../../harness/network/network-namespaces.ts';
import { UnsupportedCaseError, type Case, unsupportedError, rejectUnknownKeys } from '../case.ts';
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
} from '../../harness/json.ts';
import type { RunContext } from '../run-context.ts';
import { createPod, createCaseObjects } from '../environment/case-pods.ts';
import { postToDaemon, defaultRequest } from '../environment/daemon-client.ts';
import { type CaseSetup, parseCaseSetup } from '../environment/case-setup.ts';
import type { CaseEnvironment } from '../environment/environment.ts';
import { type Area, type Execute, type Form } from './area.ts';

const addressKey = /^(.+)\.kubernetes\.io\/ip_address$/;

/** An attachment in the annotations. */
interface AnnotatedAttachment {
  /** The prefix of its annotation keys. */
  readonly prefix: string;
  readonly provider: string;
  readonly name: string;
  readonly namespace: string;
  /** The interface; absent unless annotations of several NICs of one network differ by it. */
  readonly interface: string | undefined;
}

/** Parses "<nad>.<namespace>[.ovn][.<interface>]". */
function parsePrefix(prefix: string): AnnotatedAttachment {
  const [name = '', namespace = '', ...rest] = prefix.split('.');
  const ofOvn = rest[0] === 'ovn';
  const provider = `${name}.${namespace}${ofOvn ? '.ovn' : ''}`;
  return { prefix, provider, name, namespace, interface: ofOvn ? rest[1] : rest[0] };
}

/** The setup in which a Pod gets these annotations. */
function setupFor(annotations: Readonly<Record<string, string>>): CaseSetup {
  const attachments = Object.keys(annotations).flatMap((key) => {
    const prefix = addressKey.exec(key)?.[1];
    return prefix === undefined ? [] : [parsePrefix(prefix)];
  });
  const requests = Object.entries(annotations).filter(
    ([key]) => !/\/(?:allocated|cidr|gateway|routed|ip_address)$/.test(key),
  );
  const addressRequests = attachments.flatMap((each) => requestsFor(each, annotations));
  const subnets = attachments.map(({ prefix, provider, name }) => {
    const [cidrBlock, gateway] = ['cidr', 'gateway'].map((suffix) => annotations[`${prefix}.kubernetes.io/${suffix}`]);
    return { name, provider, ...(cidrBlock && { cidrBlock }), ...(gateway && { gateway }) };
  });
  const distinct = [...new Map(subnets.map((each) => [each.name, each])).values()];
  const networks = attachments.map(({ name, namespace, interface: ifName }) => ({
    name,
    namespace,
    ...(ifName && { interface: ifName }),
  }));
  return parseCaseSetup(
    { subnets: distinct },
    {
      networks: JSON.stringify(networks),
      annotations: { ...Object.fromEntries(requests), ...Object.fromEntries(addressRequests) },
    },
  );
}

/** Returns the requests of a NIC: one address of a dual-stack Subnet means one family. */
function requestsFor(
  { prefix, provider, name, namespace, interface: ifName }: AnnotatedAttachment,
  annotations: Readonly<Record<string, string>>,
) {
  const [address = '', cidr = ''] = ['ip_address', 'cidr'].map(
    (suffix) => annotations[`${prefix}.kubernetes.io/${suffix}`],
  );
  const key =
    ifName === undefined
      ? `${provider}.kubernetes.io/ip_address`
      : `${name}.${namespace}.kubernetes.io/ip_address.${ifName}`;
  const requests = [[key, address] as const];
  if (!cidr.includes(',') || address.includes(',')) return requests;
  return [...requests, [`${provider}.kubernetes.io/ip_family`, address.includes(':') ? 'ipv6' : 'ipv4'] as const];
}

const headersOf = (given: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(given).map(([name, value]) => [name.toLowerCase(), value]));

const givenKeys = ['pod annotations', 'IP CR', 'subnets', 'subnet', 'pod namespace', 'pod'];

async function createGivenPod(testCase: Case, environment: CaseEnvironment, request: Fields): Promise<void> {
  const annotations = testCase.given['pod annotations'];
  if (annotations === null) return;
  const texts = textFieldsOf(annotations);
  const requestsAddress = Object.keys(texts).some((key) => addressKey.test(key));
  // A Pod without annotations has no networks, but the default Subnet exists
  const setup = requestsAddress ? setupFor(texts) : parseCaseSetup({}, { networks: 'macvlan' });
  await createCaseObjects(environment, setup);
  await environment.startWatcher();
  const [namespace, name] = [textOf(request['pod_namespace']) || 'default', textOf(request['pod_name']) || 'p'];
  const unscheduled = testCase.given['IP CR'] !== undefined;
  await createPod(environment, namespace, name, {
    annotations: requestsAddress ? setup.annotations : texts,
    scheduled: !unscheduled,
  });
  await environment.waitUntilProcessed();
}

const post: Execute = async (testCase, context) => {
  const { POST: path, json = null, ...others } = testCase.when;
  rejectUnknownKeys('when', others, ['headers', 'Content-Type', 'Accept']);
  const { headers, ...single } = others;
  if (!isFields(json) && json !== null && !/^\(empty body\)$/.test(textOf(json)) && typeof json !== 'string')
    throw unsupportedError('json', json);
  if (testCase.given['controller allocates after 5 s'] !== undefined) return allocateLate(testCase, context);
  if (Object.keys(testCase.given).some((key) => key.startsWith('routes contain a default')))
    return replaceDefaultRoute(testCase, context);
  rejectUnknownKeys('given', testCase.given, givenKeys);
  rejectUnknownKeys('expectation', testCase.expect, ['status', 'json']);
  const body: Json = isFields(json)
    ? json
    : textOf(json) === '(empty body)'
      ? ''
      : json === null
        ? defaultRequest
        : textOf(json);
  await using environment = await (await context.environment()).startCase();
  await createGivenPod(testCase, environment, fieldsOf(isFields(json) ? json : defaultRequest));
  const { socket } = await environment.agent();
  const response = await postToDaemon({
    socket,
    path: textOf(path),
    body,
    headers: headersOf({ ...textFieldsOf(headers), ...textFieldsOf(single) }),
  });
  const got = { status: response.status, json: response.json ?? null };
  if (testCase.given['IP CR'] === undefined) return { expected: testCase.expect, got };
  return await environment.waitForMatch(async () => {
    const [object] = await environment.kubernetes.list('IP');
    const nodeName = object?.spec?.['nodeName'] ?? null;
    return { expected: { ...testCase.expect, nodeName: 'node-1' }, got: { ...got, nodeName } };
  });
};

/** Starts the watcher 5 s after the request. The response waits for its allocation. */
async function allocateLate(testCase: Case, context: RunContext): Promise<Comparison> {
  rejectUnknownKeys('given', testCase.given, ['controller allocates after 5 s']);
  rejectUnknownKeys('expectation', testCase.expect, ['status', 'latency']);
  const [, min = '', max = ''] = /(\d+)(?:-(\d+))? s/.exec(textOf(testCase.expect['latency'])) ?? [];
  await using environment = await (await context.environment()).startCase();
  const setup = parseCaseSetup({}, { networks: 'macvlan' });
  await createCaseObjects(environment, setup);
  await environment.startWatcher();
  await environment.stopWatcher();
  const { socket } = await environment.agent();
  const { annotations } = setup;
  await createPod(environment, 'default', 'p', { annotations });
  const requestedAt = performance.now();
  const response = postToDaemon({ socket, path: textOf(testCase.when['POST']), body: defaultRequest });
  await sleep(5_000);
  await environment.startWatcher();
  // A busy machine starts the watcher late: the response is late by as much.
  const startSeconds = (performance.now() - requestedAt) / 1_000 - 5;
  const { status, seconds } = await response;
  // A further second is for a busy machine
  const inTime = seconds >= Number(min) && seconds - startSeconds <= Number(max || min) + 1;
  return { expected: { status: testCase.expect['status'] ?? null, inTime: true }, got: { status, inTime, seconds } };
}

/**
 * Checks that the sandbox has a default route of another interface before the request, and none
 * after the response.
 */
async function replaceDefaultRoute(testCase: Case, context: RunContext): Promise<Comparison> {
  if (!/daemon deletes existing default routes/.test(textOf(testCase.expect['side effect'])))
    throw unsupportedError('expectation', testCase.expect);
  if (process.getuid?.() !== 0) throw new UnsupportedCaseError('network namespaces need root');
  await using environment = await (await context.environment()).startCase();
  const setup = parseCaseSetup({}, { networks: 'macvlan' });
  await createCaseObjects(environment, setup);
  await environment.startWatcher();
  await createPod(environment, 'default', 'p', { annotations: setup.annotations });
  await environment.waitUntilProcessed();
  const sandbox = await createNamespace(
    environment.run,
    `conformance-${testCase.id.toLowerCase().replaceAll(/[^a-z0-9]/g, '')}`,
  );
  await ip(sandbox, ['link', 'add', 'eth0', 'type', 'veth', 'peer', 'name', 'far0']);
  await ip(sandbox, ['address', 'add', '10.250.0.2/24', 'dev', 'eth0']);
  for (const link of ['eth0', 'far0']) await ip(sandbox, ['link', 'set', link, 'up']);
  await ip(sandbox, ['route', 'add', 'default', 'via', '10.250.0.1']);
  const before = await ip(sandbox, ['route', 'show', 'default']);
  const { socket } = await environment.agent();
  const body = { ...defaultRequest, net_ns: sandbox.path, routes: [{ gw: '172.17.0.254' }] };
  const { status, json } = await postToDaemon({ socket, path: textOf(testCase.when['POST']), body });
  const after = await ip(sandbox, ['route', 'show', 'default']);
  const got = { status, before: before.trim() !== '', after: after.trim(), routes: fieldsOf(json)['routes'] ?? null };
  return { expected: { status: 200, before: true, after: '', routes: [{ gw: '172.17.0.254' }] }, got };
}

/** Checks that the result has no default route: Multus sets it after the ADD. */
const addByMultus: Execute = async (testCase, context) => {
  rejectUnknownKeys('given', testCase.given, ['networks annotation', 'attachment']);
  rejectUnknownKeys('expectation', testCase.expect, ['IPAM result', 'default route on net1']);
  if (!hasPrefix(testCase.expect['IPAM result'], 'unchanged (no default route)'))
    throw unsupportedError('expectation', testCase.expect['IPAM result']);
  if (!hasPrefix(testCase.expect['default route on net1'], 'set by Multus'))
    throw unsupportedError('expectation', testCase.expect['default route on net1']);
  await using environment = await (await context.environment()).startCase();
  const setup = parseCaseSetup({}, { networks: textOf(testCase.given['networks annotation']) });
  await createCaseObjects(environment, setup);
  await environment.startWatcher();
  await createPod(environment, 'default', 'p', { annotations: setup.annotations });
  await environment.waitUntilProcessed();
  const { socket } = await environment.agent();
  const { status, json } = await postToDaemon({ socket, path: '/api/v1/add', body: defaultRequest });
  const gateways = listOf(fieldsOf(json)['ips']).map((each) => fieldsOf(each)['gateway'] ?? null);
  return {
    expected: { status: 200, gateways: [null], routes: null },
    got: { status, gateways, routes: fieldsOf(json)['routes'] ?? null },
  };
};

export const daemonAreas: readonly Area[] = [
  { name: 'daemon-http', lane: 'cluster', forms: [{ when: 'POST', execute: post }] },
];

/** The forms of area `cni-result` that need the agent. */
export const resultForms: readonly Form[] = [
  { when: 'ADD via Multus', execute: addByMultus },
  { when: 'POST', execute: post },
];

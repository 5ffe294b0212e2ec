/** docs: Kube-OVN's user documents, with macvlan links, cnitool, agent, watcher and allocator. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { callCnitool, podArgs } from '../../harness/cni.ts';
import {
  probeMacvlan,
  createNamespace,
  createNodeNamespace,
  ip,
  type Namespace,
} from '../../harness/network/network-namespaces.ts';
import { configurationList } from '../../../local/up/network-configurations.ts';
import { UnsupportedCaseError, type Case, unsupportedError, rejectUnknownKeys } from '../case.ts';
import type { Comparison } from '../compare.ts';
import { type Fields, fieldsOf, type Json, listOf, textFieldsOf, textOf, textsOf } from '../../harness/json.ts';
import type { RunContext } from '../run-context.ts';
import { formatAddresses, observePod, createPods, createCaseObjects } from '../environment/case-pods.ts';
import { type CaseSetup, parseCaseSetup } from '../environment/case-setup.ts';
import type { CaseEnvironment } from '../environment/environment.ts';
import { type Area, type Execute, errorResult } from './area.ts';
import { deleteInOrder } from './subnets.ts';

const mainNetwork = 'v1.multus-cni.io/default-network';

/** A NIC after its ADD. */
interface Nic {
  /** cnitool's output: a result or an error. */
  readonly printed: Fields;
  readonly mac: string;
  readonly addresses: readonly string[];
  /** The gateway of the NIC's default route; '' for none. */
  readonly defaultGateway: string;
}

let attachments = 0;

/**
 * Sets up a Pod's NIC like a runtime.
 * @throws UnsupportedCaseError if the machine has no macvlan links
 */
async function attach(environment: CaseEnvironment, setup: CaseSetup, pod: string, ifName: string): Promise<Nic> {
  const ability = await probeMacvlan();
  if (!ability.isAvailable) throw new UnsupportedCaseError(ability.reason);
  const [network] = setup.networks;
  if (!network?.config) throw new UnsupportedCaseError('given NAD without a configuration: unsupported');
  const { run } = environment;
  const number = (attachments += 1);
  const configFolder = join(run.folder, `docs-${number}`);
  mkdirSync(configFolder);
  const { socket } = await environment.agent();
  const config = JSON.stringify({ master: 'eth0', ...(JSON.parse(network.config) as Fields) });
  const manifest = { kind: 'NetworkAttachmentDefinition', metadata: { name: network.name }, spec: { config } };
  const list = JSON.stringify(configurationList(manifest, socket));
  writeFileSync(join(configFolder, `${network.name}.conflist`), list);
  const node = await createNodeNamespace(run, `docs-node-${number}`);
  const sandbox = await createNamespace(run, `docs-pod-${number}`);
  const call = { network: network.name, configFolder, node, netns: sandbox.path, ifName };
  const { result, stdout, stderr } = await callCnitool({ command: 'add', ...call, args: podArgs('default', pod) });
  const printed = fieldsOf(result as Json | undefined);
  if (printed['ips'] === undefined)
    return { printed: errorResult(`${stdout}${stderr}`), mac: '', addresses: [], defaultGateway: '' };
  return { printed, ...(await linkOf(sandbox, ifName)) };
}

async function linkOf(sandbox: Namespace, ifName: string): Promise<Omit<Nic, 'printed'>> {
  const [link] = listOf(JSON.parse(await ip(sandbox, ['-json', 'address', 'show', 'dev', ifName])) as Json).map(
    fieldsOf,
  );
  const addresses = listOf(link?.['addr_info'])
    .map(fieldsOf)
    .filter(({ scope }) => scope === 'global');
  const route = await ip(sandbox, ['route', 'show', 'default', 'dev', ifName]);
  return {
    mac: textOf(link?.['address']),
    addresses: addresses.map(({ local, prefixlen }) => `${textOf(local)}/${Number(prefixlen)}`),
    defaultGateway: /via (\S+)/.exec(route)?.[1] ?? '',
  };
}

/** Compares a NIC with the expectation, key by key. */
function compareNic(expect: Fields, nic: Nic): Comparison {
  const [expected, got]: [Record<string, Json>, Record<string, Json>] = [{}, {}];
  for (const [key, words] of Object.entries(expect)) {
    if (key.startsWith('error')) {
      expected[key] = words;
      continue;
    }
    const reading = readings.find(([name]) => name.test(key));
    if (!reading) throw unsupportedError('expectation', key);
    [expected[key], got[key]] = reading[1](words, nic);
  }
  return { expected, got: { ...got, error: textOf(nic.printed['error']) } };
}

const readings: readonly (readonly [key: RegExp, read: (words: Json, nic: Nic) => readonly [Json, Json]])[] = [
  [/^(?:net1|eth0)(?: ip)?$/, (words, { addresses }) => [words, addresses.join(',')]],
  [/^(?:net1|eth0) mac/, (words, { mac }) => [textOf(words).toLowerCase(), mac]],
  [/^routes$/, (words, { printed }) => [words, listOf(printed['routes']).map(asRoute)]],
  [
    /^default route/,
    (words, { defaultGateway }) => {
      const by = /^(?:via|through) (\S+)/.exec(textOf(words))?.[1];
      // Multus changes routes after the result, which this area does not run.
      if (by === undefined && !/^(?:eth0 unchanged|unchanged|none|no default|set by Multus)/.test(textOf(words)))
        throw unsupportedError('expectation', words);
      return [by ?? '', defaultGateway];
    },
  ],
];

const asRoute = (route: Json): Json => {
  const { dst, gw } = fieldsOf(route);
  return { ...(dst !== undefined && { dst }), ...(gw !== undefined && { gw }) };
};

function parseSetup(testCase: Case, annotations: Fields): CaseSetup {
  rejectUnknownKeys('given', testCase.given, ['NAD', 'Subnet', 'owner']);
  const { NAD: nad, Subnet: subnet, owner } = testCase.given;
  const texts = textFieldsOf(annotations);
  const named = texts[mainNetwork] !== undefined && texts['k8s.v1.cni.cncf.io/networks'] === undefined;
  return parseCaseSetup(
    {
      ...(nad !== undefined && { NAD: nad }),
      ...(subnet !== undefined && { Subnet: subnet }),
      ...(owner !== undefined && { owner }),
    },
    { annotations: texts, ...(named && { networks: '' }) },
  );
}

const createPod: Execute = async (testCase, context) => {
  const annotations = fieldsOf(testCase.when['create pod']);
  const setup = parseSetup(testCase, annotations);
  await using environment = await (await context.environment()).startCase();
  await createCaseObjects(environment, setup);
  await environment.startWatcher();
  await createPods(environment, setup, ['p']);
  const ifName = annotations[mainNetwork] === undefined ? 'net1' : 'eth0';
  return compareNic(testCase.expect, await attach(environment, setup, 'p', ifName));
};

const workload = /^create (Deployment|StatefulSet)(?: (\S+))? replicas=(\d+)$/;

/** Makes the Pods that the workload's controller would make. */
const createWorkload: Execute = async (testCase: Case, context: RunContext) => {
  const [key = '', annotations = {}] = Object.entries(testCase.when).find(([name]) => workload.test(name)) ?? [];
  const [, kind = '', name, replicas] = workload.exec(key) ?? [];
  rejectUnknownKeys('expectation', testCase.expect, ['net1 ips', 'ips']);
  const owner = `${kind} ${name ?? (kind === 'StatefulSet' ? 'web' : 'starter')}`;
  const setup = parseSetup({ ...testCase, given: { ...testCase.given, owner } }, fieldsOf(annotations));
  const podName = (index: number): string =>
    `${setup.owner.name}-${kind === 'StatefulSet' ? '' : '5d4f6c7b8-'}${index}`;
  await using environment = await (await context.environment()).startCase();
  await createCaseObjects(environment, setup);
  await environment.startWatcher();
  const pods = await createPods(
    environment,
    setup,
    Array.from({ length: Number(replicas) }, (_, index) => podName(index)),
  );
  const [ipsKey = '', value = null] = Object.entries(testCase.expect)[0] ?? [];
  return await environment.waitForMatch(async () => {
    const observed = await Promise.all(pods.map((pod) => observePod(environment, pod)));
    const ips = observed.flatMap(({ allocations }) => allocations.map(formatAddresses));
    return { expected: { [ipsKey]: textsOf(value).sort() }, got: { [ipsKey]: ips.sort() } };
  });
};

export const documentAreas: readonly Area[] = [
  {
    name: 'docs',
    lane: 'cluster',
    forms: [
      { when: 'create pod', execute: createPod },
      { when: workload, execute: createWorkload },
      { when: 'delete', execute: deleteInOrder },
    ],
  },
];

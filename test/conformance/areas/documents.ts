/** docs: what the user documents promise, on real links: macvlan, cnitool, and everything behind them. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { callCnitool, podArgs } from '../../harness/cni.ts';
import { canMacvlan, createNamespace, createNode, ip, type Namespace } from '../../harness/network.ts';
import { configurationList } from '../../harness/up/network-configurations.ts';
import { CannotExecute, type Case, notUnderstood, understandOnly } from '../case.ts';
import type { Seen } from '../compare.ts';
import { type Fields, fieldsOf, type Json, listOf, textFieldsOf, textOf, textsOf } from '../json.ts';
import type { Stage } from '../stage.ts';
import { addressesOf, lookAt, makePods, makeSetting } from '../world/cast.ts';
import { type Setting, settingOf } from '../world/setting.ts';
import type { Trial } from '../world/world.ts';
import { type Area, type Execute, failed } from './area.ts';
import { deleteInOrder } from './subnets.ts';

const mainNetwork = 'v1.multus-cni.io/default-network';

/** A NIC as it is after its ADD. */
interface Nic {
  /** What cnitool printed: a result, or an error. */
  readonly printed: Fields;
  readonly mac: string;
  readonly addresses: readonly string[];
  /** Gateway of the default route through it; '' for none. */
  readonly defaultGateway: string;
}

let attached = 0;

/** Sets up a Pod's NIC as a runtime does. @throws CannotExecute where no links can be made. */
async function attach(trial: Trial, setting: Setting, pod: string, ifName: string): Promise<Nic> {
  const ability = await canMacvlan();
  if (!ability.able) throw new CannotExecute(ability.reason);
  const [network] = setting.networks;
  if (!network?.config) throw new CannotExecute('given NAD without a configuration: not understood');
  const { run } = trial;
  const number = (attached += 1);
  const configFolder = join(run.folder, `docs-${number}`);
  mkdirSync(configFolder);
  const { socket } = await trial.agent();
  const config = JSON.stringify({ master: 'eth0', ...(JSON.parse(network.config) as Fields) });
  const manifest = { kind: 'NetworkAttachmentDefinition', metadata: { name: network.name }, spec: { config } };
  const list = JSON.stringify(configurationList(manifest, socket));
  writeFileSync(join(configFolder, `${network.name}.conflist`), list);
  const node = await createNode(run, `docs-node-${number}`);
  const sandbox = await createNamespace(run, `docs-pod-${number}`);
  const call = { network: network.name, configFolder, node, netns: sandbox.path, ifName };
  const { result, stdout, stderr } = await callCnitool({ command: 'add', ...call, args: podArgs('default', pod) });
  const printed = fieldsOf(result as Json | undefined);
  if (printed['ips'] === undefined)
    return { printed: failed(`${stdout}${stderr}`), mac: '', addresses: [], defaultGateway: '' };
  return { printed, ...(await linkOf(sandbox, ifName)) };
}

async function linkOf(sandbox: Namespace, ifName: string): Promise<Omit<Nic, 'printed'>> {
  const [link] = listOf(JSON.parse(await ip(sandbox, ['-json', 'address', 'show', 'dev', ifName])) as Json).map(
    fieldsOf,
  );
  const given = listOf(link?.['addr_info'])
    .map(fieldsOf)
    .filter(({ scope }) => scope === 'global');
  const route = await ip(sandbox, ['route', 'show', 'default', 'dev', ifName]);
  return {
    mac: textOf(link?.['address']),
    addresses: given.map(({ local, prefixlen }) => `${textOf(local)}/${Number(prefixlen)}`),
    defaultGateway: /via (\S+)/.exec(route)?.[1] ?? '',
  };
}

/** What was promised of the NIC, key by key. */
function promised(expect: Fields, nic: Nic): Seen {
  const [expected, got]: [Record<string, Json>, Record<string, Json>] = [{}, {}];
  for (const [key, words] of Object.entries(expect)) {
    if (key.startsWith('error')) {
      expected[key] = words;
      continue;
    }
    const reading = readings.find(([name]) => name.test(key));
    if (!reading) throw notUnderstood('expectation', key);
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
      // What Multus makes of the result afterwards is Multus' own.
      if (by === undefined && !/^(?:eth0 unchanged|unchanged|none|no default|set by Multus)/.test(textOf(words)))
        throw notUnderstood('expectation', words);
      return [by ?? '', defaultGateway];
    },
  ],
];

const asRoute = (route: Json): Json => {
  const { dst, gw } = fieldsOf(route);
  return { ...(dst !== undefined && { dst }), ...(gw !== undefined && { gw }) };
};

function documented(the: Case, annotations: Fields): Setting {
  understandOnly('given', the.given, ['NAD', 'Subnet', 'owner']);
  const { NAD: nad, Subnet: subnet, owner } = the.given;
  const texts = textFieldsOf(annotations);
  const named = texts[mainNetwork] !== undefined && texts['k8s.v1.cni.cncf.io/networks'] === undefined;
  return settingOf(
    {
      ...(nad !== undefined && { NAD: nad }),
      ...(subnet !== undefined && { Subnet: subnet }),
      ...(owner !== undefined && { owner }),
    },
    { annotations: texts, ...(named && { networks: '' }) },
  );
}

const createPod: Execute = async (the, stage) => {
  const annotations = fieldsOf(the.when['create pod']);
  const setting = documented(the, annotations);
  await using trial = await (await stage.world()).begin();
  await makeSetting(trial, setting);
  await trial.startWatcher();
  await makePods(trial, setting, ['p']);
  const ifName = annotations[mainNetwork] === undefined ? 'net1' : 'eth0';
  return promised(the.expect, await attach(trial, setting, 'p', ifName));
};

const workload = /^create (Deployment|StatefulSet)(?: (\S+))? replicas=(\d+)$/;

/** Pods of a workload, by hand: they are what its controller would make. */
const createWorkload: Execute = async (the: Case, stage: Stage) => {
  const [key = '', annotations = {}] = Object.entries(the.when).find(([name]) => workload.test(name)) ?? [];
  const [, kind = '', name, replicas] = workload.exec(key) ?? [];
  understandOnly('expectation', the.expect, ['net1 ips', 'ips']);
  const owner = `${kind} ${name ?? (kind === 'StatefulSet' ? 'web' : 'starter')}`;
  const setting = documented({ ...the, given: { ...the.given, owner } }, fieldsOf(annotations));
  const called = (index: number): string =>
    `${setting.owner.name}-${kind === 'StatefulSet' ? '' : '5d4f6c7b8-'}${index}`;
  await using trial = await (await stage.world()).begin();
  await makeSetting(trial, setting);
  await trial.startWatcher();
  const pods = await makePods(
    trial,
    setting,
    Array.from({ length: Number(replicas) }, (_, index) => called(index)),
  );
  const [wantedKey = '', wanted = null] = Object.entries(the.expect)[0] ?? [];
  return await trial.until(async () => {
    const looks = await Promise.all(pods.map((pod) => lookAt(trial, pod)));
    const ips = looks.flatMap(({ allocations }) => allocations.map(addressesOf));
    return { expected: { [wantedKey]: textsOf(wanted).sort() }, got: { [wantedKey]: ips.sort() } };
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

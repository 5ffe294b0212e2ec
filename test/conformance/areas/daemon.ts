/**
 * daemon-http: the real agent on its socket, with watcher and allocator behind it. Annotations that Kube-OVN's controller would
 * have written are the Pod's requests here: under the same keys, they bring the ledger to the same addresses.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createNamespace, ip } from '../../harness/network.ts';
import { CannotExecute, type Case, notUnderstood, understandOnly } from '../case.ts';
import type { Seen } from '../compare.ts';
import { type Fields, fieldsOf, isFields, type Json, listOf, says, textFieldsOf, textOf } from '../json.ts';
import type { Stage } from '../stage.ts';
import { makePod, makeSetting } from '../world/cast.ts';
import { post, usualRequest } from '../world/daemon.ts';
import { type Setting, settingOf } from '../world/setting.ts';
import type { Trial } from '../world/world.ts';
import { type Area, type Execute, type Form } from './area.ts';

const addressKey = /^(.+)\.kubernetes\.io\/ip_address$/;

/** An attachment that annotations show. */
interface Shown {
  /** As the annotations name it. */
  readonly prefix: string;
  readonly provider: string;
  readonly name: string;
  readonly namespace: string;
  /** Where the annotations tell NICs of one network apart by it. */
  readonly interface: string | undefined;
}

/** "<nad>.<namespace>[.ovn][.<interface>]" */
function shownBy(prefix: string): Shown {
  const [name = '', namespace = '', ...rest] = prefix.split('.');
  const ofOvn = rest[0] === 'ovn';
  const provider = `${name}.${namespace}${ofOvn ? '.ovn' : ''}`;
  return { prefix, provider, name, namespace, interface: ofOvn ? rest[1] : rest[0] };
}

/** What makes a Pod come to have annotations such as these. */
function settingFor(annotations: Readonly<Record<string, string>>): Setting {
  const shown = Object.keys(annotations).flatMap((key) => {
    const prefix = addressKey.exec(key)?.[1];
    return prefix === undefined ? [] : [shownBy(prefix)];
  });
  const requests = Object.entries(annotations).filter(
    ([key]) => !/\/(?:allocated|cidr|gateway|routed|ip_address)$/.test(key),
  );
  const asked = shown.flatMap((each) => requestsFor(each, annotations));
  const subnets = shown.map(({ prefix, provider, name }) => {
    const [cidrBlock, gateway] = ['cidr', 'gateway'].map((suffix) => annotations[`${prefix}.kubernetes.io/${suffix}`]);
    return { name, provider, ...(cidrBlock && { cidrBlock }), ...(gateway && { gateway }) };
  });
  const once = [...new Map(subnets.map((each) => [each.name, each])).values()];
  const networks = shown.map(({ name, namespace, interface: ifName }) => ({
    name,
    namespace,
    ...(ifName && { interface: ifName }),
  }));
  return settingOf(
    { subnets: once },
    {
      networks: JSON.stringify(networks),
      annotations: { ...Object.fromEntries(requests), ...Object.fromEntries(asked) },
    },
  );
}

/** Of a Subnet of both families, a Pod that shows one address was given one only. */
function requestsFor(
  { prefix, provider, name, namespace, interface: ifName }: Shown,
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

async function givenPod(the: Case, trial: Trial, request: Fields): Promise<void> {
  const annotations = the.given['pod annotations'];
  if (annotations === null) return;
  const texts = textFieldsOf(annotations);
  const asks = Object.keys(texts).some((key) => addressKey.test(key));
  // Without any, the Pod has no networks; but the Subnet of the documents is there, as it always is.
  const setting = asks ? settingFor(texts) : settingOf({}, { networks: 'macvlan' });
  await makeSetting(trial, setting);
  await trial.startWatcher();
  const [namespace, name] = [textOf(request['pod_namespace']) || 'default', textOf(request['pod_name']) || 'p'];
  const unscheduled = the.given['IP CR'] !== undefined;
  await makePod(trial, namespace, name, {
    annotations: asks ? setting.annotations : texts,
    scheduled: !unscheduled,
  });
  await trial.settle();
}

const posted: Execute = async (the, stage) => {
  const { POST: path, json = null, ...others } = the.when;
  understandOnly('when', others, ['headers', 'Content-Type', 'Accept']);
  const { headers, ...single } = others;
  if (!isFields(json) && json !== null && !/^\(empty body\)$/.test(textOf(json)) && typeof json !== 'string')
    throw notUnderstood('json', json);
  if (the.given['controller allocates after 5 s'] !== undefined) return allocatedLate(the, stage);
  if (Object.keys(the.given).some((key) => key.startsWith('routes contain a default')))
    return replacesDefault(the, stage);
  understandOnly('given', the.given, givenKeys);
  understandOnly('expectation', the.expect, ['status', 'json']);
  const body: Json = isFields(json)
    ? json
    : textOf(json) === '(empty body)'
      ? ''
      : json === null
        ? usualRequest
        : textOf(json);
  await using trial = await (await stage.world()).begin();
  await givenPod(the, trial, fieldsOf(isFields(json) ? json : usualRequest));
  const { socket } = await trial.agent();
  const said = await post({
    socket,
    path: textOf(path),
    body,
    headers: headersOf({ ...textFieldsOf(headers), ...textFieldsOf(single) }),
  });
  const got = { status: said.status, json: said.json ?? null };
  if (the.given['IP CR'] === undefined) return { expected: the.expect, got };
  return await trial.until(async () => {
    const [object] = await trial.objects.list('IP');
    const nodeName = object?.spec?.['nodeName'] ?? null;
    return { expected: { ...the.expect, nodeName: 'node-1' }, got: { ...got, nodeName } };
  });
};

/** The watcher is late: the answer waits for it, and comes with it. */
async function allocatedLate(the: Case, stage: Stage): Promise<Seen> {
  understandOnly('given', the.given, ['controller allocates after 5 s']);
  understandOnly('expectation', the.expect, ['status', 'latency']);
  const [, least = '', most = ''] = /(\d+)(?:-(\d+))? s/.exec(textOf(the.expect['latency'])) ?? [];
  await using trial = await (await stage.world()).begin();
  const setting = settingOf({}, { networks: 'macvlan' });
  await makeSetting(trial, setting);
  await trial.startWatcher();
  await trial.stopWatcher();
  const { socket } = await trial.agent();
  const { annotations } = setting;
  await makePod(trial, 'default', 'p', { annotations });
  const answer = post({ socket, path: textOf(the.when['POST']), body: usualRequest });
  await sleep(5_000);
  await trial.startWatcher();
  const { status, seconds } = await answer;
  // A second more, for a machine that is busy.
  const inTime = seconds >= Number(least) && seconds <= Number(most || least) + 1;
  return { expected: { status: the.expect['status'] ?? null, inTime: true }, got: { status, inTime, seconds } };
}

/** A default route by another interface is there when the request comes, and gone when it is answered. */
async function replacesDefault(the: Case, stage: Stage): Promise<Seen> {
  if (!/daemon deletes existing default routes/.test(textOf(the.expect['side effect'])))
    throw notUnderstood('expectation', the.expect);
  if (process.getuid?.() !== 0) throw new CannotExecute('network namespaces need root');
  await using trial = await (await stage.world()).begin();
  const setting = settingOf({}, { networks: 'macvlan' });
  await makeSetting(trial, setting);
  await trial.startWatcher();
  await makePod(trial, 'default', 'p', { annotations: setting.annotations });
  await trial.settle();
  const sandbox = await createNamespace(trial.run, `conformance-${the.id.toLowerCase().replaceAll(/[^a-z0-9]/g, '')}`);
  await ip(sandbox, ['link', 'add', 'eth0', 'type', 'veth', 'peer', 'name', 'far0']);
  await ip(sandbox, ['address', 'add', '10.250.0.2/24', 'dev', 'eth0']);
  for (const link of ['eth0', 'far0']) await ip(sandbox, ['link', 'set', link, 'up']);
  await ip(sandbox, ['route', 'add', 'default', 'via', '10.250.0.1']);
  const before = await ip(sandbox, ['route', 'show', 'default']);
  const { socket } = await trial.agent();
  const body = { ...usualRequest, net_ns: sandbox.path, routes: [{ gw: '172.17.0.254' }] };
  const { status, json } = await post({ socket, path: textOf(the.when['POST']), body });
  const after = await ip(sandbox, ['route', 'show', 'default']);
  const got = { status, before: before.trim() !== '', after: after.trim(), routes: fieldsOf(json)['routes'] ?? null };
  return { expected: { status: 200, before: true, after: '', routes: [{ gw: '172.17.0.254' }] }, got };
}

/** What Multus does after the ADD is Multus' own; ours is that the result leaves it to it. */
const byMultus: Execute = async (the, stage) => {
  understandOnly('given', the.given, ['networks annotation', 'attachment']);
  understandOnly('expectation', the.expect, ['IPAM result', 'default route on net1']);
  if (!says(the.expect['IPAM result'], 'unchanged (no default route)'))
    throw notUnderstood('expectation', the.expect['IPAM result']);
  if (!says(the.expect['default route on net1'], 'set by Multus'))
    throw notUnderstood('expectation', the.expect['default route on net1']);
  await using trial = await (await stage.world()).begin();
  const setting = settingOf({}, { networks: textOf(the.given['networks annotation']) });
  await makeSetting(trial, setting);
  await trial.startWatcher();
  await makePod(trial, 'default', 'p', { annotations: setting.annotations });
  await trial.settle();
  const { socket } = await trial.agent();
  const { status, json } = await post({ socket, path: '/api/v1/add', body: usualRequest });
  const gateways = listOf(fieldsOf(json)['ips']).map((each) => fieldsOf(each)['gateway'] ?? null);
  return {
    expected: { status: 200, gateways: [null], routes: null },
    got: { status, gateways, routes: fieldsOf(json)['routes'] ?? null },
  };
};

export const daemonAreas: readonly Area[] = [
  { name: 'daemon-http', lane: 'cluster', forms: [{ when: 'POST', execute: posted }] },
];

/** The forms of area `cni-result` that need the agent. */
export const resultForms: readonly Form[] = [
  { when: 'ADD via Multus', execute: byMultus },
  { when: 'POST', execute: posted },
];

/**
 * subnet-format, subnet-validate, subnet-status, subnet-finalizer: Subnet objects on a real Kubernetes API. What is wrong with one is
 * said by the API server when it is made, or on its conditions.
 */
import { ApiError } from '../../../services/pod-watcher/kubernetes/api.ts';
import { parseAddress } from '../../../services/allocator/domain/address.ts';
import { type Case, notUnderstood, understandOnly } from '../case.ts';
import type { Seen } from '../compare.ts';
import { type Fields, fieldsOf, isFields, type Json, listOf, says, textFieldsOf, textOf, textsOf } from '../json.ts';
import type { Stage } from '../stage.ts';
import { hold, lookAt, makePod, makePods, makeSetting, untilHolding } from '../world/cast.ts';
import type { KubeObject } from '../world/objects.ts';
import { settingOf } from '../world/setting.ts';
import type { Trial } from '../world/world.ts';
import { type Area, type Execute, failed } from './area.ts';

/** What was said to a Subnet: that it is valid, or why not; undefined: nothing yet. */
function verdictOn({ metadata, status }: KubeObject): Fields | undefined {
  const conditions = listOf(status?.['conditions']).map(fieldsOf);
  const validated = conditions.find(({ type }) => type === 'Validated');
  if (!validated || validated['observedGeneration'] !== metadata.generation) return undefined;
  return validated['status'] === 'True' ? { valid: true } : { valid: false, ...failed(textOf(validated['message'])) };
}

/** Makes a Subnet, and gives what was said to it. */
async function tryOut(trial: Trial, name: string, spec: Fields): Promise<Fields> {
  try {
    await trial.objects.create('Subnet', { name }, { spec });
  } catch (error) {
    if (error instanceof ApiError && error.reaction === 'invalid') return { valid: false, ...failed(error.message) };
    throw error;
  }
  const said = await trial.until(async () => {
    const made = await trial.objects.find({ kind: 'Subnet', name });
    const verdict = made && verdictOn(made);
    return { expected: { said: true }, got: { said: verdict !== undefined, verdict: verdict ?? null } };
  });
  const { verdict } = fieldsOf(said.got);
  return isFields(verdict) ? verdict : { valid: false, ...failed('nothing was said to it') };
}

const othersKeys = [
  'subnets',
  'existing',
  'existing subnet',
  'existing subnets',
  'existing Subnet',
  'existing Subnets',
];

/** Other Subnets that there are already. */
async function makeOthers(trial: Trial, given: Fields): Promise<void> {
  const others = othersKeys.flatMap((key) => (isFields(given[key]) ? [given[key]] : listOf(given[key]).map(fieldsOf)));
  for (const [index, { name, spec, ...rest }] of others.entries())
    await tryOut(trial, textOf(name) || `other-${index}`, isFields(spec) ? spec : rest);
}

async function judged(the: Case, stage: Stage, { name, spec }: { name: string; spec: Fields }): Promise<Seen> {
  understandOnly('given', the.given, ['env', 'node internal IP', 'vpc', ...othersKeys]);
  await using trial = await (await stage.world()).begin();
  const address = textOf(the.given['node internal IP']);
  if (address !== '') {
    await trial.objects.create('Node', { name: 'addressed' });
    const status: Fields = { addresses: [{ type: 'InternalIP', address }] };
    await trial.objects.patch({ kind: 'Node', name: 'addressed' }, { status }, 'status');
  }
  await trial.startWatcher(textFieldsOf(the.given['env']));
  await makeOthers(trial, the.given);
  const got = await tryOut(trial, name, spec);
  // A case that names no error by its own key wants none.
  return { expected: the.expect, got };
}

const validate: Execute = (the, stage) => {
  const { name, spec, ...rest } = fieldsOf(the.when['validate Subnet'] ?? the.when['create Subnet'] ?? null);
  return judged(the, stage, { name: textOf(name) || 'tried', spec: isFields(spec) ? spec : rest });
};

const reconcileOvn: Execute = (the, stage) => {
  const { name, ...spec } = fieldsOf(the.when['reconcile OVN Subnet']);
  return judged(the, stage, { name: textOf(name) || 'tried', spec: isFields(spec['spec']) ? spec['spec'] : spec });
};

/** A CIDR is checked by making a Subnet of it. */
const globalUnicast: Execute = (the, stage) =>
  judged(the, stage, {
    name: 'tried',
    spec: { cidrBlock: the.when['check global unicast'] ?? '', provider: 'tried.default' },
  });

/** What a Subnet's owner wrote, as it stands there once it was dealt with. */
const format: Execute = async (the, stage) => {
  understandOnly('given', the.given, ['spec', 'name']);
  understandOnly('expectation', the.expect, ['spec']);
  const given = fieldsOf(the.given['spec']);
  await using trial = await (await stage.world()).begin();
  await trial.startWatcher();
  const name = textOf(the.given['name']) || 'formatted';
  await tryOut(trial, name, given);
  await trial.settle();
  const wanted = the.expect['spec'] ?? null;
  const unchanged = says(wanted, 'unchanged');
  if (!unchanged && !isFields(wanted)) throw notUnderstood('expectation spec', wanted);
  return await trial.until(async () => {
    const spec = (await trial.objects.find({ kind: 'Subnet', name }))?.spec ?? {};
    if (!unchanged) return { expected: { spec: wanted }, got: { spec } };
    const changed = Object.keys({ ...spec, ...given }).filter(
      (key) => JSON.stringify(spec[key]) !== JSON.stringify(given[key]),
    );
    return { expected: { changed: [] }, got: { changed } };
  });
};

/** Counts of a Subnet while Pods hold the addresses that the case names. */
const status: Execute = async (the, stage) => {
  understandOnly('given', the.given, ['spec', 'name', 'IP CRs in subnet']);
  const name = textOf(the.given['name']) || 'counted';
  const spec = { provider: `${name}.default`, ...fieldsOf(the.given['spec']) };
  const setting = settingOf({ subnets: [{ name, spec }], networks: `default/${name}` });
  await using trial = await (await stage.world()).begin();
  await makeSetting(trial, setting);
  await trial.startWatcher();
  for (const [index, ip] of textsOf(the.given['IP CRs in subnet']).entries()) {
    const asking = {
      ...setting,
      annotations: { ...setting.annotations, [`${name}.default.kubernetes.io/ip_address`]: ip },
    };
    const [pod] = await makePods(trial, asking, [`p${index}`]);
    if (pod) await untilHolding(trial, pod);
  }
  return await trial.until(async () => {
    const made = await trial.objects.find({ kind: 'Subnet', name });
    return { expected: the.expect, got: made?.status ?? {} };
  });
};

/** How many addresses Pods hold, of those that the status counts: Kube-OVN's own stand there, too. */
function heldBy(counts: Fields, family: 4 | 6): number {
  const using = Number(counts[`v${family}usingIPs`] ?? 0);
  const own = textOf(counts['u2oInterconnectionIP'])
    .split(',')
    .filter((text) => parseAddress(text)?.family === family);
  return Math.max(0, using - own.length);
}

/** Whether a Subnet that is deleted goes, while so many of its addresses are held. */
const mayGo: Execute = async (the, stage) => {
  if (!/may remove finalizer/.test(textOf(the.when['evaluate']))) throw notUnderstood('evaluate', the.when['evaluate']);
  understandOnly('given', the.given, ['deletionTimestamp', 'status']);
  understandOnly('expectation', the.expect, ['remove']);
  const counts = fieldsOf(the.given['status']);
  const [four, six] = [heldBy(counts, 4), heldBy(counts, 6)];
  await using trial = await (await stage.world()).begin();
  const spec: Fields = { provider: 'going.default', cidrBlock: '10.0.0.0/24,fd00::/120' };
  await trial.startWatcher();
  await tryOut(trial, 'going', spec);
  for (let index = 0; index < Math.max(four, six); index++) {
    const pod = await makePod(trial, 'default', `holder-${index}`);
    await hold(trial, pod, { subnet: 'going', addresses: [] });
  }
  await trial.settle();
  const deleting = the.given['deletionTimestamp'];
  if (deleting !== undefined && deleting !== false && deleting !== null)
    await trial.objects.remove({ kind: 'Subnet', name: 'going' });
  await trial.settle();
  return await trial.until(async () => {
    const there = await trial.objects.find({ kind: 'Subnet', name: 'going' });
    return { expected: the.expect, got: { remove: there === undefined } };
  });
};

/** A Subnet in use is deleted: is that refused? */
const webhookDelete: Execute = async (the, stage) => {
  understandOnly('given', the.given, ['Subnet status']);
  const counts = fieldsOf(the.given['Subnet status']);
  const holders = Math.max(heldBy(counts, 4), heldBy(counts, 6));
  await using trial = await (await stage.world()).begin();
  await trial.startWatcher();
  await tryOut(trial, 'used', { provider: 'used.default', cidrBlock: '10.0.0.0/24' });
  for (let index = 0; index < holders; index++)
    await hold(trial, await makePod(trial, 'default', `holder-${index}`), { subnet: 'used', addresses: [] });
  await trial.until(async () => {
    const made = await trial.objects.find({ kind: 'Subnet', name: 'used' });
    return { expected: { v4usingIPs: holders }, got: made?.status ?? {} };
  });
  try {
    await trial.objects.remove({ kind: 'Subnet', name: 'used' });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { expected: the.expect, got: { denied: true, ...failed(error.message) } };
  }
  await trial.settle();
  const left = await trial.objects.find({ kind: 'Subnet', name: 'used' });
  const afterwards = left ? (left.metadata.deletionTimestamp ? 'deleting, and there' : 'there') : 'gone';
  return { expected: the.expect, got: { denied: false, afterwards } };
};

/** Deletion of a Subnet from which a Pod has its address, and of the Pod. */
export const deleteInOrder: Execute = async (the, stage) => {
  const { NAD: nad, Subnet: subnet } = the.given;
  understandOnly('given', the.given, ['NAD', 'Subnet']);
  understandOnly('expectation', the.expect, ['subnet deletion']);
  if (!/^pod, then Subnet/i.test(textOf(the.when['delete'])) || !says(the.expect['subnet deletion'], 'completes after'))
    throw notUnderstood('delete', the.when['delete']);
  const setting = settingOf({
    ...(nad !== undefined && { NAD: nad }),
    ...(subnet !== undefined && { Subnet: subnet }),
  });
  const name = setting.subnets[0]?.name ?? 'macvlan';
  await using trial = await (await stage.world()).begin();
  await makeSetting(trial, setting);
  await trial.startWatcher();
  const [pod] = await makePods(trial, setting, ['p']);
  if (!pod) throw new Error('no Pod');
  await untilHolding(trial, pod);
  // Deleted while it is used, it stays until it is not: whoever deletes it last sees the same, only sooner.
  await trial.objects.remove({ kind: 'Subnet', name });
  await trial.settle();
  const whileUsed = (await trial.objects.find({ kind: 'Subnet', name })) ? 'waits' : 'gone at once';
  await trial.objects.remove({ kind: 'Pod', namespace: setting.namespace, name: 'p' }, 0);
  await trial.settle();
  return await trial.until(async () => {
    const gone = (await trial.objects.find({ kind: 'Subnet', name })) === undefined;
    const left = (await lookAt(trial, pod)).allocations.length;
    const got: Json = { whileUsed, afterwards: gone && left === 0 ? 'gone' : 'still there' };
    return { expected: { whileUsed: 'waits', afterwards: 'gone' }, got };
  });
};

export const subnetAreas: readonly Area[] = [
  { name: 'subnet-format', lane: 'cluster', forms: [{ when: 'format', execute: format }] },
  { name: 'subnet-status', lane: 'cluster', forms: [{ when: 'compute', execute: status }] },
  { name: 'subnet-finalizer', lane: 'cluster', forms: [{ when: 'evaluate', execute: mayGo }] },
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

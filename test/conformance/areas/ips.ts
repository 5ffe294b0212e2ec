/** ip-crd: IP objects that people make, or change. */
import { ApiError } from '../../../services/pod-watcher/kubernetes/api.ts';
import { type Case, notUnderstood, understandOnly } from '../case.ts';
import type { Seen } from '../compare.ts';
import { type Fields, fieldsOf, type Json, textOf } from '../json.ts';
import type { Stage } from '../stage.ts';
import { makeSetting } from '../world/cast.ts';
import { beginLife } from '../world/life.ts';
import type { KubeObject } from '../world/objects.ts';
import { settingOf } from '../world/setting.ts';
import { recordOf, type Trial } from '../world/world.ts';
import { type Area, type Execute, failed } from './area.ts';

/** The Subnet that an IP object names, wide enough for the address that it asks for. */
function settingFor(spec: Fields): ReturnType<typeof settingOf> {
  const [subnet, four, six] = ['subnet', 'v4IpAddress', 'v6IpAddress'].map((key) => textOf(spec[key]));
  const both = textOf(spec['ipAddress']).split(',');
  const ofFour = four || both.find((text) => text.includes('.'));
  const ofSix = six || both.find((text) => text.includes(':'));
  const cidrs = [...(ofFour ? [`${ofFour}/16`] : []), ...(ofSix ? [`${ofSix.toLowerCase()}/64`] : [])];
  const cidrBlock = cidrs.length > 0 ? cidrs.join(',') : '10.16.0.0/16';
  return settingOf({ subnets: subnet ? [{ name: subnet, provider: 'ovn', cidrBlock }] : [] }, { networks: '' });
}

/** What is said of an object: by the API server when it is made, else by Events, else on its conditions. */
async function saidOf(trial: Trial, object: KubeObject): Promise<string> {
  const [now, events] = await Promise.all([
    trial.objects.find({ kind: 'IP', name: object.metadata.name }),
    trial.objects.said(object),
  ]);
  const warnings = events.filter(({ type }) => type === 'Warning').map(({ message }) => message);
  const conditions = Array.isArray(now?.status?.['conditions'])
    ? now.status['conditions'].map((each: Json) => fieldsOf(each))
    : [];
  return [...warnings, ...conditions.map(({ message }) => textOf(message))].filter((text) => text !== '').join('; ');
}

const expectations = ['ignored', 'error', 'errorContains', 'errorMatches', 'spec', 'labels', 'finalizers', 'address'];

/** "spec.v4IpAddress" as it stands in the object. */
function undotted(expect: Fields): Fields {
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

/** What was made of a reserved IP. */
async function lookAtReserved(trial: Trial, object: KubeObject): Promise<Fields> {
  const now = await trial.objects.find({ kind: 'IP', name: object.metadata.name });
  const [subnet, four] = ['subnet', 'v4IpAddress'].map((key) => textOf(now?.spec?.[key]));
  const record = subnet && four ? await recordOf(trial, subnet, four).catch(() => undefined) : undefined;
  const untouched =
    JSON.stringify([now?.spec, now?.metadata.labels ?? null]) ===
    JSON.stringify([object.spec, object.metadata.labels ?? null]);
  const { allocations } = await heldIn(trial);
  const free = record === undefined || ['fresh', 'idle', 'cooling', 'excluded'].includes(record.state);
  return {
    ignored: now !== undefined && untouched && allocations === 0,
    spec: now?.spec ?? {},
    labels: now?.metadata.labels ?? {},
    finalizers: [...(now?.metadata.finalizers ?? [])],
    address: free ? 'free' : 'reserved',
    ...failed(await saidOf(trial, object)),
  };
}

async function heldIn({ served }: Trial): Promise<{ readonly allocations: number }> {
  let allocations = 0;
  for (const claims of served.replica.state.claims.values())
    for (const { allocation } of claims.values())
      if (allocation && allocation.attachment.namespace !== 'sentinels') allocations += 1;
  return { allocations };
}

const create: Execute = async (the, stage) => {
  understandOnly('given', the.given, ['create IP']);
  understandOnly('expectation', undotted(the.expect), expectations);
  const { name, spec } = fieldsOf(the.given['create IP']);
  const wanted = fieldsOf(spec);
  await using trial = await (await stage.world()).begin();
  await makeSetting(trial, settingFor(wanted));
  await trial.startWatcher();
  let made: KubeObject;
  try {
    made = await trial.objects.create('IP', { name: textOf(name) }, { spec: wanted });
  } catch (error) {
    if (error instanceof ApiError && error.reaction === 'invalid')
      return { expected: the.expect, got: failed(error.message) };
    throw error;
  }
  await trial.settle();
  return await trial.until(async () => ({ expected: undotted(the.expect), got: await lookAtReserved(trial, made) }));
};

/** A field of the object that shows a living Pod's address is changed by hand. */
const change: Execute = async (the, stage) => {
  understandOnly('given', the.given, ['existing IP CR']);
  const field = textOf(the.when['webhook update field']);
  await using trial = await (await stage.world()).begin();
  const setting = settingOf({});
  await makeSetting(trial, setting);
  await trial.startWatcher();
  const { ipName } = await beginLife(trial, setting);
  return await denied(the, trial, ipName, { [field]: anotherValue(field) });
};

function anotherValue(field: string): string {
  if (/^v4|^ipAddress/.test(field)) return '172.17.9.9';
  if (field.startsWith('v6')) return 'fd00::9';
  return field === 'macAddress' ? '02:00:00:00:00:09' : 'StatefulSet';
}

async function denied(the: Case, { objects }: Trial, name: string, spec: Fields): Promise<Seen> {
  try {
    await objects.patch({ kind: 'IP', name }, { spec });
    return { expected: the.expect, got: { denied: false } };
  } catch (error) {
    if (!(error instanceof ApiError && error.reaction === 'invalid')) throw error;
    return { expected: the.expect, got: { denied: true, ...failed(error.message) } };
  }
}

const reconcile: Execute = (the: Case, stage: Stage) => {
  if (the.given['create IP'] === undefined) throw notUnderstood('given', the.given);
  return create(the, stage);
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

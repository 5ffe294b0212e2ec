/** The parts of the active watcher, wired to each other, to the Kubernetes API and to the ledger. */
import { within } from '../../lib/deadline.ts';
import type { Logger } from '../../lib/log.ts';
import { Alarms } from './alarm.ts';
import { Configurer } from './intent/configure.ts';
import { Holdings } from './intent/holdings.ts';
import { Nodes } from './intent/nodes.ts';
import { Reconciler } from './intent/reconcile.ts';
import { Subnets } from './intent/subnets.ts';
import { type Api, ApiError } from './kubernetes/api.ts';
import { Events, type Happening } from './kubernetes/events.ts';
import { deletedSince } from './kubernetes/history.ts';
import { type Kind, type Named, Source } from './kubernetes/list-watch.ts';
import { ips, networkDefinitions, nodes, type Pod, pods, subnets, toPod } from './kubernetes/objects.ts';
import { mergePatch, objectPath, podPath, read } from './kubernetes/patch.ts';
import type { Allocator } from './ledger/allocator.ts';
import type { Reader } from './ledger/follow.ts';
import type { Memory } from './memory.ts';
import { Projector } from './projection/project.ts';

export interface PartsOptions {
  readonly api: Api;
  readonly allocator: Allocator;
  /** Go on also when most Pods or Nodes vanished at once. */
  readonly acceptVanished: boolean;
  /** The Lease that this watcher holds: alarms are Events about it. */
  readonly lease: { readonly namespace: string; readonly name: string };
  /** What the watcher before left. */
  readonly memory: Memory;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

const lookUpTimeoutMs = 10_000;

/** All that is watched. */
export function sourcesOf({ api, log }: Pick<PartsOptions, 'api' | 'log'>) {
  return {
    pods: new Source(api, pods, log),
    networks: new Source(api, networkDefinitions, log),
    subnets: new Source(api, subnets, log),
    ips: new Source(api, ips, log),
    nodes: new Source(api, nodes, log),
  };
}

type Sources = ReturnType<typeof sourcesOf>;

/** Both halves, not started. The readers are in order: who looks things up comes after who knows them. */
export function partsOf(options: PartsOptions, sources: Sources) {
  const { api, allocator, lease, log, signal } = options;
  const events = new Events(api, log, signal);
  const alarms = new Alarms(log, (happening) =>
    events.say({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', ...lease, uid: '' }, happening),
  );
  const intent = intentOf(options, sources, events, alarms);
  const say = sayerOf(events);
  const projector = new Projector({ api, allocator, log, signal, say, ...sources });
  const nodeKeeper = nodesOf(options, sources, projector, alarms);
  const readers: Reader[] = [...intent.readers, projector.view, nodeKeeper];
  return { ...intent, projector, nodes: nodeKeeper, alarms, readers };
}

/** The half that asks. */
function intentOf(options: PartsOptions, sources: Sources, events: Events, alarms: Alarms) {
  const { api, allocator, acceptVanished, memory, log, signal } = options;
  const inForce = new Subnets(sources.subnets.objects);
  const holdings = new Holdings();
  const reconciler = new Reconciler({
    allocator,
    acceptVanished,
    log,
    signal,
    pods: sources.pods,
    networks: sources.networks,
    subnets: inForce,
    holdings,
    say: sayerOf(events),
    lookUp: (key, callSignal) => lookUp(api, key, callSignal),
    ...recalling(api, pods, memory.pods),
    vanishedBefore: memory.vanishedPods,
    alarm: alarms.bell('PodsVanished'),
  });
  const configurer = new Configurer({
    allocator,
    log,
    signal,
    objects: sources.subnets,
    subnets: inForce,
    ring: (topic) => reconciler.ring(topic),
    say: (subnet, happening) =>
      events.say({ apiVersion: 'kubeovn.io/v1', kind: 'Subnet', ...nameOf(subnet) }, happening),
    writeConditions: async ({ name }, conditions, callSignal) => {
      const path = `${objectPath(subnets.path, name)}/status`;
      await mergePatch(api, { path, body: { status: { conditions } }, signal: callSignal });
    },
  });
  return { reconciler, configurer, readers: [inForce, holdings, configurer, reconciler] };
}

function nodesOf(options: PartsOptions, sources: Sources, { view }: Projector, alarms: Alarms): Nodes {
  const { api, allocator, acceptVanished, memory, log, signal } = options;
  return new Nodes({
    allocator,
    acceptVanished,
    log,
    signal,
    nodes: sources.nodes,
    holds: (pod, subnet, addresses) =>
      view
        .ofPod(pod)
        .some((held) => held.subnet === subnet && held.addresses.some(({ address }) => addresses.includes(address))),
    exists: async (name, callSignal) => (await found(api, objectPath(nodes.path, name), callSignal)) !== undefined,
    ...recalling(api, nodes, memory.nodes),
    vanishedBefore: memory.vanishedNodes,
    alarm: alarms.bell('NodesVanished'),
  });
}

/** From where the watcher before had come; nobody remembers anything before the first one. */
function recalling<T extends Named>(api: Api, kind: Kind<T>, version: string) {
  return version !== '' && { recall: (signal: AbortSignal) => deletedSince(api, kind, { version, signal }) };
}

const sayerOf =
  (events: Events) =>
  (pod: Pod, happening: Happening): void =>
    events.say({ apiVersion: 'v1', kind: 'Pod', ...nameOf(pod) }, happening);

function nameOf({ namespace, name, uid }: { namespace: string; name: string; uid: string }) {
  return { namespace, name, uid };
}

async function lookUp(api: Api, key: string, signal: AbortSignal): Promise<Pod | undefined> {
  const [namespace = '', name = ''] = key.split('/');
  const raw = await found(api, podPath(namespace, name), signal);
  return raw === undefined ? undefined : toPod(raw);
}

/** An object as the API has it at this moment; undefined if there is none. */
async function found(api: Api, path: string, signal: AbortSignal): Promise<unknown> {
  try {
    return await read(api, path, within(lookUpTimeoutMs, signal));
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}

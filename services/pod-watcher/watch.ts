/** The active watcher: sources, intent and projection, wired to each other and to the ledger. */
import { within } from '../../lib/deadline.ts';
import type { Logger } from '../../lib/log.ts';
import { Configurer } from './intent/configure.ts';
import { Holdings } from './intent/holdings.ts';
import { Reconciler } from './intent/reconcile.ts';
import { Subnets } from './intent/subnets.ts';
import { type Api, ApiError } from './kubernetes/api.ts';
import { Events } from './kubernetes/events.ts';
import { Source } from './kubernetes/list-watch.ts';
import { ips, networkDefinitions, type Pod, pods, subnets, toPod } from './kubernetes/objects.ts';
import { mergePatch, objectPath, podPath, read } from './kubernetes/patch.ts';
import { type Allocator, watchSilenceMs } from './ledger/allocator.ts';
import { follow } from './ledger/follow.ts';
import { Projector } from './projection/project.ts';
import { readiness } from './readiness.ts';

export interface WatchOptions {
  readonly api: Api;
  readonly allocator: Allocator;
  readonly acceptVanished: boolean;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Going on would be wrong. */
  readonly fail: (error: unknown) => void;
}

/** Starts. `ready` is true while all is known and kept up with and both halves work, else it says what is missing. */
export function watchCluster(options: WatchOptions): { readonly ready: true | string } {
  const { api, allocator, log, signal, fail } = options;
  const sources = {
    pods: new Source(api, pods, log),
    networks: new Source(api, networkDefinitions, log),
    subnets: new Source(api, subnets, log),
    ips: new Source(api, ips, log),
  };
  const { reconciler, configurer, readers } = intentOf(options, sources);
  const projector = new Projector({ api, allocator, log, signal, ...sources });

  let snapshots = 0;
  let heardAt = -Infinity;
  let started = false;
  const startWhenKnown = (): void => {
    const known = snapshots > 0 && Object.values(sources).every(({ listed }) => listed);
    if (!known || starting) return;
    starting = true;
    projector.start();
    // The Subnets first: a Pod that finds its Subnet in force need not wait for it.
    configurer.start().then(() => {
      reconciler.start();
      started = true;
      log.info({ pods: sources.pods.objects.size, subnets: sources.subnets.objects.size }, 'ready');
    }, fail);
  };
  let starting = false;
  const onHeard = (): void => void (heardAt = performance.now());
  const onSnapshot = (): void => {
    snapshots += 1;
    onHeard();
    startWhenKnown();
  };
  const knowledge = { snapshot: onSnapshot, facts: () => undefined };
  for (const source of Object.values(sources)) {
    source.subscribe((change: { kind: string }) => (change.kind === 'listed' ? startWhenKnown() : undefined));
    void source.run(signal);
  }
  follow({ allocator, readers: [...readers, projector.view, knowledge], onHeard, log, signal }).catch(fail);
  return {
    get ready() {
      const ofSources = Object.entries(sources).map(([name, { listed, silentMs, mostSilentMs }]) => ({
        name,
        known: listed,
        silentMs,
        mostSilentMs,
      }));
      const silentMs = performance.now() - heardAt;
      const ofAllocator = { name: 'the allocator', known: snapshots > 0, silentMs, mostSilentMs: watchSilenceMs };
      return readiness(started, [...ofSources, ofAllocator]);
    },
  };
}

interface Sources {
  readonly pods: Source<Pod>;
  readonly networks: Source<ReturnType<typeof networkDefinitions.parse>>;
  readonly subnets: Source<ReturnType<typeof subnets.parse>>;
}

/** The half that asks. Its readers are in order: who looks things up comes after who knows them. */
function intentOf({ api, allocator, acceptVanished, log, signal }: WatchOptions, sources: Sources) {
  const events = new Events(api, log, signal);
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
    say: (pod, happening) => events.say({ apiVersion: 'v1', kind: 'Pod', ...nameOf(pod) }, happening),
    lookUp: (key, callSignal) => lookUp(api, key, callSignal),
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

function nameOf({ namespace, name, uid }: { namespace: string; name: string; uid: string }) {
  return { namespace, name, uid };
}

async function lookUp(api: Api, key: string, signal: AbortSignal): Promise<Pod | undefined> {
  const [namespace = '', name = ''] = key.split('/');
  try {
    return toPod(await read(api, podPath(namespace, name), within(10_000, signal)));
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}

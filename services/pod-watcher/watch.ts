/** The active watcher: it starts its parts once they know enough, and says how it goes. */
import type { Position } from '../../proto/ipledger.ts';
import type { Change, Named } from './kubernetes/list-watch.ts';
import { watchSilenceMs } from './ledger/allocator.ts';
import { follow, type Reader } from './ledger/follow.ts';
import { MemoryKeeper } from './memory.ts';
import { type PartsOptions, partsOf, sourcesOf } from './parts.ts';
import { type Heard, readiness } from './readiness.ts';

export interface WatchOptions extends PartsOptions {
  /** Going on would be wrong. */
  readonly fail: (error: unknown) => void;
}

export interface Watching {
  /** True while all is known and kept up with, both halves work and nothing is in doubt; else it says what is missing. */
  readonly ready: true | string;
  /** What to leave for the next watcher, as of now. */
  memory(): string;
  readonly figures: Figures;
}

/** How it goes, in numbers. */
export interface Figures {
  /** Of each source, and of the ledger. */
  readonly heard: readonly Heard[];
  /** The last event of the ledger that was taken in. */
  readonly seq: number;
  /** Pods that wait for addresses. */
  readonly waiting: number;
  /** How many are missing at once, while that halts releases. */
  readonly vanished: { readonly pods: number; readonly nodes: number };
  readonly alarms: number;
}

/** Starts. */
export function watchCluster(options: WatchOptions): Watching {
  const { allocator, log, signal, fail } = options;
  const sources = sourcesOf(options);
  const { reconciler, configurer, pools, reservations, bindings, projector, nodes, alarms, readers } = partsOf(
    options,
    sources,
  );
  const keeper = new MemoryKeeper(options.memory);
  const ledger = ledgerHeard();

  let started = false;
  const start = async (): Promise<void> => {
    projector.start();
    // The Subnets first: a Pod that finds its Subnet in force need not wait for it.
    await configurer.start();
    await pools.start();
    bindings.start();
    // A Pod that somebody holds an address for must find it held.
    for (const each of reservations) await each.start();
    await reconciler.prepare();
    reconciler.start();
    started = true;
    log.info({ pods: sources.pods.objects.size, subnets: sources.subnets.objects.size }, 'ready');
  };
  // Nobody waits for the Nodes: all else goes on without them.
  const { nodes: nodeSource, ...needed } = sources;
  const toStart = [
    whenKnown(Object.values(needed), () => void start().catch(fail)),
    whenKnown([nodeSource], () => void nodes.start()),
  ];
  const onKnown = (): void => {
    if (ledger.known) for (const begin of toStart) begin();
  };
  for (const source of Object.values(sources)) {
    source.subscribe(({ kind }: Change<Named>) => (kind === 'listed' ? onKnown() : undefined));
    void source.run(signal);
  }
  const onSnapshot: Reader = { snapshot: () => (ledger.onSnapshot(), onKnown()), facts: () => undefined };
  let seen = options.memory.ledger;
  const onPosition = (position: Position): void => void (seen = position);
  const onFrozen = alarms.bell('LedgerRewound');
  const followed = { allocator, readers: [...readers, onSnapshot], onHeard: ledger.onHeard, onPosition, onFrozen };
  follow({ ...followed, remembered: options.memory.ledger, log, signal }).catch(fail);
  const heard = (): Heard[] => {
    const ofSources = Object.entries(sources).map(([name, { listed, silentMs, mostSilentMs }]): Heard => {
      return { name, known: listed, silentMs, mostSilentMs };
    });
    return [...ofSources, ledger];
  };
  return {
    get ready() {
      return readiness(started, heard(), alarms.sentences);
    },
    get figures() {
      const vanished = { pods: reconciler.vanished, nodes: nodes.vanished };
      const { waiting } = reconciler;
      return { heard: heard(), seq: projector.view.seq, waiting, vanished, alarms: alarms.sentences.length };
    },
    memory: () =>
      keeper.write({
        pods: (started && sources.pods.version) || '',
        nodes: (started && sources.nodes.version) || '',
        vanishedPods: reconciler.vanished,
        vanishedNodes: nodes.vanished,
        ledger: seen,
      }),
  };
}

/** Does something once, as soon as all have been listed when it is called. */
function whenKnown(sources: readonly { readonly listed: boolean }[], begin: () => void): () => void {
  let begun = false;
  return () => {
    if (begun || !sources.every(({ listed }) => listed)) return;
    begun = true;
    begin();
  };
}

/** How well the allocator is heard. */
function ledgerHeard() {
  let heardAt = -Infinity;
  let known = false;
  const onHeard = (): void => void (heardAt = performance.now());
  return {
    name: 'the allocator',
    mostSilentMs: watchSilenceMs,
    get known() {
      return known;
    },
    get silentMs() {
      return performance.now() - heardAt;
    },
    onHeard,
    onSnapshot: (): void => {
      known = true;
      onHeard();
    },
  };
}

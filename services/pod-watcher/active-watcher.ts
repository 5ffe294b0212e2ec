/** The active watcher: starts the controllers once their inputs are known. */
import type { UntypedJson } from '../../lib/kubernetes/untyped-json.ts';
import type { GetStatusReply } from '../../proto/generated/ipledger.ts';
import { AcceptedDeletions } from './accepted-deletions.ts';
import { allObjects } from './controllers/mass-deletion-guard.ts';
import { HandoverStateWriter } from './handover-state.ts';
import { handoverLimits } from './limits.ts';
import { followLedger } from '../../lib/ledger-client/follow-ledger.ts';
import { watchSilenceMs } from '../../lib/ledger-client/ledger-client.ts';
import { deliverCommands, deliverSnapshot } from './ledger/ledger-subscriber.ts';
import { type InputStatus, readiness } from '../../lib/process/readiness.ts';
import { wireControllers } from './wiring/controllers.ts';
import { createInformers, type Informers, type WiringOptions } from './wiring/inputs.ts';

export interface ActiveWatcherOptions extends WiringOptions {
  /** Stores the result of `handoverState()`. Resolves when it is stored. */
  readonly storeHandoverState: () => Promise<void>;
  /** Ends the program after an error that a retry cannot fix. */
  readonly fail: (error: unknown) => void;
}

export interface ActiveWatcher {
  /** True while inputs are current, controllers run and no alarm is active; or the reason. */
  readonly ready: true | string;
  /** Reads the Lease's annotations, which may accept a mass deletion, after each renewal. */
  onLeaseAnnotations(annotations: UntypedJson): void;
  /** Raises an alarm while nothing can be written to the ledger. */
  onLedgerStatus(status: Pick<GetStatusReply, 'cannotWrite'>): void;
  /** The state for the next active watcher, as JSON. */
  handoverState(): string;
  readonly stats: WatcherStats;
}

export interface WatcherStats {
  /** The status of the informers and of the ledger. */
  readonly inputs: readonly InputStatus[];
  /** The last ledger event that the projection includes. */
  readonly projectedSeq: number;
  /** The number of Pods that wait for an address. */
  readonly waitingPods: number;
  /** The numbers of missing Pods and Nodes while a mass deletion halts releases. */
  readonly missing: { readonly pods: number; readonly nodes: number };
  readonly alarms: number;
  /** The number of Subnets in force that allocate no new address. */
  readonly suspendedSubnets: number;
}

type Controllers = ReturnType<typeof wireControllers>;

/** Starts an active watcher, which runs until the signal is aborted. */
export function startActiveWatcher(options: ActiveWatcherOptions): ActiveWatcher {
  const { allocator, handoverState, storeHandoverState, log, signal, fail } = options;
  const informers = createInformers(options);
  const controllers = wireControllers(options, informers);
  const { nodeController, alarms, subscribers } = controllers;
  /** The time of the last reply of the allocator; -Infinity before the first snapshot. */
  let repliedAt = -Infinity;

  let started = false;
  let firstVersion: string | undefined;
  const start = async (): Promise<void> => {
    // Stores a version, without which the next watcher would miss deletions of Pods.
    if (handoverState.pods === '') {
      firstVersion = informers.pods.resourceVersion;
      await storeHandoverState();
    }
    await startControllers(controllers, options.kubeOvnApi !== undefined);
    started = true;
    log.info({ pods: informers.pods.objects.size, subnets: informers.subnets.objects.size }, 'ready');
  };
  // Starts the other controllers without waiting for Nodes, which they do not need.
  const { nodes, ...needed } = informers;
  const starters = [
    onceSynced(Object.values(needed), () => void start().catch(fail)),
    onceSynced([nodes], () => void nodeController.start()),
  ];
  const startSynced = (): void => {
    if (repliedAt > -Infinity) for (const starter of starters) starter();
  };
  runInformers(informers, startSynced, signal);

  let position = handoverState.ledger;
  followLedger({
    allocator,
    takeSnapshot: async () => {
      const taken = await deliverSnapshot(allocator, subscribers, signal);
      repliedAt = performance.now();
      startSynced();
      return taken;
    },
    apply: (reply) => {
      deliverCommands(reply, subscribers);
      ({ position } = reply);
      repliedAt = performance.now();
    },
    onFrozen: alarms.setterFor('LedgerRewound'),
    lastKnownPosition: handoverState.ledger,
    log,
    signal,
  }).catch(fail);

  const inputs = (): InputStatus[] => [...informerStatus(informers), ledgerStatus(repliedAt)];
  const handover = new HandoverStateWriter(handoverState);
  const accepted = new AcceptedDeletions({ ...controllers, usedBefore: handoverState.usedAcceptance, log });
  return {
    onLeaseAnnotations: (annotations) => void (started && accepted.read(annotations)),
    onLedgerStatus: ({ cannotWrite }) => alarms.setterFor('LedgerNotWritable')(cannotWrite?.message),
    get ready() {
      return readiness(started, inputs(), alarms.messages);
    },
    get stats() {
      return statsOf(controllers, inputs());
    },
    handoverState: () =>
      handover.write({
        pods: (started ? informers.pods.resourceVersion : firstVersion) ?? '',
        nodes: (started && informers.nodes.resourceVersion) || '',
        ...whatControllersSaw(controllers),
        usedAcceptance: accepted.used,
        ledger: position,
      }),
  };
}

function statsOf({ alarms, nodeController, podController, projection, subnets }: Controllers, inputs: InputStatus[]) {
  return {
    inputs,
    projectedSeq: projection.view.seq,
    waitingPods: podController.waitingPods,
    missing: { pods: podController.missingPods, nodes: nodeController.missing },
    alarms: alarms.messages.length,
    suspendedSubnets: subnets.suspended,
  };
}

/**
 * Controllers start in this order: Pods need the Subnets, IPPools and reservations that they name.
 */
async function startControllers(controllers: Controllers, besideKubeOvn: boolean): Promise<void> {
  controllers.projection.start();
  await controllers.subnetController.start();
  // Skips both beside Kube-OVN, whose Subnets namespaces name. No Subnet serves OVN4NFV there.
  if (!besideKubeOvn) void controllers.networkController.start();
  await controllers.poolController.start();
  if (!besideKubeOvn) controllers.namespaceController.start();
  for (const controller of controllers.reservationControllers) await controller.start();
  await controllers.ipamClaimController.start();
  await controllers.podController.prepare();
  controllers.podController.start();
}

/** Returns the parts of the handover state that only controllers know, as bounded lists. */
function whatControllersSaw({ podController, nodeController }: Controllers) {
  const { [allObjects]: vanishedPods = 0, ...namespaces } = podController.halted;
  return {
    vanishedPods,
    haltedNamespaces: Object.fromEntries(Object.entries(namespaces).slice(0, handoverLimits.namespaces)),
    vanishedNodes: nodeController.missing,
    terminating: podController.terminatingPods,
    outOfService: nodeController.outOfService,
  };
}

function runInformers(informers: Informers, onListed: () => void, signal: AbortSignal): void {
  for (const informer of Object.values(informers)) {
    informer.subscribe(({ kind }: { readonly kind: string }) => (kind === 'listed' ? onListed() : undefined));
    void informer.run(signal);
  }
}

function informerStatus(informers: Informers): InputStatus[] {
  return Object.entries(informers).map(([name, { hasSynced, silentMs, maxSilentMs }]): InputStatus => {
    return { name, isKnown: hasSynced, silentMs, maxSilentMs };
  });
}

/** Returns how current the ledger's state is. */
function ledgerStatus(repliedAt: number): InputStatus {
  const isKnown = repliedAt > -Infinity;
  return { name: 'the allocator', isKnown, silentMs: performance.now() - repliedAt, maxSilentMs: watchSilenceMs };
}

/** Returns a function that calls `start` once, when all informers have synced. */
function onceSynced(informers: readonly { readonly hasSynced: boolean }[], start: () => void): () => void {
  let isStarted = false;
  return () => {
    if (isStarted || !informers.every(({ hasSynced }) => hasSynced)) return;
    isStarted = true;
    start();
  };
}

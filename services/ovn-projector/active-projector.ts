/** The active projector: keeps the northbound database equal to the projected state. */
import type { Api } from '../../lib/kubernetes/client/kubernetes-api.ts';
import { OvsdbClient } from '../../lib/ovsdb/client.ts';
import { followLedger } from '../../lib/ledger-client/follow-ledger.ts';
import type { LedgerClient } from '../../lib/ledger-client/ledger-client.ts';
import type { OvsdbTls } from '../../lib/ovsdb/endpoint.ts';
import type { Logger } from '../../lib/process/log.ts';
import { type InputStatus, readiness } from '../../lib/process/readiness.ts';
import { readSnapshot } from './ledger/read-snapshot.ts';
import { projectorLimits } from './limits.ts';
import type { ProjectorStats } from './metrics.ts';
import { northboundColumns, northboundDatabase, NorthboundView } from './northbound/northbound-view.ts';
import { ProjectedState } from './projected-state.ts';
import { Projector, type TransactionOutcome } from './projector.ts';
import { DesiredRows } from './rows/desired-rows.ts';
import { ProblemLog } from './rows/problem.ts';
import type { DesiredPort } from './rows/desired-row.ts';
import type { PortAllocation } from './rows/row-sources.ts';

export interface ActiveProjectorOptions {
  readonly api: Api;
  readonly allocator: LedgerClient;
  /** The servers of the northbound database. */
  readonly endpoints: readonly string[];
  readonly tls: OvsdbTls | undefined;
  /** Identity of this projector. */
  readonly writer: string;
  readonly onTransaction: (outcome: TransactionOutcome, seconds: number) => void;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

export interface ActiveProjector {
  /** True while all inputs are current and the database was compared; else the reason why not. */
  readonly ready: true | string;
  readonly stats: ProjectorStats;
  /** Rejects with Deposed when another projector has written, and with fatal errors. */
  readonly ended: Promise<void>;
}

interface Parts {
  readonly client: OvsdbClient;
  readonly view: NorthboundView;
  readonly desired: DesiredRows;
  readonly projector: Projector;
}

/** The longest time without a connection before the northbound database counts as unavailable. */
const maxDisconnectedMs = 10_000;

/** Starts an active projector, which runs until the signal is aborted. */
export function startActiveProjector(options: ActiveProjectorOptions): ActiveProjector {
  const { api, allocator, log } = options;
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  const state = new ProjectedState(api, log);
  let parts: Parts | undefined;
  let connectedAt = -Infinity;

  const run = async (): Promise<void> => {
    state.watch(signal);
    const following = followLedger({
      allocator,
      takeSnapshot: async () => {
        const snapshot = await readSnapshot(allocator, signal);
        state.onSnapshot(snapshot);
        return { position: snapshot.first, allocations: snapshot.allocations.length };
      },
      apply: (reply) => state.onReply(reply),
      log,
      signal,
    });
    const projecting = async (): Promise<void> => {
      parts = connectParts(state, await state.complete, { ...options, signal });
      await parts.client.ready(signal);
      await parts.projector.run();
    };
    try {
      await Promise.race([following, projecting()]);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      stop.abort();
    }
  };
  const northboundStatus = (): InputStatus => {
    const now = performance.now();
    const isConnected = parts?.client.endpoint !== undefined;
    if (isConnected) connectedAt = now;
    const isKnown = connectedAt !== -Infinity;
    return {
      name: 'the northbound database',
      isKnown,
      silentMs: isKnown ? now - connectedAt : 0,
      maxSilentMs: maxDisconnectedMs,
    };
  };
  return {
    get ready() {
      const refusal = parts?.projector.refusal;
      const alarms = refusal === undefined ? [] : [refusal];
      return readiness(parts?.projector.hasCompared === true, [...state.status, northboundStatus()], alarms);
    },
    get stats() {
      return {
        appliedSeq: state.position?.seq ?? 0,
        // Counts ports only on demand: the count takes time that grows with their number.
        get ports() {
          return parts
            ? countPorts(parts.desired.ports, parts.view, state.inputs.allocations)
            : { desired: 0, present: 0, down: 0 };
        },
        isConnected: parts?.client.endpoint !== undefined,
        conflicts: parts?.projector.conflicts.size ?? 0,
        problems: parts?.desired.problems ?? [],
      };
    },
    ended: run(),
  };
}

function connectParts(state: ProjectedState, ledger: string, options: ActiveProjectorOptions): Parts {
  const { endpoints, tls, log, signal } = options;
  const view = new NorthboundView(ledger);
  const desired = new DesiredRows({ ledger, ...state.inputs });
  const client: OvsdbClient = new OvsdbClient({
    endpoints,
    database: northboundDatabase,
    ...(tls && { tls }),
    columns: northboundColumns,
    limits: { maxRows: projectorLimits.northboundRows },
    onChange: (update) => {
      const touched = view.apply(update);
      projector.onTouched(update.isReload ? { ...touched, hasStructure: true } : touched);
    },
    onStatus: (status) => {
      if (status.isConnected) log.info({ endpoint: status.endpoint }, 'northbound database: connected');
      else log.warn({ endpoint: status.endpoint, reason: status.error.message }, 'northbound database: not connected');
    },
    signal,
  });
  const projector = new Projector({ ...options, client, view, desired, ledger, position: () => state.position });
  const problems = new ProblemLog(log);
  problems.report(desired.problems);
  state.subscribe(
    ({ isAll, hasSubnets, ports }) => {
      if (isAll) desired.recomputeAll();
      else if (hasSubnets) desired.recomputeSubnets();
      for (const port of ports) desired.recomputePort(port);
      problems.report(desired.problems);
      projector.request(isAll || hasSubnets ? 'all' : ports);
    },
    () => projector.retryRefused(),
  );
  return { client, view, desired, projector };
}

/** Counts NIC ports. A port is down only if a container is bound to it. */
function countPorts(
  ports: ReadonlyMap<string, DesiredPort>,
  view: NorthboundView,
  allocations: ReadonlyMap<string, Pick<PortAllocation, 'bindings'>>,
): ProjectorStats['ports'] {
  let [present, down] = [0, 0];
  for (const name of ports.keys()) {
    const row = view.named('Logical_Switch_Port', name).find((each) => view.owns(each))?.row;
    if (!row) continue;
    present += 1;
    const hasContainer = (allocations.get(name)?.bindings.size ?? 0) > 0;
    if (hasContainer && row['up'] !== true) down += 1;
  }
  return { desired: ports.size, present, down };
}

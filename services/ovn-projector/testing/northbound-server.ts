/** Starts a real server of the northbound database, and projectors on it. */
import { setImmediate } from 'node:timers/promises';
import type { Context } from 'mocha';
import { pino } from 'pino';
import { OvsdbClient } from '../../../lib/ovsdb/client.ts';
import { probeOvn } from '../../../test/harness/ovn/ovn-programs.ts';
import { type OvsdbServer, startOvsdbServer } from '../../../test/harness/ovn/ovsdb-server.ts';
import { openRun, type Run } from '../../../test/harness/run.ts';
import { northboundColumns, northboundDatabase, NorthboundView } from '../northbound/northbound-view.ts';
import { Projector, type TransactionOutcome } from '../projector.ts';
import type { DesiredRows } from '../rows/desired-rows.ts';
import { testLedger } from './row-inputs.ts';

export interface NorthboundServer {
  readonly run: Run;
  readonly server: OvsdbServer;
}

/** Starts a server, or skips the suite if OVN is missing. Call in `before`. */
export async function startNorthbound(context: Context): Promise<NorthboundServer> {
  const ability = probeOvn();
  if (!ability.isAvailable) {
    process.stdout.write(`      skipped: ${ability.reason}\n`);
    context.skip();
  }
  const run = openRun();
  return { run, server: await startOvsdbServer(run, { name: 'nb', schema: 'northbound' }) };
}

export interface ConnectedView {
  readonly client: OvsdbClient;
  readonly view: NorthboundView;
  /** Resolves when `check` holds, after a change of the database. */
  until(check: () => boolean): Promise<void>;
  /**
   * Resolves when all earlier transactions are answered and the projector waits for a reply or for
   * work.
   */
  settle(): Promise<void>;
  /** Called after each change. */
  onTouched: Projector['onTouched'];
}

/** Connects to a server. Resolves when the view is complete. */
export async function connectView(server: OvsdbServer, signal: AbortSignal): Promise<ConnectedView> {
  const view = new NorthboundView(testLedger);
  const checks = new Set<() => void>();
  const connected: ConnectedView = {
    client: new OvsdbClient({
      endpoints: [server.unix],
      database: northboundDatabase,
      columns: northboundColumns,
      onChange: (update) => {
        connected.onTouched(view.apply(update));
        for (const check of checks) check();
      },
      signal,
    }),
    view,
    onTouched: () => undefined,
    async settle() {
      await connected.client.transact([{ op: 'comment', comment: 'answered after earlier transactions' }]);
      // Lets the projector continue: it needs several promises for a reply.
      await setImmediate();
    },
    async until(check) {
      const reached = Promise.withResolvers<void>();
      const look = (): void => void (check() && reached.resolve());
      checks.add(look);
      look();
      await reached.promise;
      checks.delete(look);
    },
  };
  await connected.client.ready(signal);
  return connected;
}

export interface RunningProjector {
  readonly projector: Projector;
  readonly outcomes: TransactionOutcome[];
  /** Rejects with Deposed when another projector has written. */
  readonly ended: Promise<void>;
}

export interface RunOptions {
  readonly desired: DesiredRows;
  readonly writer?: string;
  /** Returns the position of the ledger. */
  readonly seq?: () => number;
  /** Delays each transaction after its computation. */
  readonly beforeTransaction?: () => Promise<void>;
  readonly signal: AbortSignal;
}

/** Runs a projector on a view. */
export function runProjector(
  connected: ConnectedView,
  { desired, writer = 'a', seq = () => 1, beforeTransaction, signal }: RunOptions,
): RunningProjector {
  const outcomes: TransactionOutcome[] = [];
  const { client, view } = connected;
  const projector = new Projector({
    client: {
      ready: (until) => client.ready(until),
      async transact(operations) {
        await beforeTransaction?.();
        return client.transact(operations);
      },
    },
    view,
    desired,
    ledger: testLedger,
    writer,
    position: () => ({ epoch: 1, seq: seq(), hash: '' }),
    onTransaction: (outcome) => void outcomes.push(outcome),
    log: pino({ level: 'silent' }),
    signal,
  });
  connected.onTouched = (touched) => projector.onTouched(touched);
  const ended = projector.run();
  ended.catch(() => undefined);
  return { projector, outcomes, ended };
}

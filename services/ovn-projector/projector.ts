/**
 * Writes the difference between the desired rows and the northbound database. Compares all rows at
 * the start, after a reconnect, at intervals, and after another program changed a row of ipledger;
 * compares single ports after events.
 */
import { backoffMs, pause, rejectWhenAborted } from '../../lib/process/abortable.ts';
import type { Logger } from '../../lib/process/log.ts';
import type { OvsdbClient } from '../../lib/ovsdb/client.ts';
import { OvsdbError } from '../../lib/ovsdb/ovsdb-error.ts';
import type { Operation } from '../../lib/ovsdb/transaction.ts';
import type { Position } from '../../proto/generated/ipledger.ts';
import { type Diff, diffRows, type Conflict } from './diff/diff.ts';
import { type Fence, fenceOperations, readFence, writeRefusal } from './fence.ts';
import { projectorLimits } from './limits.ts';
import type { NorthboundView, Touched } from './northbound/northbound-view.ts';
import type { DesiredRows } from './rows/desired-rows.ts';
import { rowKey } from './rows/desired-row.ts';

/** The outcome of a transaction. */
export type TransactionOutcome = 'committed' | 'fenced' | 'rejected' | 'unknown';

export interface ProjectorOptions {
  readonly client: Pick<OvsdbClient, 'transact' | 'ready'>;
  readonly view: NorthboundView;
  readonly desired: DesiredRows;
  readonly ledger: string;
  /** Identity of this projector. */
  readonly writer: string;
  /** The ledger position of `desired`; undefined while it has none. */
  readonly position: () => Position | undefined;
  readonly onTransaction: (outcome: TransactionOutcome, seconds: number) => void;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** Interval of complete comparisons. */
const compareEveryMs = 300_000;
/** Interval of complete comparisons while rows are left out. */
const retryRejectedMs = 30_000;
const maxBackoffMs = 5_000;

/** Another projector has written, so this one has lost its leadership and must stop. */
export class Deposed extends Error {
  override readonly name = 'Deposed';
}

export class Projector {
  readonly conflicts: ConflictList;
  readonly #options: ProjectorOptions;
  readonly #scope = new Scope();
  readonly #rejected = new Set<string>();
  #limit: number = projectorLimits.transactionRows;
  #hasClaimed = false;
  #hasCompared = false;
  #refusal: string | undefined;

  constructor(options: ProjectorOptions) {
    this.#options = options;
    this.conflicts = new ConflictList(options.log);
  }

  /** Why the projector writes nothing; undefined while it writes. */
  get refusal(): string | undefined {
    return this.#refusal;
  }

  /** Whether a complete comparison has ended. */
  get hasCompared(): boolean {
    return this.#hasCompared;
  }

  /** Compares these ports soon, or everything. */
  request(scope: 'all' | Iterable<string>): void {
    this.#scope.add(scope);
  }

  /** Compares again after a change of the position, which may end a refusal. */
  retryRefused(): void {
    if (this.#refusal !== undefined) this.#scope.add('all');
  }

  /** Compares what a change of the database concerns. */
  onTouched({ hasStructure, ports }: Touched): void {
    if (hasStructure || this.#refusal !== undefined) this.#scope.add('all');
    else if (ports.size > 0) this.#scope.add(ports);
    if (this.#isDeposed()) this.#scope.add([]);
  }

  /** Works until the signal is aborted. @throws Deposed */
  async run(): Promise<void> {
    const { signal } = this.#options;
    this.#scope.add('all');
    void this.#requestRegularly();
    for (let failures = 0; !signal.aborted;) {
      await this.#scope.wait(signal);
      if (signal.aborted) return;
      const isWritten = await this.#compare(this.#scope.take());
      if (isWritten) failures = 0;
      else await pause(backoffMs(failures++, 50, maxBackoffMs), signal);
    }
  }

  async #requestRegularly(): Promise<void> {
    const { signal } = this.#options;
    for (let waitedMs = 0; !signal.aborted; waitedMs += retryRejectedMs) {
      if (waitedMs >= compareEveryMs || this.#rejected.size > 0) {
        waitedMs = 0;
        this.#rejected.clear();
        this.#scope.add('all');
      }
      await pause(retryRejectedMs, signal);
    }
  }

  /**
   * Compares a scope and writes the difference. Returns false if a transaction failed and must be
   * repeated. Ports that do not fit in the first transaction are compared and written in parts,
   * each once. A comparison of the whole scope comes last. @throws Deposed
   */
  async #compare(scope: 'all' | ReadonlySet<string>): Promise<boolean> {
    const { desired, view } = this.#options;
    let left: string[] = [];
    for (let part = scope; ;) {
      if (this.#isDeposed()) throw new Deposed(`${readFence(view.global)?.writer ?? ''} has written since`);
      const fence = this.#nextFence();
      if (!fence) return true;
      const mustClaim = !this.#hasClaimed || !view.global;
      const limit = mustClaim ? 0 : this.#limit;
      const diff = diffRows(desired, view, { scope: part, limit, rejected: this.#rejected });
      this.conflicts.replace(part, diff.conflicts);
      if (mustClaim || diff.operations.length > 0) {
        const result = await this.#write(fence, diff);
        if (result === 'narrowed') continue;
        if (result === 'failed') {
          this.#scope.add(scope);
          return false;
        }
      }
      if (this.#options.signal.aborted) return true;
      if (mustClaim) continue;
      if (diff.isComplete && part === scope) break;
      if (part === scope) left = [...diff.left];
      else if (!diff.isComplete) continue;
      part = left.length > 0 ? new Set(left.splice(0, this.#limit)) : scope;
    }
    if (scope === 'all') this.#hasCompared = true;
    return true;
  }

  /** Returns the fence of the next transaction; undefined while the projector must not write. */
  #nextFence(): Fence | undefined {
    const { ledger, writer, position, view, log } = this.#options;
    const at = position();
    if (!at) return undefined;
    const next = { ledger, writer, epoch: at.epoch, seq: at.seq };
    const refusal = writeRefusal(readFence(view.global), next);
    if (refusal !== undefined && refusal !== this.#refusal) log.warn({ reason: refusal }, 'nothing is written');
    this.#refusal = refusal;
    return refusal === undefined ? next : undefined;
  }

  /** Whether another projector has written since the last transaction of this one. */
  #isDeposed(): boolean {
    const fence = readFence(this.#options.view.global);
    return this.#hasClaimed && fence !== undefined && fence.writer !== this.#options.writer;
  }

  /** Writes a difference. `narrowed`: it was rejected, and the next transaction is smaller. */
  async #write(fence: Fence, diff: Diff): Promise<'written' | 'narrowed' | 'failed'> {
    const { client, view, log, signal } = this.#options;
    const error = await this.#transact([...fenceOperations(view.global, fence), ...diff.operations]);
    if (!error) {
      this.#hasClaimed = true;
      this.#limit = Math.min(this.#limit * 2, projectorLimits.transactionRows);
      const rows = diff.keys.length;
      if (rows > 0) log.info({ rows, seq: fence.seq }, 'rows written');
      return 'written';
    }
    const { code, message: reason } = error;
    log.warn({ code, reason, rows: diff.keys.length }, 'the transaction failed');
    const isRejected = code === 'CONSTRAINT' || code === 'REFUSED' || code === 'INVALID_REQUEST';
    if (isRejected && diff.keys.length > 0) {
      this.#isolate(diff, reason);
      return 'narrowed';
    }
    if (code === 'NOT_CONNECTED' || code === 'OUTCOME_UNKNOWN' || code === 'PROTOCOL') {
      this.#scope.add('all');
      await client.ready(signal).catch(() => undefined);
    }
    return 'failed';
  }

  /** Returns the error; undefined when the transaction was committed. */
  async #transact(operations: readonly Operation[]): Promise<OvsdbError | undefined> {
    const { client, onTransaction } = this.#options;
    const startedAt = performance.now();
    const end = (outcome: TransactionOutcome): void => onTransaction(outcome, (performance.now() - startedAt) / 1_000);
    try {
      await client.transact(operations);
      end('committed');
      return undefined;
    } catch (error) {
      if (!(error instanceof OvsdbError)) throw error;
      if (error.code === 'FENCED') end('fenced');
      else if (error.code === 'OUTCOME_UNKNOWN') end('unknown');
      else if (error.code !== 'NOT_CONNECTED') end('rejected');
      return error;
    }
  }

  /** Narrows down the rejected row by smaller transactions. A complete comparison retries it. */
  #isolate({ keys }: Diff, reason: string): void {
    const [key] = keys;
    if (keys.length === 1 && key !== undefined) {
      this.#rejected.add(key);
      this.#options.log.error({ row: key, reason }, 'the northbound database rejects a row, which is left out');
    } else this.#limit = Math.floor(keys.length / 2);
  }
}

/** The work of the next comparison: all rows, or some ports. */
class Scope {
  #ports = new Set<string>();
  #isAll = false;
  #isRequested = false;
  #requested = Promise.withResolvers<void>();

  /** Adds names of ports, or all rows. A comparison of no names still checks the fence. */
  add(scope: 'all' | Iterable<string>): void {
    if (scope === 'all') this.#isAll = true;
    else for (const port of scope) this.#ports.add(port);
    this.#isRequested = true;
    this.#requested.resolve();
  }

  /** Resolves when something was added since the last `take`, or when the signal is aborted. */
  async wait(signal: AbortSignal): Promise<void> {
    await rejectWhenAborted(this.#requested.promise, signal).catch(() => undefined);
  }

  /** Returns what was added, and begins a new scope. */
  take(): 'all' | ReadonlySet<string> {
    const scope = this.#isAll ? 'all' : this.#ports;
    this.#ports = new Set();
    this.#isAll = false;
    if (this.#isRequested) this.#requested = Promise.withResolvers();
    this.#isRequested = false;
    return scope;
  }
}

/** Keeps the present conflicts. Logs each conflict once while it lasts. */
class ConflictList {
  readonly #log: Logger;
  #present = new Map<string, string>();

  constructor(log: Logger) {
    this.#log = log;
  }

  get size(): number {
    return this.#present.size;
  }

  /** Replaces the conflicts of a scope with those that its comparison found. */
  replace(scope: 'all' | ReadonlySet<string>, conflicts: readonly Conflict[]): void {
    const before = this.#present;
    this.#present = new Map(scope === 'all' ? [] : before);
    if (scope !== 'all') for (const name of scope) this.#present.delete(rowKey({ table: 'Logical_Switch_Port', name }));
    for (const { key, message } of conflicts) this.#present.set(key, message);
    const added = [...this.#present].filter(([key, message]) => before.get(key) !== message);
    for (const [, message] of added.slice(0, projectorLimits.loggedProblems))
      this.#log.warn({ reason: message }, 'a row of another owner is in the way');
  }
}

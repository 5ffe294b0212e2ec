/**
 * Verifies the ledger continuously on a standby. It checks each event that the standby reads. It
 * also compares the other keys with the state, page by page, again and again. When the replica
 * becomes a standby, it first verifies the existing ledger as `ipledger verify` does, starting from
 * the mark of an earlier verification. Verification stops when the replica becomes the writer.
 *
 * A key and the state are not read at the same time. So a key that differs is read again after the
 * state has caught up. If its value is still the same, it was wrong before.
 */
import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { pause, timeoutSignal } from '../../../lib/process/abortable.ts';
import { IpledgerError } from '../../../lib/errors.ts';
import type { Logger } from '../../../lib/process/log.ts';
import { TurnBudget } from '../../../lib/process/turn-budget.ts';
import type { Head } from '../../log/chain/chain.ts';
import type { Follower } from '../../log/reader/follower.ts';
import { logKey } from '../../log/store/keys.ts';
import type { KeyPage, KeyRange, StoredKey } from '../../log/store/ledger.ts';
import { readKey } from '../../log/store/read-key.ts';
import type { Replica } from '../../log/reader/replica.ts';
import { faultOf } from './event-verifier.ts';
import type { Finding } from './finding.ts';
import { rangesBesideLog, KeyVerifier } from './key-verifier.ts';
import { type VerificationResult, verifyLedger } from './verify-ledger.ts';

const betweenPagesMs = 5_000;
const readTimeoutMs = 10_000;
const promotionCheckMs = 200;
/** A limit, because more findings give no new information. */
const maxFindings = 100;

const changedLedger = 'another program changed the ledger. Run: ipledger verify';

/** Thrown when the findings are gone. The replica must load the ledger again. */
class RepairedLedger extends IpledgerError {
  constructor() {
    super(
      'LEDGER_DAMAGED',
      'the findings of the ledger are repaired: this allocator ends, to load it again at its next start',
    );
  }
}

export interface BackgroundVerifierOptions {
  readonly replica: Replica;
  /** Returns undefined on the writer, whose state is ahead of the committed events. */
  readonly follower: () => Follower | undefined;
  readonly log: Logger;
  /** Verifies the existing ledger. Default: completely, in this thread. */
  readonly verifyLog?: (ledger: string, signal: AbortSignal) => Promise<VerificationResult>;
  /** Called with a head after everything up to it was verified without a finding. */
  readonly onVerified?: (head: Head, signal: AbortSignal) => Promise<void>;
  /** Set by specs only. */
  readonly betweenPagesMs?: number;
}

export class BackgroundVerifier {
  readonly #options: BackgroundVerifierOptions;
  /** The findings since the start, by key. */
  readonly #findings = new Map<string, Finding>();
  /** When the last round of all keys ended, after a verification of the complete log. */
  #verifiedAt: number | undefined;
  /** The findings of the existing ledger. The loaded state may have the same faults. */
  #findingsAtStart: readonly Finding[] = [];
  /**
   * The follower for whose time as a standby the existing ledger was verified. While this replica
   * was the writer, it did not verify events.
   */
  #verifiedFor: Follower | undefined;
  #isLogVerified = false;
  /** The values of the keys in `#findingsAtStart`, when they were found. */
  #valuesAtStart: readonly (string | undefined)[] = [];

  constructor(options: BackgroundVerifierOptions) {
    this.#options = options;
    const { replica } = options;
    replica.onEventRead = (past, event) => {
      const fault = faultOf(past, event);
      const { seq } = event.envelope;
      if (fault !== undefined) this.#report({ key: logKey(seq), what: `event ${seq} ${fault}` });
    };
  }

  /** The current findings. A finding since the start is removed when its key is correct again. */
  get findings(): readonly Finding[] {
    return [...this.#findingsAtStart, ...this.#findings.values()];
  }

  /**
   * The time (milliseconds since 1970) for which `findings` is complete. Undefined: nothing was
   * verified yet, or the log could not be verified.
   */
  get verifiedAt(): number | undefined {
    return this.#verifiedAt;
  }

  /**
   * Runs until the signal is aborted.
   * @throws RepairedLedger if an operator has repaired what this replica found at its start: it may
   * have loaded wrong keys.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { log } = this.#options;
    let loggedReason = '';
    while (!signal.aborted) {
      await this.#pause(signal);
      try {
        await this.#verifyOtherKeys(signal);
        loggedReason = '';
      } catch (error) {
        if (error instanceof RepairedLedger) throw error;
        const { code, message } = IpledgerError.from(error);
        if (signal.aborted) return;
        if (code === 'BUG') log.error({ err: error }, 'verifying the keys failed');
        // Logs each reason once, because the comparison is retried continuously.
        else if (message !== loggedReason) log.warn({ reason: message }, 'verifying the keys failed; retrying');
        loggedReason = message;
      }
    }
  }

  async #verifyOtherKeys(signal: AbortSignal): Promise<void> {
    const follower = this.#options.follower();
    if (!follower) return;
    if (this.#verifiedFor !== follower || (await this.#isRepairAttempted(signal)))
      await this.#verifyLog(follower, signal);
    if (this.#verifiedFor !== follower) return;
    const { replica } = this.#options;
    const audit = new KeyVerifier(replica.state, () => replica.head);
    for (const range of rangesBesideLog)
      for await (const keys of this.#pages(range, signal)) {
        for (const each of keys)
          if (audit.checkKey(each)) await this.#recheckKey(audit, each, signal);
          else this.#findings.delete(each.key);
        await setImmediate();
      }
    if (replica.head.seq === 0 || signal.aborted) return;
    const turn = new TurnBudget();
    for (const finding of audit.missing()) {
      if (finding) await this.#recheckKey(audit, { key: finding.key, text: undefined }, signal);
      if (turn.isSpent) await turn.nextTurn(signal);
    }
    if (!this.#isLogVerified || this.#options.follower() !== follower) return;
    this.#verifiedAt = Date.now();
    await this.#markVerified(replica.head, signal);
  }

  /** Saves the mark. If that fails, only the verification after the next start takes longer. */
  async #markVerified(head: Head, signal: AbortSignal): Promise<void> {
    if (this.findings.length > 0) return;
    try {
      await this.#options.onVerified?.(head, signal);
    } catch (error) {
      const { message: reason } = IpledgerError.from(error);
      if (!signal.aborted) this.#options.log.warn({ reason }, 'the mark of the verification could not be written');
    }
  }

  /**
   * Verifies the existing ledger. Ends without a result when the follower ends.
   * @throws RepairedLedger if the findings are gone
   */
  async #verifyLog(follower: Follower, signal: AbortSignal): Promise<void> {
    const { replica, log, verifyLog } = this.#options;
    const promoted = new AbortController();
    const watch = setInterval(() => {
      if (this.#options.follower() !== follower) promoted.abort();
    }, promotionCheckMs);
    const until = AbortSignal.any([signal, promoted.signal]);
    this.#verifiedFor = undefined;
    this.#isLogVerified = false;
    try {
      const { head, findings } = verifyLog
        ? await verifyLog(replica.head.ledger, until)
        : await verifyLedger(replica.ledger, { signal: until, yieldTurn: () => setImmediate() });
      for (const finding of findings) log.error(finding, changedLedger);
      this.#valuesAtStart = await this.#valuesOf(findings, until);
      const isRepaired = this.#findingsAtStart.length > 0 && findings.length === 0;
      this.#findingsAtStart = findings;
      if (isRepaired) throw new RepairedLedger();
      this.#isLogVerified = true;
      log.info({ seq: head.seq, findings: findings.length }, 'ledger verified');
      await this.#markVerified(head, until);
    } catch (error) {
      if (promoted.signal.aborted) return;
      const { code, message } = IpledgerError.from(error);
      if (code !== 'POSITION_GONE' && code !== 'NOT_IMPLEMENTED') throw error;
      log.warn({ reason: message }, 'the existing events cannot be verified: verifying new events and keys only');
    } finally {
      clearInterval(watch);
    }
    this.#verifiedFor = follower;
  }

  /** Whether the value of a key with a finding has changed since it was found. */
  async #isRepairAttempted(signal: AbortSignal): Promise<boolean> {
    const values = await this.#valuesOf(this.#findingsAtStart, signal);
    return !isDeepStrictEqual(values, this.#valuesAtStart);
  }

  async #valuesOf(findings: readonly Finding[], signal: AbortSignal): Promise<(string | undefined)[]> {
    const { ledger } = this.#options.replica;
    const values = [];
    for (const { key } of findings.slice(0, maxFindings)) values.push((await readKey(ledger, key, signal))?.text);
    return values;
  }

  /** Yields the keys in pages, each at its own revision, with pauses between them. */
  async *#pages({ from, end }: KeyRange, signal: AbortSignal): AsyncGenerator<readonly StoredKey[]> {
    for (let next: string | undefined = from; next !== undefined && !signal.aborted;) {
      const { keys }: KeyPage = await this.#page({ from: next, end }, signal);
      yield keys;
      const last = keys.at(-1);
      next = last && `${last.key}\0`;
      if (last) await this.#pause(signal);
    }
  }

  async #page(range: KeyRange, signal: AbortSignal): Promise<KeyPage> {
    for await (const page of this.#options.replica.ledger.keys(range, signal)) return page;
    throw new Error('a range has at least one page');
  }

  async #recheckKey(
    audit: KeyVerifier,
    { key, text }: { readonly key: string; readonly text: string | undefined },
    signal: AbortSignal,
  ): Promise<void> {
    const follower = this.#options.follower();
    // Skips the recheck, which costs two reads of etcd, once the findings are at their maximum.
    if (!follower || (this.#findings.size >= maxFindings && !this.#findings.has(key))) return;
    const deadline = { until: performance.now() + readTimeoutMs, signal: timeoutSignal(readTimeoutMs, signal) };
    const { answer } = await follower.readLinearizable(() => audit.findingFor(key, text), deadline);
    const found = await readKey(this.#options.replica.ledger, key, signal);
    if (found?.text !== text) return; // the key is changing: the next round checks it again
    if (answer) this.#report(answer);
    else this.#findings.delete(key);
  }

  #report(finding: Finding): void {
    if (this.#findings.get(finding.key)?.what === finding.what || this.#findings.size >= maxFindings) return;
    this.#findings.set(finding.key, finding);
    this.#options.log.error(finding, changedLedger);
  }

  #pause(signal: AbortSignal): Promise<void> {
    return pause(this.#options.betweenPagesMs ?? betweenPagesMs, signal);
  }
}

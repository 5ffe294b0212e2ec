/**
 * A standby on patrol. It follows the log anyway, so it judges each event as it comes; and it compares the other keys with the
 * state that it has, page by page, round and round. What was there before it started it verifies once, as `ipledger verify` does.
 *
 * A key and the state are not read at one instant. So a key that differs is read again after the state was brought up to the
 * present: one that stayed the same meanwhile was wrong all the time.
 */
import { setImmediate } from 'node:timers/promises';
import { pause, within } from '../../../lib/deadline.ts';
import { IpledgerError } from '../../../lib/errors.ts';
import type { Logger } from '../../../lib/log.ts';
import type { Follower } from '../ledger/follower.ts';
import { logKey } from '../ledger/keys.ts';
import type { KeyPage, KeyRange, StoredKey } from '../ledger/ledger.ts';
import type { Replica } from '../ledger/replica.ts';
import { faultOf } from './event.ts';
import type { Finding } from './finding.ts';
import { besideLog, KeyAudit } from './keys.ts';
import { verifyKeys } from './verify.ts';

const betweenPagesMs = 5_000;
const patienceMs = 10_000;
/** Beyond so many, one more alarm tells nobody anything. */
const mostFindings = 100;

const notAsWritten = 'the ledger is not as it was written: ipledger verify says more';

export interface PatrolOptions {
  readonly replica: Replica;
  /** While we stand by: the writer's state is ahead of what is committed. */
  readonly follower: () => Follower | undefined;
  readonly log: Logger;
  /** For specs. */
  readonly betweenPagesMs?: number;
}

export class Patrol {
  readonly #options: PatrolOptions;
  /** By key: what was noticed since the start, judged by the state that we started with. */
  readonly #findings = new Map<string, Finding>();
  /** What was wrong before the start, and so may be in that state itself; undefined until it was looked for. */
  #before: readonly Finding[] | undefined;

  constructor(options: PatrolOptions) {
    this.#options = options;
    const { replica } = options;
    replica.onRead = (past, event) => {
      const fault = faultOf(past, event);
      const { seq } = event.envelope;
      if (fault !== undefined) this.#alarm({ key: logKey(seq), what: `event ${seq} ${fault}` });
    };
  }

  /** What is wrong, as far as it was noticed. A key that was right at the start, and is right again, is not among it any more. */
  get findings(): readonly Finding[] {
    return [...(this.#before ?? []), ...this.#findings.values()];
  }

  /** Goes on until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { log } = this.#options;
    let told = '';
    while (!signal.aborted) {
      await this.#pause(signal);
      try {
        await this.#round(signal);
        told = '';
      } catch (error) {
        const { code, message } = IpledgerError.from(error);
        if (signal.aborted) return;
        if (code === 'BUG') log.error({ err: error }, 'the keys could not be verified');
        // Said once: it is tried again all the time.
        else if (message !== told) log.warn({ reason: message }, 'the keys cannot be verified now');
        told = message;
      }
    }
  }

  async #round(signal: AbortSignal): Promise<void> {
    if (!this.#options.follower()) return;
    this.#before ??= await this.#verify(signal);
    const { replica } = this.#options;
    const audit = new KeyAudit(replica.state, () => replica.head);
    for (const range of besideLog)
      for await (const keys of this.#pages(range, signal)) {
        for (const each of keys)
          if (audit.look(each)) await this.#lookAgain(audit, each, signal);
          else this.#findings.delete(each.key);
        await setImmediate();
      }
    if (replica.head.seq === 0 || signal.aborted) return;
    for (const { key } of audit.missing()) await this.#lookAgain(audit, { key, text: undefined }, signal);
  }

  async #verify(signal: AbortSignal): Promise<readonly Finding[]> {
    const { replica, log } = this.#options;
    const breathe = (): Promise<void> => setImmediate();
    try {
      const { head, findings } = await verifyKeys(replica.ledger, { signal, breathe });
      for (const finding of findings) log.error(finding, notAsWritten);
      log.info({ seq: head.seq, findings: findings.length }, 'the ledger is verified');
      return findings;
    } catch (error) {
      const { code, message } = IpledgerError.from(error);
      if (code !== 'POSITION_GONE' && code !== 'NOT_IMPLEMENTED') throw error;
      log.warn({ reason: message }, 'only what happens from now on is verified');
      return [];
    }
  }

  /** A page at a time, with pauses between them; each as it stands when it is read. */
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

  async #lookAgain(
    audit: KeyAudit,
    { key, text }: { readonly key: string; readonly text: string | undefined },
    signal: AbortSignal,
  ): Promise<void> {
    const follower = this.#options.follower();
    // It costs two reads: where so much is wrong already, etcd is spared them.
    if (!follower || (this.#findings.size >= mostFindings && !this.#findings.has(key))) return;
    const patience = { until: performance.now() + patienceMs, signal: within(patienceMs, signal) };
    const { answer } = await follower.ask(() => audit.wrong(key, text), patience);
    const { keys } = await this.#page({ from: key, end: `${key}\0` }, signal);
    if (keys[0]?.text !== text) return; // it is changing just now: the next round looks again
    if (answer) this.#alarm(answer);
    else this.#findings.delete(key);
  }

  #alarm(finding: Finding): void {
    if (this.#findings.get(finding.key)?.what === finding.what || this.#findings.size >= mostFindings) return;
    this.#findings.set(finding.key, finding);
    this.#options.log.error(finding, notAsWritten);
  }

  #pause(signal: AbortSignal): Promise<void> {
    return pause(this.#options.betweenPagesMs ?? betweenPagesMs, signal);
  }
}

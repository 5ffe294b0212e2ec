/** Verifies the log line by line, and folds it. Verification ends at the first wrong line. */
import type { Seq } from '../../domain/values/ledger.ts';
import { permanent } from '../../domain/state/undo-log.ts';
import { evolve } from '../../domain/events/registry.ts';
import { initialRecord, type State } from '../../domain/state/state.ts';
import { errorMessage, IpledgerError } from '../../../lib/errors.ts';
import {
  emptyHead,
  type Envelope,
  advanceHead,
  type Head,
  hashOfLine,
  NewerEventError,
  parseHashedEvent,
  type StoredEvent,
  withReadableData,
} from '../../log/chain/chain.ts';
import type { StateAtHead } from '../../log/reader/fold.ts';
import { logKey, seqOfKey } from '../../log/store/keys.ts';
import type { StoredKey } from '../../log/store/ledger.ts';
import { faultOf } from './event-verifier.ts';
import type { Finding } from './finding.ts';

export class LogVerifier {
  readonly state: State;
  /** The head at which verification began, if older events were dropped. */
  readonly historyStart: Head | undefined;
  #head: Head;
  #unfinished: Envelope | undefined;
  #last: StoredEvent | undefined;
  /**
   * An event after the head that only a newer program can read. The `prev` hash of the next event
   * shows whether the event was changed.
   */
  #newer: NewerEventError | undefined;

  /** @param start the state to begin with, which is changed. Default: before the first event */
  constructor(start: StateAtHead = { state: initialRecord(), head: emptyHead }, historyStart?: Head) {
    this.state = start.state;
    this.#head = start.head;
    this.historyStart = historyStart;
  }

  /** The head after the last correct event. */
  get head(): Head {
    return this.#head;
  }

  get last(): StoredEvent | undefined {
    return this.#last;
  }

  /** The key of the next event. */
  get nextKey(): string {
    return logKey(this.#nextSeq);
  }

  /**
   * The key of a line of an export. A line that is not an event gets the next key, under which it
   * is reported.
   * @throws IpledgerError INVALID_REQUEST if the first line is not an event: the file is not an
   * export.
   */
  keyOf(line: string): string {
    const seq = Number(/"seq":(\d{1,16}),/.exec(line)?.[1]);
    if (Number.isSafeInteger(seq)) return logKey(seq);
    if (this.#head.seq > 0) return this.nextKey;
    throw new IpledgerError('INVALID_REQUEST', `this file is not an export of the log: ${line.slice(0, 120)}`);
  }

  /**
   * Checks the next line and its key.
   * @param hash SHA-256 of the line, if it is known.
   * @throws IpledgerError NOT_IMPLEMENTED after an event that only a newer program can read, if the
   * hash chain is correct.
   */
  checkLine({ key, text, hash = hashOfLine(text) }: StoredKey): Finding | undefined {
    if (key !== this.nextKey) return this.#gap(key);
    if (this.#newer) return this.#checkNewer(this.#newer, prevOf(text));
    try {
      const event = parseHashedEvent(text, hash);
      return withReadableData(event.envelope, () => {
        const fault = faultOf({ head: this.#head, state: this.state, openCommand: this.#unfinished }, event);
        if (fault !== undefined) return { key, what: `event ${this.#head.seq + 1} ${fault}` };
        this.#apply(event);
        return undefined;
      });
    } catch (error) {
      if (error instanceof NewerEventError && error.prev === this.#head.hash) {
        this.#newer = error;
        return undefined;
      }
      return { key, what: errorMessage(error) };
    }
  }

  /**
   * Checks the end of the log.
   * @param hash the hash of the last event, from the head.
   * @throws as `checkLine`.
   */
  checkEnd(hash?: string): Finding | undefined {
    if (this.#newer) return this.#checkNewer(this.#newer, hash ?? this.#newer.hash);
    if (!this.#unfinished) return undefined;
    const { cmd, part } = this.#unfinished;
    const key = logKey(this.#head.seq + 1);
    return { key, what: `the log ends inside command ${cmd}: it has only ${part[0]} of its ${part[1]} events` };
  }

  /**
   * An edited event can claim any version, but the next event still has the hash of the original.
   */
  #checkNewer({ message, hash }: NewerEventError, nextPrev: string | undefined): Finding {
    const { seq } = this.#head;
    if (nextPrev === hash)
      throw new IpledgerError('NOT_IMPLEMENTED', `${message}, and verify again. The log is correct up to event ${seq}`);
    return {
      key: logKey(seq + 1),
      what: `${message}. But it was edited: the next event has the hash ${nextPrev}, not ${hash}`,
    };
  }

  #apply(event: StoredEvent): void {
    const head = advanceHead(this.#head, event);
    evolve(this.state, event.sequenced, permanent);
    const [part, parts] = event.envelope.part;
    this.#head = head;
    this.#last = event;
    this.#unfinished = part < parts ? event.envelope : undefined;
  }

  #gap(key: string): Finding {
    const seq = this.#nextSeq;
    const found = seqOfKey(key);
    if (found !== undefined && found > seq)
      return { key: this.nextKey, what: `event ${seq} is missing: the next event is ${found}` };
    return { key, what: `it is not a log key: the next event is ${seq}` };
  }

  get #nextSeq(): Seq {
    return this.#head.seq + (this.#newer ? 2 : 1);
  }
}

function prevOf(line: string): string | undefined {
  try {
    return (JSON.parse(line) as Partial<Envelope> | null)?.prev;
  } catch {
    return undefined;
  }
}

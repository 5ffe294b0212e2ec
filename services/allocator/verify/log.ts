/** The log under audit, line by line: it is folded as it is read, and the first line that is not as it should be ends it. */
import type { Seq } from '../domain/event.ts';
import { Journal } from '../domain/journal.ts';
import { evolve } from '../domain/evolve.ts';
import { initialState, type State } from '../domain/state.ts';
import { IpledgerError } from '../../../lib/errors.ts';
import {
  emptyHead,
  type Envelope,
  follow,
  type Head,
  NewerEvent,
  parseEvent,
  type StoredEvent,
} from '../ledger/chain.ts';
import { logKey, seqOfKey } from '../ledger/keys.ts';
import { faultOf } from './event.ts';
import type { Finding } from './finding.ts';

export class LogAudit {
  readonly state: State = initialState();
  #head: Head = emptyHead;
  #unfinished: Envelope | undefined;
  #last: StoredEvent | undefined;
  /** An event behind the head that only a newer program can read: the next one's `prev` tells whether it is as it was written. */
  #newer: NewerEvent | undefined;

  /** Behind the last event that is as it should be. */
  get head(): Head {
    return this.#head;
  }

  /** The last event that was as it should be. */
  get last(): StoredEvent | undefined {
    return this.#last;
  }

  /** The key under which the log goes on. */
  get nextKey(): string {
    return logKey(this.#nextSeq);
  }

  /**
   * The key that a line of an export would stand under; of one that is no event the next, so that it is found there.
   * @throws IpledgerError INVALID_REQUEST when it is the first: then the file is something else.
   */
  keyOf(line: string): string {
    const seq = Number(/"seq":(\d{1,16}),/.exec(line)?.[1]);
    if (Number.isSafeInteger(seq)) return logKey(seq);
    if (this.#head.seq > 0) return this.nextKey;
    throw new IpledgerError('INVALID_REQUEST', `this is no line of an export: ${line.slice(0, 120)}`);
  }

  /**
   * Takes the next line, with the key that it stands under.
   * @throws IpledgerError NOT_IMPLEMENTED behind an event that only a newer program reads, where it is chained as it should be.
   */
  next(key: string, text: string): Finding | undefined {
    if (key !== this.nextKey) return this.#gap(key);
    if (this.#newer) return this.#judgeNewer(this.#newer, prevOf(text));
    try {
      const event = parseEvent(text);
      const fault = faultOf({ head: this.#head, state: this.state, unfinished: this.#unfinished }, event);
      if (fault !== undefined) return { key, what: `event ${this.#head.seq + 1} ${fault}` };
      this.#take(event);
      return undefined;
    } catch (error) {
      if (error instanceof NewerEvent && error.prev === this.#head.hash) {
        this.#newer = error;
        return undefined;
      }
      return { key, what: error instanceof Error ? error.message : String(error) };
    }
  }

  /**
   * What is amiss where the log ends.
   * @param hash of the last event, by the ledger's head.
   * @throws as `next`.
   */
  end(hash?: string): Finding | undefined {
    if (this.#newer) return this.#judgeNewer(this.#newer, hash ?? this.#newer.hash);
    if (!this.#unfinished) return undefined;
    const { cmd, part } = this.#unfinished;
    const key = logKey(this.#head.seq + 1);
    return { key, what: `the log ends within command ${cmd}: only ${part[0]} of its ${part[1]} events are there` };
  }

  /** Somebody who edits an event may write any version into it; but the next event still names the hash of the original. */
  #judgeNewer({ message, hash }: NewerEvent, named: string | undefined): Finding {
    const { seq } = this.#head;
    if (named === hash)
      throw new IpledgerError('NOT_IMPLEMENTED', `${message}, and verify again. Up to ${seq} all is well`);
    return {
      key: logKey(seq + 1),
      what: `${message}; but it was edited: what comes behind names ${named}, and not ${hash}`,
    };
  }

  #take(event: StoredEvent): void {
    const head = follow(this.#head, event);
    evolve(this.state, event.sequenced, new Journal());
    const [part, parts] = event.envelope.part;
    this.#head = head;
    this.#last = event;
    this.#unfinished = part < parts ? event.envelope : undefined;
  }

  #gap(key: string): Finding {
    const seq = this.#nextSeq;
    const found = seqOfKey(key);
    if (found !== undefined && found > seq)
      return { key: this.nextKey, what: `event ${seq} is missing: the next one there is ${found}` };
    return { key, what: `it is no key of the log, of which event ${seq} comes next` };
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

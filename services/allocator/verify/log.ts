/** The log under audit, line by line: it is folded as it is read, and the first line that is not as it should be ends it. */
import { Journal } from '../domain/journal.ts';
import { evolve, initialState, type State } from '../domain/state.ts';
import { IpledgerError } from '../../../lib/errors.ts';
import { emptyHead, type Envelope, follow, type Head, parseEvent, type StoredEvent } from '../ledger/chain.ts';
import { logKey, seqOfKey } from '../ledger/keys.ts';
import { faultOf } from './event.ts';
import type { Finding } from './finding.ts';

export class LogAudit {
  readonly state: State;
  #head: Head;
  #unfinished: Envelope | undefined;
  #last: StoredEvent | undefined;

  /** Begins at the first event, or behind those that a state and a head hold already. */
  constructor(state: State = initialState(), head: Head = emptyHead) {
    this.state = state;
    this.#head = head;
  }

  /** Behind the last event that is as it should be. */
  get head(): Head {
    return this.#head;
  }

  /** The last event that was as it should be. */
  get last(): StoredEvent | undefined {
    return this.#last;
  }

  /** Takes the next line, with the key that it stands under. */
  next(key: string, text: string): Finding | undefined {
    const expected = logKey(this.#head.seq + 1);
    if (key !== expected) return this.#gap(key, expected);
    try {
      const event = parseEvent(text);
      const fault = faultOf({ head: this.#head, state: this.state, unfinished: this.#unfinished }, event);
      if (fault !== undefined) return { key, what: `event ${this.#head.seq + 1} ${fault}` };
      this.#take(event);
      return undefined;
    } catch (error) {
      return { key, what: error instanceof Error ? error.message : String(error) };
    }
  }

  /** What is amiss where the log ends. */
  end(): Finding | undefined {
    if (!this.#unfinished) return undefined;
    const { cmd, part } = this.#unfinished;
    const key = logKey(this.#head.seq + 1);
    return { key, what: `the log ends within command ${cmd}: only ${part[0]} of its ${part[1]} events are there` };
  }

  #take(event: StoredEvent): void {
    const head = follow(this.#head, event);
    evolve(this.state, event.sequenced, new Journal());
    const [part, parts] = event.envelope.part;
    this.#head = head;
    this.#last = event;
    this.#unfinished = part < parts ? event.envelope : undefined;
  }

  #gap(key: string, expected: string): Finding {
    const seq = this.#head.seq + 1;
    const found = seqOfKey(key);
    if (found !== undefined && found > seq)
      return { key: expected, what: `event ${seq} is missing: the next one there is ${found}` };
    return { key, what: `it is no key of the log, of which event ${seq} comes next` };
  }
}

/** A line's number, for what has no keys. @throws IpledgerError INVALID_REQUEST for what is no event at all. */
export function keyOfLine(text: string): string {
  const seq = Number(/"seq":(\d{1,16}),/.exec(text)?.[1]);
  if (!Number.isSafeInteger(seq))
    throw new IpledgerError('INVALID_REQUEST', `this is no line of an export: ${text.slice(0, 120)}`);
  return logKey(seq);
}

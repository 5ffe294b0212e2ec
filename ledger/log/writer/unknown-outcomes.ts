/**
 * Appends of unknown outcome. All of them follow the same head, so all have the same event number: at most one of them happens.
 * Once the log has an event with that number, no other append can happen.
 */
import type { Seq } from '../../domain/events/event.ts';
import type { DecidedRequest, QueuedRequest } from './pending-request.ts';
import type { StoredEvent } from '../chain/chain.ts';

interface Append {
  readonly seq: Seq;
  /** The id of its first event, which identifies the append in the log. */
  readonly id: string;
  readonly decided: readonly DecidedRequest[];
}

export class UnknownOutcomes {
  #appends: Append[] = [];

  /** Adds an append that begins with this event. */
  add({ envelope: { seq, id } }: StoredEvent, decided: readonly DecidedRequest[]): void {
    this.#appends.push({ seq, id, decided });
  }

  get count(): number {
    return this.#appends.length;
  }

  /** Whether an append with events of this request may still happen. */
  mayStillWrite(queued: QueuedRequest): boolean {
    return this.#appends.some(({ decided }) => decided.some((each) => each.writes && each.queued === queued));
  }

  /** Returns the requests of the append that happened, judged by the event in the log. Does nothing while the log has none. */
  resolve(eventAt: (seq: Seq) => StoredEvent | undefined): readonly DecidedRequest[] {
    const [first] = this.#appends;
    const idInLog = first && eventAt(first.seq)?.envelope.id;
    if (idInLog === undefined) return [];
    const happened = this.#appends.find(({ id }) => id === idInLog);
    this.#appends = [];
    return happened?.decided ?? [];
  }

  /** Drops all: another append has succeeded in their place. */
  clear(): void {
    this.#appends = [];
  }
}

/**
 * Appends of unknown outcome. All of them were made behind the same head, for the same place in the log: at most one of them
 * happens, and once the log has an event in that place, it is known that no other one ever will.
 */
import type { Seq } from '../domain/event.ts';
import type { Decided, Queued } from './ask.ts';
import type { StoredEvent } from './chain.ts';

interface Append {
  readonly seq: Seq;
  /** Of its first event, by which it is known again. */
  readonly id: string;
  readonly decided: readonly Decided[];
}

export class Unsettled {
  #appends: Append[] = [];

  /** An append that begins with this event may have happened, or happen yet. */
  add({ envelope: { seq, id } }: StoredEvent, decided: readonly Decided[]): void {
    this.#appends.push({ seq, id, decided });
  }

  /** How many there are. */
  get count(): number {
    return this.#appends.length;
  }

  /** Whether something may still be written for a request: until that is known, nobody can say that nothing is. */
  mayWrite(queued: Queued): boolean {
    return this.#appends.some(({ decided }) => decided.some((each) => each.writes && each.queued === queued));
  }

  /** What happened, by the event that the log has in their place; undefined while it has none. Forgets them otherwise. */
  settle(eventAt: (seq: Seq) => StoredEvent | undefined): readonly Decided[] {
    const [first] = this.#appends;
    const there = first && eventAt(first.seq)?.envelope.id;
    if (there === undefined) return [];
    const happened = this.#appends.find(({ id }) => id === there);
    this.#appends = [];
    return happened?.decided ?? [];
  }

  /** Another append has taken their place. */
  forget(): void {
    this.#appends = [];
  }
}

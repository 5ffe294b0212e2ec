/**
 * Appends whose outcome is unknown. All of them follow the same head, so they have the same event
 * number, and at most one of them happens. Once the log has an event with that number, none of the
 * others can happen. An append that etcd refused cannot happen after the refusal, so the next read
 * of the log shows its outcome. Review notes: docs/invariants.md, "An unknown outcome stays
 * unknown".
 */
import type { Seq } from '../../domain/values/ledger.ts';
import type { DecidedRequest, QueuedRequest } from '../pending-request.ts';
import type { StoredEvent } from '../chain/chain.ts';

interface Append {
  readonly seq: Seq;
  /** The id of the append's first event, by which the log shows that the append happened. */
  readonly id: string;
  readonly decided: readonly DecidedRequest[];
  readonly isRefused: boolean;
}

export class UnknownOutcomes {
  #appends: Append[] = [];

  /** Adds an append that begins with this event. */
  add({ envelope: { seq, id } }: StoredEvent, decided: readonly DecidedRequest[], isRefused: boolean): void {
    this.#appends.push({ seq, id, decided, isRefused });
  }

  get count(): number {
    return this.#appends.length;
  }

  /** Whether an append with events of this request may still happen. */
  mayStillWrite(queued: QueuedRequest): boolean {
    return this.#appends.some(({ decided }) => decided.some((each) => each.writes && each.queued === queued));
  }

  /**
   * Returns the requests of the append that happened, according to the event in the log. If the log
   * has no such event, removes the appends that etcd refused. Call it after a read of the log that
   * began after the last append.
   */
  resolve(eventAt: (seq: Seq) => StoredEvent | undefined): readonly DecidedRequest[] {
    const [first] = this.#appends;
    const idInLog = first && eventAt(first.seq)?.envelope.id;
    const happened = this.#appends.find(({ id }) => id === idInLog);
    this.#appends = idInLog === undefined ? this.#appends.filter(({ isRefused }) => !isRefused) : [];
    return happened?.decided ?? [];
  }

  /** Removes all appends, because another append has succeeded with their event number. */
  clear(): void {
    this.#appends = [];
  }
}

/**
 * Appends of unknown outcome. All of them follow the same head, so all have the same event number:
 * at most one of them happens. Once the log has an event with that number, no other append can
 * happen. An append that etcd refused does not happen after the refusal, so the next read of the
 * log shows its outcome. Review notes: docs/invariants.md, "An unknown outcome stays unknown".
 */
import type { Seq } from '../../domain/values/ledger.ts';
import type { DecidedRequest, QueuedRequest } from '../pending-request.ts';
import type { StoredEvent } from '../chain/chain.ts';

interface Append {
  readonly seq: Seq;
  /** The id of its first event, which identifies the append in the log. */
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
   * Returns the requests of the append that happened, judged by the event in the log. While the log
   * has none, drops the appends that etcd refused. The log was read after the last append.
   */
  resolve(eventAt: (seq: Seq) => StoredEvent | undefined): readonly DecidedRequest[] {
    const [first] = this.#appends;
    const idInLog = first && eventAt(first.seq)?.envelope.id;
    const happened = this.#appends.find(({ id }) => id === idInLog);
    this.#appends = idInLog === undefined ? this.#appends.filter(({ isRefused }) => !isRefused) : [];
    return happened?.decided ?? [];
  }

  /** Drops all: another append has succeeded in their place. */
  clear(): void {
    this.#appends = [];
  }
}

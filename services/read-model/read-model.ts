/** The read model: its event store, and whether that store has caught up with the ledger. */
import { EventEmitter, once } from 'node:events';
import { IpledgerError } from '../../lib/errors.ts';
import type { Event, Position } from '../../proto/generated/ipledger.ts';
import { removeDatabase } from './store/database-file.ts';
import { EventStore } from './store/event-store.ts';
import type { StartState } from './store/start-state.ts';

export class ReadModel {
  readonly #file: string;
  readonly #advanced = new EventEmitter().setMaxListeners(0);
  #store: EventStore;
  /** The ledger's head at the start. Queries are rejected until the store reaches it. */
  #catchUpSeq: number | undefined;
  #damage: string | undefined;

  constructor(file: string) {
    this.#file = file;
    this.#store = new EventStore(file);
  }

  get position(): Position {
    return this.#store.position;
  }

  /** A fault that verification found; undefined for none. The follower then rebuilds the file. */
  get damage(): string | undefined {
    return this.#damage;
  }

  /** Why queries are rejected; undefined if they are answered. */
  get notReadyReason(): string | undefined {
    if (this.#damage !== undefined) return 'the read model is rebuilding its file, which was damaged or replaced';
    if (this.#catchUpSeq === undefined) return 'the read model has no connection to the ledger yet';
    const { seq } = this.position;
    return seq < this.#catchUpSeq ? `the read model has read ${seq} of ${this.#catchUpSeq} events so far` : undefined;
  }

  /** The store, for queries. @throws IpledgerError UNAVAILABLE until the store has caught up. */
  get store(): EventStore {
    if (this.notReadyReason !== undefined)
      throw new IpledgerError('UNAVAILABLE', `${this.notReadyReason}: call an allocator, or try again later`);
    return this.#store;
  }

  recordLedgerHead(seq: number): void {
    this.#catchUpSeq ??= seq;
    this.#advanced.emit('advanced');
  }

  /** Begins an empty store with the state before its first event. */
  beginWith(state: StartState): void {
    this.#store.beginWith(state);
  }

  append(events: readonly Event[], position: Position): void {
    this.#store.append(events, position);
    this.#advanced.emit('advanced');
  }

  /** Whether a store is the current one: a rebuild replaces it. */
  isCurrent(store: EventStore): boolean {
    return store === this.#store;
  }

  /** Resolves when queries are answered. @throws AbortError if the signal is aborted */
  async caughtUp(signal: AbortSignal): Promise<void> {
    while (this.notReadyReason !== undefined) await once(this.#advanced, 'advanced', { signal });
  }

  /** Rejects queries until the file is rebuilt. */
  reportDamage(what: string): void {
    this.#damage = what;
  }

  /** Resolves when the store contains an event. @throws AbortError if the signal is aborted */
  async waitForSeq(seq: number, signal: AbortSignal): Promise<void> {
    while (this.position.seq < seq) await once(this.#advanced, 'advanced', { signal });
  }

  /** Deletes the file, so that the log is read again from its first event. */
  reset(): void {
    this.#store.close();
    removeDatabase(this.#file);
    this.#store = new EventStore(this.#file);
    this.#catchUpSeq = undefined;
    this.#damage = undefined;
  }

  close(): void {
    this.#store.close();
  }
}

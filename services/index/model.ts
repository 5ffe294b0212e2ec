/** The read model as others see it: its store, how far that is, and whether what it says can be relied upon yet. */
import { EventEmitter, once } from 'node:events';
import { IpledgerError } from '../../lib/errors.ts';
import type { Event, Position } from '../../proto/ipledger.ts';
import { remove } from './store/file.ts';
import { Store } from './store/store.ts';

export class Model {
  readonly #file: string;
  readonly #advanced = new EventEmitter().setMaxListeners(0);
  #store: Store;
  /** Where the ledger was when it was heard of first; until that is known and reached, questions have to wait. */
  #goal: number | undefined;

  constructor(file: string) {
    this.#file = file;
    this.#store = new Store(file);
  }

  get position(): Position {
    return this.#store.position;
  }

  /** Why it cannot answer yet; undefined when it can. */
  get objection(): string | undefined {
    if (this.#goal === undefined) return 'the read model has not heard of the ledger yet';
    const { seq } = this.position;
    return seq < this.#goal ? `the read model knows ${seq} of ${this.#goal} events so far` : undefined;
  }

  /** For questions. @throws IpledgerError UNAVAILABLE until it knows as much as there was when it started. */
  get store(): Store {
    if (this.objection !== undefined)
      throw new IpledgerError('UNAVAILABLE', `${this.objection}: ask an allocator, or later`);
    return this.#store;
  }

  /** The ledger has come this far. */
  hear(seq: number): void {
    this.#goal ??= seq;
  }

  append(events: readonly Event[], position: Position): void {
    this.#store.append(events, position);
    this.#advanced.emit('advanced');
  }

  /** Resolves when it knows an event. @throws AbortError with the signal. */
  async reached(seq: number, signal: AbortSignal): Promise<void> {
    while (this.position.seq < seq) await once(this.#advanced, 'advanced', { signal });
  }

  /** Forgets everything: the log is read from its first event again. */
  forget(): void {
    this.#store.close();
    remove(this.#file);
    this.#store = new Store(this.#file);
    this.#goal = undefined;
  }

  close(): void {
    this.#store.close();
  }
}

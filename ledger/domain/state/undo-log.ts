/**
 * The undo log: how to undo changes of the state, and which claims changed.
 *
 * The state is changed in place. If a command is refused, or the append of its batch fails, the
 * changes since a savepoint are undone in reverse order. Review notes: docs/invariants.md, "Changes
 * are undone in reverse order".
 */

import { claimKey, type ClaimName } from './claim.ts';

/** Undoes one change. Changes must be undone in reverse order. */
export type Undo = () => void;

/** A position in the undo log to roll back to. */
export interface Savepoint {
  readonly undos: number;
  readonly touched: number;
}

interface ChangeableMap<Key, Value> {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): unknown;
  delete(key: Key): boolean;
}

export class UndoLog {
  readonly #undos: Undo[] = [];
  /** The changed claims in order, so that a savepoint is a length. */
  readonly #touched = new Map<string, ClaimName>();

  /** Records how to undo a change; undefined if nothing changed. */
  record(undo: Undo | undefined): void {
    if (undo) this.#undos.push(undo);
  }

  /** Records that a claim changed, so that its key in etcd is written. */
  touch(claim: ClaimName): void {
    const key = claimKey(claim);
    if (!this.#touched.has(key)) this.#touched.set(key, claim);
  }

  setKey<Key, Value extends NonNullable<unknown>>(map: ChangeableMap<Key, Value>, key: Key, value: Value): void {
    const previous = map.get(key);
    map.set(key, value);
    this.record(() => {
      if (previous === undefined) map.delete(key);
      else map.set(key, previous);
    });
  }

  /** Deletes a key of a map if it exists. An undo may change the key's place in the order. */
  deleteKey<Key, Value>(map: ChangeableMap<Key, Value>, key: Key): void {
    const previous = map.get(key);
    if (map.delete(key)) this.record(() => void map.set(key, previous as Value));
  }

  /** The claims that changed, without duplicates. */
  get touched(): readonly ClaimName[] {
    return [...this.#touched.values()];
  }

  get touchedCount(): number {
    return this.#touched.size;
  }

  savepoint(): Savepoint {
    return { undos: this.#undos.length, touched: this.#touched.size };
  }

  /** Undoes all changes since the savepoint. */
  rollBack(to: Savepoint = { undos: 0, touched: 0 }): void {
    for (const undo of this.#undos.splice(to.undos).reverse()) undo();
    for (const key of [...this.#touched.keys()].slice(to.touched)) this.#touched.delete(key);
  }
}

/** Records nothing, for changes that are never undone, such as a fold of the log. */
class PermanentChanges extends UndoLog {
  override record(): void {}

  override touch(): void {}

  override setKey<Key, Value extends NonNullable<unknown>>(
    map: ChangeableMap<Key, Value>,
    key: Key,
    value: Value,
  ): void {
    map.set(key, value);
  }

  override deleteKey<Key, Value>(map: ChangeableMap<Key, Value>, key: Key): void {
    map.delete(key);
  }
}

export const permanent: UndoLog = new PermanentChanges();

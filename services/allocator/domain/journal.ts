/**
 * What makes one state, evolved in place, safe to decide against: every change leaves its undo here, and every claim that
 * changed its name. Undone in reverse order, to a savepoint: of the command (all or nothing) or of the batch (its append failed).
 */

/** Takes one change back. Only right in reverse order of the changes. */
export type Undo = () => void;

/** Names a claim: the address (canonical text) in its subnet. */
export interface ClaimName {
  readonly subnet: string;
  readonly address: string;
}

/** The name as one text: the key of a claim in maps and sets. */
export const claimKey = ({ subnet, address }: ClaimName): string => `${subnet}/${address}`;

/** A place in the journal to return to. */
export interface Savepoint {
  readonly undos: number;
  readonly touched: number;
}

export class Journal {
  readonly #undos: Undo[] = [];
  /** In order of first touch, so that a savepoint is a length. */
  readonly #touched = new Map<string, ClaimName>();

  /** Remembers how to take a change back; undefined when nothing changed. */
  record(undo: Undo | undefined): void {
    if (undo) this.#undos.push(undo);
  }

  /** Remembers that a claim changed, so that its key is written. */
  touch(claim: ClaimName): void {
    const key = claimKey(claim);
    if (!this.#touched.has(key)) this.#touched.set(key, claim);
  }

  /** The claims that changed since the journal began, each once. */
  get touched(): readonly ClaimName[] {
    return [...this.#touched.values()];
  }

  get touchedCount(): number {
    return this.#touched.size;
  }

  savepoint(): Savepoint {
    return { undos: this.#undos.length, touched: this.#touched.size };
  }

  /** Takes back all changes since the savepoint; without one, all. */
  rollBack(to: Savepoint = { undos: 0, touched: 0 }): void {
    for (const undo of this.#undos.splice(to.undos).reverse()) undo();
    for (const key of [...this.#touched.keys()].slice(to.touched)) this.#touched.delete(key);
  }
}

/** Sets a key of a map and gives the undo. */
export function setKey<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): Undo {
  const had = map.has(key);
  const previous = map.get(key) as Value;
  map.set(key, value);
  return () => {
    if (had) map.set(key, previous);
    else map.delete(key);
  };
}

/** Deletes a key of a map and gives the undo; undefined when it was not there. The key may come back at another place in the map's order. */
export function deleteKey<Key, Value>(map: Map<Key, Value>, key: Key): Undo | undefined {
  if (!map.has(key)) return undefined;
  const previous = map.get(key) as Value;
  map.delete(key);
  return () => void map.set(key, previous);
}

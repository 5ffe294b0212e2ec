/**
 * The keys of the model of etcd, with all their versions since the last compaction. Keys are texts
 * of one character a byte, so that they are in the order of their bytes.
 */
export interface StoredKey {
  readonly key: string;
  readonly value: Buffer;
  readonly created: number;
  readonly modified: number;
  readonly version: number;
  /** '0' without a lease. */
  readonly lease: string;
}

/** A version of a key; without a value it was deleted. */
type Version = { readonly modified: number; readonly stored: StoredKey | undefined };

/** A change of one key in a commit. */
export interface Change {
  readonly key: string;
  readonly before: StoredKey | undefined;
  readonly after: StoredKey | undefined;
}

/** All keys from `key` to the end of the keys. */
const toTheEnd = '\0';

export class KeyStore {
  revision = 1;
  compacted = 0;
  readonly #versions = new Map<string, Version[]>();
  readonly #sorted: string[] = [];
  /** The changes that are not committed yet. */
  #changes: Change[] = [];

  /** The keys of a range as of a revision. An empty end: one key. */
  range(key: string, end: string, revision = this.revision): StoredKey[] {
    if (end === '') return [this.get(key, revision)].filter((each) => each !== undefined);
    const found: StoredKey[] = [];
    for (let index = this.#indexOf(key); index < this.#sorted.length; index++) {
      const name = this.#sorted[index] as string;
      if (end !== toTheEnd && name >= end) break;
      const stored = this.get(name, revision);
      if (stored) found.push(stored);
    }
    return found;
  }

  get(key: string, revision = this.revision): StoredKey | undefined {
    const versions = this.#versions.get(key);
    if (!versions) return undefined;
    // A write of the transaction that runs is seen by its later parts.
    const limit = this.#changes.length > 0 && revision === this.revision ? revision + 1 : revision;
    for (let index = versions.length - 1; index >= 0; index--) {
      const version = versions[index] as Version;
      if (version.modified <= limit) return version.stored;
    }
    return undefined;
  }

  put(key: string, value: Buffer, lease: string): void {
    const before = this.get(key);
    const modified = this.revision + 1;
    const created = before?.created ?? modified;
    this.#write(key, before, { key, value, created, modified, version: (before?.version ?? 0) + 1, lease });
  }

  /** Returns the number of deleted keys. */
  remove(key: string, end: string): number {
    const found = this.range(key, end);
    for (const each of found) this.#write(each.key, each, undefined);
    return found.length;
  }

  /** Ends a transaction. Returns its changes. The revision grows if there are any. */
  commit(): readonly Change[] {
    const changes = this.#changes;
    this.#changes = [];
    if (changes.length > 0) this.revision++;
    return changes;
  }

  /** Forgets the versions that are no longer in force at a revision. */
  compact(revision: number): void {
    this.compacted = revision;
    for (const [key, versions] of this.#versions) {
      const inForce = versions.findLastIndex(({ modified }) => modified <= revision);
      if (inForce > 0) versions.splice(0, inForce);
      const [first] = versions;
      if (versions.length > 1 || !first || first.stored || first.modified > revision) continue;
      this.#versions.delete(key);
      this.#sorted.splice(this.#indexOf(key), 1);
    }
  }

  /** Replaces all keys by these, at a later revision, up to which all is compacted. */
  restore(keys: readonly StoredKey[], revision: number): void {
    this.#versions.clear();
    this.#sorted.splice(0, Infinity, ...keys.map(({ key }) => key));
    for (const stored of keys) this.#versions.set(stored.key, [{ modified: stored.modified, stored }]);
    this.revision = revision;
    this.compacted = revision;
  }

  /** Bytes of all keys and values in force. */
  get bytes(): number {
    let bytes = 0;
    for (const key of this.#sorted) bytes += key.length + (this.get(key)?.value.length ?? 0);
    return bytes;
  }

  #write(key: string, before: StoredKey | undefined, after: StoredKey | undefined): void {
    const version = { modified: this.revision + 1, stored: after };
    const versions = this.#versions.get(key);
    if (!versions) {
      this.#versions.set(key, [version]);
      this.#sorted.splice(this.#indexOf(key), 0, key);
    } else if (versions.at(-1)?.modified === version.modified) versions[versions.length - 1] = version;
    else versions.push(version);
    this.#changes.push({ key, before, after });
  }

  /** The place of the first key that is not before this one. */
  #indexOf(key: string): number {
    let [low, high] = [0, this.#sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#sorted[middle] as string) < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

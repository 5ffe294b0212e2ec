/**
 * Compacts etcd when much of its quota is in use. Sealed and dropped events free nothing before:
 * etcd's own compaction runs every five minutes, in which a small quota can fill. Only for an etcd
 * that serves no other clients.
 */
import type { Etcd3 } from 'etcd3';

/** The part of the quota from which on etcd is compacted once a minute. */
const compactAbove = 0.4;
/** The part from which on it is compacted as often as a small quota needs it. */
const compactFastAbove = 0.7;
/**
 * The old revisions of this time stay for readers of several pages, such as a start with many
 * claims.
 */
const keepMs = 60_000;
const minIntervalMs = 2_000;
/**
 * Milliseconds for each byte of the quota: a busy writer fills 15 % of it with old revisions, at 5
 * MB a second.
 */
const keepMsPerByte = 0.15 / 5_000;

interface SeenRevision {
  readonly revision: string;
  readonly atMs: number;
}

export class EtcdCompaction {
  readonly #client: Pick<Etcd3, 'kv'>;
  /** What stays while etcd is nearly full. */
  readonly #fastKeepMs: number;
  /** The revisions of the last minute, oldest first. */
  readonly #seen: SeenRevision[] = [];
  #compactedAtMs = -Infinity;

  constructor(client: Pick<Etcd3, 'kv'>, quotaBytes: number) {
    this.#client = client;
    this.#fastKeepMs = Math.min(keepMs, quotaBytes * keepMsPerByte);
  }

  /**
   * Called about once a second with the current revision.
   * @param atMs of a clock that never goes back
   */
  async onRevision(revision: string, usedShare: number, atMs: number): Promise<void> {
    while ((this.#seen[1]?.atMs ?? atMs) <= atMs - keepMs) this.#seen.shift();
    this.#seen.push({ revision, atMs });
    const keptMs = usedShare > compactFastAbove ? this.#fastKeepMs : keepMs;
    if (usedShare <= compactAbove || atMs - this.#compactedAtMs < Math.max(minIntervalMs, keptMs)) return;
    const old = this.#seen.findLast((each) => each.atMs <= atMs - keptMs);
    if (!old) return;
    this.#compactedAtMs = atMs;
    await this.#client.kv.compact({ revision: old.revision, physical: false });
  }
}

/**
 * Compacts etcd when much of its quota is in use. Sealed and dropped events free space only at a
 * compaction, and a small quota can fill in the five minutes between etcd's own compactions. Only
 * for an etcd that serves no other clients.
 */
import type { Etcd3 } from 'etcd3';

/** Above this share of the quota, etcd is compacted once a minute. */
const compactAbove = 0.4;
/** Above this share, etcd is compacted as often as a small quota requires. */
const compactFastAbove = 0.7;
/** How long old revisions stay, for readers of several pages, such as a start with many claims. */
const keepMs = 60_000;
const minIntervalMs = 2_000;
/**
 * How long revisions stay per byte of the quota. At 5 MB a second, a busy writer then fills 15 % of
 * the quota with old revisions.
 */
const keepMsPerByte = 0.15 / 5_000;

interface SeenRevision {
  readonly revision: string;
  readonly atMs: number;
}

export class EtcdCompaction {
  readonly #client: Pick<Etcd3, 'kv'>;
  /** How long revisions stay while etcd is nearly full. */
  readonly #fastKeepMs: number;
  /** The revisions of the last minute, oldest first. */
  readonly #seen: SeenRevision[] = [];
  #compactedAtMs = -Infinity;

  constructor(client: Pick<Etcd3, 'kv'>, quotaBytes: number) {
    this.#client = client;
    this.#fastKeepMs = Math.min(keepMs, quotaBytes * keepMsPerByte);
  }

  /**
   * Call it about once a second with the current revision.
   * @param atMs time of a clock that never goes back
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

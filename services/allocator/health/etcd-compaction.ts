/**
 * Compacts etcd when much of its quota is in use. Sealed and dropped events free nothing before: etcd's own compaction runs every five
 * minutes, in which a small quota can fill. Only for an etcd that serves no other clients.
 */
import type { Etcd3 } from 'etcd3';

/** While more of the quota is in use than `aboveShare`: how often, and which revisions stay for readers of several pages. */
const paces = [
  { aboveShare: 0.7, intervalMs: 2_000, keepMs: 1_000 },
  { aboveShare: 0.4, intervalMs: 60_000, keepMs: 60_000 },
] as const;
const maxKeepMs = 60_000;

interface SeenRevision {
  readonly revision: string;
  readonly atMs: number;
}

export class EtcdCompaction {
  readonly #client: Pick<Etcd3, 'kv'>;
  /** Of the last minute, oldest first. */
  readonly #seen: SeenRevision[] = [];
  #compactedAtMs = -Infinity;

  constructor(client: Pick<Etcd3, 'kv'>) {
    this.#client = client;
  }

  /** Called about once a second with the current revision. @param atMs of a clock that never goes back */
  async onRevision(revision: string, usedShare: number, atMs: number): Promise<void> {
    while ((this.#seen[1]?.atMs ?? atMs) <= atMs - maxKeepMs) this.#seen.shift();
    this.#seen.push({ revision, atMs });
    const pace = paces.find(({ aboveShare }) => usedShare > aboveShare);
    if (!pace || atMs - this.#compactedAtMs < pace.intervalMs) return;
    const old = this.#seen.findLast((each) => each.atMs <= atMs - pace.keepMs);
    if (!old) return;
    this.#compactedAtMs = atMs;
    await this.#client.kv.compact({ revision: old.revision, physical: false });
  }
}

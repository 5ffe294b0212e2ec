/** The ledger in memory: for specs. A strict-serialisable map with revisions, as etcd is. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Seq } from '../domain/event.ts';
import { emptyHead, type Head } from './chain.ts';
import {
  addressKey,
  addressPrefix,
  claimNameOf,
  headKey,
  headText,
  logKey,
  parseClaim,
  parseHead,
  type StoredSubnet,
  subnetKey,
  subnetPrefix,
  writerKey,
} from './keys.ts';
import type { Appended, AppendLimits, Batch, Ledger, LoadedSnapshot, Revision, StoredLine } from './ledger.ts';

interface StoredValue {
  readonly text: string;
  readonly created: Revision;
  readonly modified: Revision;
}

const pageSize = 100;
const pollMs = 20;

export class MemoryLedger implements Ledger {
  readonly limits: AppendLimits;
  readonly #keys = new Map<string, StoredValue>();
  #revision: Revision = 0n;
  readonly #ringers = new Set<() => void>();

  constructor(limits: AppendLimits = { ops: 128, bytes: 1 << 20 }) {
    this.limits = limits;
  }

  /** Writes a key past all rules, as somebody with etcdctl can. */
  put(key: string, text: string): Revision {
    this.#revision++;
    const created = this.#keys.get(key)?.created ?? this.#revision;
    this.#keys.set(key, { text, created, modified: this.#revision });
    return this.#revision;
  }

  /** The value of a key. */
  get(key: string): string | undefined {
    return this.#keys.get(key)?.text;
  }

  async load(signal: AbortSignal): Promise<LoadedSnapshot> {
    const head = await this.head(signal);
    const claims = [...this.#withPrefix(addressPrefix)].map(([key, { text, modified }]) => {
      const name = claimNameOf(key);
      return { ...name, claim: parseClaim(name, text), revision: modified };
    });
    const subnets = [...this.#withPrefix(subnetPrefix)].map(([key, { text }]) => ({
      name: key.slice(subnetPrefix.length),
      ...(JSON.parse(text) as StoredSubnet),
    }));
    return { ledger: head.ledger, head, claims, revisions: claims, subnets };
  }

  async append(batch: Batch): Promise<Appended> {
    await sleep(0);
    const { head, events, claims, subnets, writer } = batch;
    const ops = events.length + claims.length + subnets.length + 1;
    if (ops > this.limits.ops) return { kind: 'rejected', reason: `${ops} operations, at most ${this.limits.ops}` };
    const known = head.before.seq === 0 ? undefined : headText(head.before);
    if (this.#keys.get(headKey)?.text !== known) return { kind: 'moved' };
    if (writer !== undefined && this.#keys.get(writerKey)?.created !== writer) return { kind: 'deposed' };
    const fenced = claims.filter(({ name, known: revision }) => this.#modified(addressKey(name)) !== revision);
    if (fenced.length > 0) return { kind: 'fenced', claims: fenced.map(({ name }) => name) };

    const revision = this.#revision + 1n;
    for (const { seq, text } of events) this.#putAt(logKey(seq), text, revision);
    for (const { name, text } of claims) this.#putAt(addressKey(name), text, revision);
    for (const { name, text } of subnets)
      if (text === undefined) this.#keys.delete(subnetKey(name));
      else this.#putAt(subnetKey(name), text, revision);
    this.#putAt(headKey, headText(head.after), revision);
    this.#revision = revision;
    for (const ring of this.#ringers) ring();
    return { kind: 'appended', revision };
  }

  async *read(from: Seq, signal: AbortSignal): AsyncIterable<readonly StoredLine[]> {
    const { seq: last } = await this.head(signal);
    for (let first = from; first <= last; first += pageSize) {
      const seqs = Array.from({ length: Math.min(pageSize, last - first + 1) }, (_, index) => first + index);
      yield (await this.readEach(seqs, signal)).filter((line) => line !== undefined);
    }
  }

  async readEach(seqs: readonly Seq[], signal: AbortSignal): Promise<readonly (StoredLine | undefined)[]> {
    await sleep(0);
    signal.throwIfAborted();
    return seqs.map((seq) => {
      const value = this.#keys.get(logKey(seq));
      return value && { text: value.text, revision: value.modified };
    });
  }

  async head(signal: AbortSignal): Promise<Head> {
    await sleep(0);
    signal.throwIfAborted();
    const text = this.get(headKey);
    return text === undefined ? emptyHead : parseHead(text);
  }

  async *bell(signal: AbortSignal): AsyncIterable<void> {
    let rung = false;
    let wake: () => void = () => undefined;
    const ring = (): void => {
      rung = true;
      wake();
    };
    this.#ringers.add(ring);
    try {
      while (!signal.aborted) {
        if (!rung)
          await new Promise<void>((resolve) => {
            wake = resolve;
            setTimeout(resolve, pollMs);
          });
        rung = false;
        yield;
      }
    } finally {
      this.#ringers.delete(ring);
    }
  }

  *#withPrefix(text: string): Iterable<[string, StoredValue]> {
    for (const entry of this.#keys) if (entry[0].startsWith(text)) yield entry;
  }

  #modified(key: string): Revision {
    return this.#keys.get(key)?.modified ?? 0n;
  }

  #putAt(key: string, text: string, revision: Revision): void {
    this.#keys.set(key, { text, created: this.#keys.get(key)?.created ?? revision, modified: revision });
  }
}

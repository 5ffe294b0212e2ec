/** The ledger in memory: for specs. A strict-serialisable map with revisions, as etcd is. */
import { setTimeout as sleep } from 'node:timers/promises';
import { pause } from '../../../lib/deadline.ts';
import type { Segment, Seq } from '../domain/event.ts';
import { emptyHead, type Head } from './chain.ts';
import {
  addressKey,
  addressPrefix,
  droppedKey,
  droppedPrefix,
  epochText,
  floorKey,
  floorText,
  type Frozen,
  frozenKey,
  frozenText,
  headKey,
  headText,
  logKey,
  logPrefix,
  parseDropped,
  parseFloor,
  parseFrozen,
  parseHead,
  parsePool,
  parseSegment,
  parseSubnet,
  poolKey,
  poolPrefix,
  readClaim,
  segmentKey,
  segmentPrefix,
  segmentText,
  subnetKey,
  subnetPrefix,
  writerKey,
} from './keys.ts';
import type {
  Appended,
  AppendLimits,
  Batch,
  Brake,
  KeyPage,
  KeyRange,
  Ledger,
  LoadedSnapshot,
  Revision,
  SealedLog,
  StoredLine,
} from './ledger.ts';
import { overSegment } from './etcd-transaction.ts';
import { refuseBelow } from './floor.ts';

interface StoredValue {
  readonly text: string;
  readonly created: Revision;
  readonly modified: Revision;
}

const lineOf = ({ text, modified }: StoredValue): StoredLine => ({ text, revision: modified });

const pollMs = 20;
const pastKept = 8;

export class MemoryLedger implements Ledger, SealedLog, Brake {
  readonly limits: AppendLimits;
  readonly #keys = new Map<string, StoredValue>();
  /** The log's last key; before the first event none. */
  #lastEvent = '';
  #revision: Revision = 0n;
  readonly #past = new Map<Revision, ReadonlyMap<string, StoredValue>>();
  readonly #ringers = new Set<() => void>();

  readonly #pageSize: number;

  constructor(limits: AppendLimits = { ops: 128, bytes: 1 << 20 }, pageSize = 100) {
    this.limits = limits;
    this.#pageSize = pageSize;
  }

  /** Writes a key past all rules, as somebody with etcdctl can. */
  put(key: string, text: string): Revision {
    this.#revision++;
    this.#putAt(key, text, this.#revision);
    return this.#revision;
  }

  /** Deletes a key past all rules. */
  remove(key: string): void {
    this.#keys.delete(key);
    if (key === this.#lastEvent)
      this.#lastEvent =
        [...this.#withPrefix(logPrefix)]
          .map(([each]) => each)
          .toSorted()
          .at(-1) ?? '';
  }

  /** The value of a key. */
  get(key: string): string | undefined {
    return this.#keys.get(key)?.text;
  }

  /** All keys with their values. */
  everything(): Record<string, string> {
    return Object.fromEntries([...this.#keys].map(([key, { text }]) => [key, text]));
  }

  /** The revision at which a key was created; 0n for one that is not there. */
  createdAt(key: string): Revision {
    return this.#keys.get(key)?.created ?? 0n;
  }

  async load(signal: AbortSignal): Promise<LoadedSnapshot> {
    const head = await this.head(signal);
    const found = [...this.#withPrefix(addressPrefix)].map(([key, { text, modified }]) => ({
      ...readClaim(key, text),
      revision: modified,
    }));
    const claims = found.flatMap(({ name, claim, revision }) => (claim ? [{ ...name, claim, revision }] : []));
    const unreadable = found.flatMap(({ name, claim }) => (claim ? [] : [name]));
    const under = <Value>(prefix: string, parse: (key: string, text: string) => Value): Value[] =>
      [...this.#withPrefix(prefix)].map(([key, { text }]) => parse(key, text));
    const [subnets, pools] = [under(subnetPrefix, parseSubnet), under(poolPrefix, parsePool)];
    const dropped = under(droppedPrefix, parseDropped);
    const segments = this.#segmentsFrom(1);
    return { ledger: head.ledger, segments, head, claims, revisions: claims, unreadable, dropped, subnets, pools };
  }

  async append(batch: Batch): Promise<Appended> {
    await sleep(0);
    const { head, events, claims, dropped, subnets, pools, segments, notWhileFrozen, writer } = batch;
    const reason = this.#tooMuch(batch);
    if (reason) return { kind: 'rejected', reason };
    const known = head.before.seq === 0 ? undefined : headText(head.before);
    if (this.#keys.get(headKey)?.text !== known || this.#lastEvent > logKey(head.before.seq)) return { kind: 'moved' };
    if (writer !== undefined && this.#keys.get(writerKey)?.created !== writer) return { kind: 'deposed' };
    if (notWhileFrozen && this.#keys.has(frozenKey)) return { kind: 'frozen' };
    const fenced = claims.filter(({ name, known: revision }) => this.#modified(addressKey(name)) !== revision);
    if (fenced.length > 0) return { kind: 'fenced', claims: fenced.map(({ name }) => name) };
    if (segments.some(({ from }) => this.#keys.has(segmentKey(from)))) return { kind: 'rejected', reason: overSegment };

    const revision = this.#revision + 1n;
    for (const { seq, text } of events) this.#putAt(logKey(seq), text, revision);
    for (const [key, text] of [
      ...claims.map(({ name, text }) => [addressKey(name), text] as const),
      ...dropped.map(({ name, text }) => [droppedKey(name), text] as const),
      ...subnets.map(({ name, text }) => [subnetKey(name), text] as const),
      ...pools.map(({ name, text }) => [poolKey(name), text] as const),
    ])
      if (text === undefined) this.#keys.delete(key);
      else this.#putAt(key, text, revision);
    for (const segment of segments) {
      this.#putAt(segmentKey(segment.from), segmentText(segment), revision);
      this.#putAt(floorKey, floorText(segment.to + 1), revision);
    }
    this.#putAt(headKey, headText(head.after), revision);
    this.#revision = revision;
    for (const ring of this.#ringers) ring();
    return { kind: 'appended', revision };
  }

  async *read(from: Seq, signal: AbortSignal): AsyncIterable<readonly StoredLine[]> {
    await sleep(0);
    signal.throwIfAborted();
    const found = [...this.#withPrefix(logPrefix)].filter(([key]) => key >= logKey(from));
    const lines = found.toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, value]) => lineOf(value));
    const [first] = found.map(([key]) => key).toSorted();
    if (from < this.#floor && first !== logKey(from)) refuseBelow(from, this.#floor, this.get(logKey(this.#floor)));
    for (let start = 0; start < lines.length; start += this.#pageSize) {
      yield lines.slice(start, start + this.#pageSize);
      await sleep(0);
      signal.throwIfAborted();
    }
  }

  async readEach(seqs: readonly Seq[], signal: AbortSignal): Promise<readonly (StoredLine | undefined)[]> {
    await sleep(0);
    signal.throwIfAborted();
    return seqs.map((seq) => {
      const value = this.#keys.get(logKey(seq));
      if (!value && seq >= 1 && seq < this.#floor) refuseBelow(seq, this.#floor, this.get(logKey(this.#floor)));
      return value && lineOf(value);
    });
  }

  /** Of the past it keeps the revisions that were read last. */
  async *keys({ from, end }: KeyRange, signal: AbortSignal, asked?: Revision): AsyncIterable<KeyPage> {
    const revision = asked ?? this.#revision;
    const then = (asked !== undefined && this.#past.get(asked)) || new Map(this.#keys);
    this.#past.set(revision, then);
    const [oldest] = this.#past.keys();
    if (this.#past.size > pastKept && oldest !== undefined) this.#past.delete(oldest);
    const found = [...then].filter(([key]) => key >= from && key < end).map(([key, { text }]) => ({ key, text }));
    const keys = found.toSorted((one, other) => (one.key < other.key ? -1 : 1));
    let first = 0;
    do {
      await sleep(0);
      signal.throwIfAborted();
      yield { revision, keys: keys.slice(first, first + this.#pageSize) };
      first += this.#pageSize;
    } while (first < keys.length);
  }

  async floor(signal: AbortSignal): Promise<Seq> {
    await sleep(0);
    signal.throwIfAborted();
    return this.#floor;
  }

  async segments(from: Seq, signal: AbortSignal): Promise<readonly Segment[]> {
    await sleep(0);
    signal.throwIfAborted();
    return this.#segmentsFrom(from);
  }

  async frozen(signal: AbortSignal): Promise<Frozen | undefined> {
    await sleep(0);
    signal.throwIfAborted();
    const text = this.get(frozenKey);
    return text === undefined ? undefined : parseFrozen(text);
  }

  async freeze(why: Frozen, found: Head, signal: AbortSignal): Promise<void> {
    if (await this.frozen(signal)) return;
    const head = this.get(headKey);
    const isSameEpoch = found.seq === 0 ? head === undefined : head?.startsWith(epochText(found));
    if (isSameEpoch) this.put(frozenKey, frozenText(why));
  }

  async thaw(signal: AbortSignal): Promise<void> {
    await sleep(0);
    signal.throwIfAborted();
    this.remove(frozenKey);
  }

  async prune(signal: AbortSignal): Promise<boolean> {
    await sleep(0);
    signal.throwIfAborted();
    const below = [...this.#withPrefix(logPrefix)].map(([key]) => key).filter((key) => key < logKey(this.#floor));
    for (const key of below.toSorted().slice(0, this.#pageSize)) this.#keys.delete(key);
    return below.length > this.#pageSize;
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
        if (!rung) {
          const silence = new AbortController();
          wake = () => silence.abort();
          await pause(pollMs, AbortSignal.any([signal, silence.signal]));
        }
        rung = false;
        if (!signal.aborted) yield;
      }
    } finally {
      this.#ringers.delete(ring);
    }
  }

  #segmentsFrom(from: Seq): readonly Segment[] {
    const segments = [...this.#withPrefix(segmentPrefix)].map(([key, { text }]) => parseSegment(key, text));
    return segments.filter((segment) => segment.from >= from).toSorted((a, b) => a.from - b.from);
  }

  get #floor(): Seq {
    return parseFloor(this.get(floorKey));
  }

  #tooMuch({ events, claims, dropped, subnets, pools }: Batch): string | undefined {
    const puts = [...events, ...claims, ...dropped, ...subnets, ...pools];
    const ops = puts.length + 1;
    if (ops > this.limits.ops) return `${ops} operations, at most ${this.limits.ops}`;
    const bytes = puts.reduce((sum, { text = '' }) => sum + Buffer.byteLength(text), 0);
    return bytes > this.limits.bytes ? `${bytes} bytes, at most ${this.limits.bytes}` : undefined;
  }

  *#withPrefix(text: string): Iterable<[string, StoredValue]> {
    for (const entry of this.#keys) if (entry[0].startsWith(text)) yield entry;
  }

  #modified(key: string): Revision {
    return this.#keys.get(key)?.modified ?? 0n;
  }

  #putAt(key: string, text: string, revision: Revision): void {
    if (key.startsWith(logPrefix) && key > this.#lastEvent) this.#lastEvent = key;
    this.#keys.set(key, { text, created: this.#keys.get(key)?.created ?? revision, modified: revision });
  }
}

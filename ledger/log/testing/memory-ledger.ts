/** A ledger in memory, for specs: a strictly serialisable map with revisions, like etcd. */
import { setTimeout as sleep } from 'node:timers/promises';
import { pause } from '../../../lib/process/abortable.ts';
import type { Segment, Seq } from '../../domain/values/ledger.ts';
import { emptyHead, type Head } from '../chain/chain.ts';
import {
  addressKey,
  addressPrefix,
  droppedKey,
  droppedPrefix,
  endedKey,
  endedPrefix,
  logStartKey,
  freezeKey,
  headKey,
  logKey,
  logPrefix,
  poolKey,
  poolPrefix,
  segmentKey,
  segmentPrefix,
  subnetKey,
  subnetPrefix,
  writerKey,
} from '../store/keys.ts';
import {
  epochPrefix,
  logStartText,
  type FreezeReason,
  nextFreezeText,
  headText,
  parseDropped,
  parseLogStart,
  parseFreeze,
  parseAnyHead,
  parseHead,
  parsePool,
  parseSegment,
  parseSubnet,
  readClaim,
  segmentText,
} from '../store/stored-values.ts';
import type {
  AcceptedHeads,
  AppendOutcome,
  AppendLimits,
  Batch,
  FreezeStore,
  KeyPage,
  KeyRange,
  Ledger,
  LoadedSnapshot,
  Revision,
  SealedLog,
  StoredLine,
} from '../store/ledger.ts';
import { parseEnded } from '../store/ended-keys.ts';
import { segmentKeyExists } from '../store/etcd-transaction.ts';
import { refuseDroppedEvent, refuseSealedEvent } from '../store/etcd-ledger.ts';

interface StoredValue {
  readonly text: string;
  readonly created: Revision;
  readonly modified: Revision;
}

const lineOf = (key: string, { text, modified }: StoredValue): StoredLine => ({ key, text, revision: modified });

const byKey = (one: { readonly key: string }, other: { readonly key: string }): number =>
  one.key < other.key ? -1 : 1;

const pollMs = 20;
const maxPastRevisions = 8;
/** More failures in a row fail the test: a faulty writer would repeat an append forever. */
const maxFailedAppends = 300;

export class MemoryLedger implements Ledger, SealedLog, FreezeStore {
  readonly limits: AppendLimits;
  readonly #keys = new Map<string, StoredValue>();
  /** The last key of the log; '' before the first event. */
  #lastEvent = '';
  #revision: Revision = 0n;
  #failedAppends = 0;
  readonly #past = new Map<Revision, ReadonlyMap<string, StoredValue>>();
  readonly #headWatchers = new Set<() => void>();

  readonly #pageSize: number;

  constructor(limits: AppendLimits = { ops: 128, bytes: 1 << 20 }, pageSize = 100) {
    this.limits = limits;
    this.#pageSize = pageSize;
  }

  /** Writes a key unchecked, as etcdctl does. */
  put(key: string, text: string): Revision {
    this.#revision++;
    this.#putAt(key, text, this.#revision);
    return this.#revision;
  }

  /** Deletes a key unchecked. */
  remove(key: string): void {
    this.#keys.delete(key);
    if (key === this.#lastEvent)
      this.#lastEvent =
        [...this.#withPrefix(logPrefix)]
          .map(([each]) => each)
          .toSorted()
          .at(-1) ?? '';
  }

  get(key: string): string | undefined {
    return this.#keys.get(key)?.text;
  }

  /** All keys with their values. */
  everything(): Record<string, string> {
    return Object.fromEntries([...this.#keys].map(([key, { text }]) => [key, text]));
  }

  /** The create revision of a key; 0n if the key does not exist. */
  createdAt(key: string): Revision {
    return this.#keys.get(key)?.created ?? 0n;
  }

  async load(signal: AbortSignal, heads: AcceptedHeads = 'complete'): Promise<LoadedSnapshot> {
    const head = await this.#readHead(signal, heads === 'any' ? parseAnyHead : parseHead);
    const found = [...this.#withPrefix(addressPrefix)].map(([key, { text, modified }]) => ({
      ...readClaim(key, text),
      revision: modified,
    }));
    const under = <Value>(prefix: string, parse: (key: string, text: string) => Value): Value[] =>
      [...this.#withPrefix(prefix)].map(([key, { text }]) => parse(key, text));
    const [subnets, pools] = [under(subnetPrefix, parseSubnet), under(poolPrefix, parsePool)];
    const dropped = under(droppedPrefix, parseDropped);
    const ended = parseEnded(under(endedPrefix, (key, text) => ({ key, text })).toSorted(byKey));
    const segments = this.#segmentsFrom(1);
    const claims = pagesOf(found, this.#pageSize);
    return { ledger: head.ledger, segments, head, claims, dropped, ended, subnets, pools };
  }

  async append(batch: Batch): Promise<AppendOutcome> {
    const outcome = await this.#appendOnce(batch);
    this.#failedAppends = outcome.kind === 'appended' ? 0 : this.#failedAppends + 1;
    if (this.#failedAppends > maxFailedAppends) throw new Error(`${maxFailedAppends} appends in a row failed`);
    return outcome;
  }

  async #appendOnce(batch: Batch): Promise<AppendOutcome> {
    await sleep(0);
    const { head, events, claims, dropped, ended, subnets, pools, segments, historyStart, requiresUnfrozen, writer } =
      batch;
    const reason = this.#limitExceeded(batch);
    if (reason) return { kind: 'rejected', reason };
    const known = head.before.seq === 0 ? undefined : headText(head.before);
    if (this.#keys.get(headKey)?.text !== known || this.#lastEvent > logKey(head.before.seq)) return { kind: 'moved' };
    if (writer !== undefined && (this.#keys.get(writerKey)?.created ?? 0n) !== writer) return { kind: 'deposed' };
    if (requiresUnfrozen && this.#keys.has(freezeKey)) return { kind: 'frozen' };
    const fenced = claims.filter(({ name, knownRevision }) => this.#modified(addressKey(name)) !== knownRevision);
    if (fenced.length > 0) return { kind: 'fenced', claims: fenced.map(({ name }) => name) };
    if (segments.some(({ from }) => this.#keys.has(segmentKey(from))))
      return { kind: 'rejected', reason: segmentKeyExists };

    const revision = this.#revision + 1n;
    for (const { seq, text } of events) this.#putAt(logKey(seq), text, revision);
    for (const [key, text] of [
      ...claims.map(({ name, text }) => [addressKey(name), text] as const),
      ...dropped.map(({ name, text }) => [droppedKey(name), text] as const),
      ...ended.map(({ index, text }) => [endedKey(index), text] as const),
      ...subnets.map(({ name, text }) => [subnetKey(name), text] as const),
      ...pools.map(({ name, text }) => [poolKey(name), text] as const),
    ])
      if (text === undefined) this.#keys.delete(key);
      else this.#putAt(key, text, revision);
    for (const segment of segments) {
      this.#putAt(segmentKey(segment.from), segmentText(segment), revision);
      this.#putAt(logStartKey, logStartText(segment.to + 1), revision);
    }
    if (historyStart) {
      const key = segmentKey(historyStart.from);
      for (const [each] of this.#withPrefix(segmentPrefix)) if (each < key) this.#keys.delete(each);
      this.#putAt(key, segmentText(historyStart), revision);
    }
    this.#putAt(headKey, headText(head.after), revision);
    this.#revision = revision;
    for (const wake of this.#headWatchers) wake();
    return { kind: 'appended', revision };
  }

  async *read(from: Seq, signal: AbortSignal): AsyncIterable<readonly StoredLine[]> {
    await sleep(0);
    signal.throwIfAborted();
    const found = [...this.#withPrefix(logPrefix)].filter(([key]) => key >= logKey(from));
    const lines = found.toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([key, value]) => lineOf(key, value));
    const [first] = found.map(([key]) => key).toSorted();
    if (from < this.#logStart && first !== logKey(from)) this.#refuseSealed(from);
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
      if (!value && seq >= 1 && seq < this.#logStart) this.#refuseSealed(seq);
      return value && lineOf(logKey(seq), value);
    });
  }

  /** Supports only past revisions that were read recently. */
  async *keys({ from, end }: KeyRange, signal: AbortSignal, requested?: Revision): AsyncIterable<KeyPage> {
    const revision = requested ?? this.#revision;
    const atRevision = (requested !== undefined && this.#past.get(requested)) || new Map(this.#keys);
    this.#past.set(revision, atRevision);
    const [oldest] = this.#past.keys();
    if (this.#past.size > maxPastRevisions && oldest !== undefined) this.#past.delete(oldest);
    const found = [...atRevision]
      .filter(([key]) => key >= from && key < end)
      .map(([key, { text, modified: modRevision }]) => ({ key, text, modRevision }));
    const keys = found.toSorted((one, other) => (one.key < other.key ? -1 : 1));
    let first = 0;
    do {
      await sleep(0);
      signal.throwIfAborted();
      yield { revision, keys: keys.slice(first, first + this.#pageSize) };
      first += this.#pageSize;
    } while (first < keys.length);
  }

  async logStart(signal: AbortSignal): Promise<Seq> {
    await sleep(0);
    signal.throwIfAborted();
    return this.#logStart;
  }

  async segments(from: Seq, signal: AbortSignal): Promise<readonly Segment[]> {
    await sleep(0);
    signal.throwIfAborted();
    return this.#segmentsFrom(from);
  }

  async readFreeze(signal: AbortSignal): Promise<FreezeReason | undefined> {
    await sleep(0);
    signal.throwIfAborted();
    const text = this.get(freezeKey);
    return text === undefined ? undefined : parseFreeze(text);
  }

  async freeze(reason: FreezeReason, found: Head, signal: AbortSignal): Promise<void> {
    await this.readFreeze(signal);
    const text = nextFreezeText(this.get(freezeKey), reason);
    const head = this.get(headKey);
    const isSameEpoch = found.seq === 0 ? head === undefined : head?.startsWith(epochPrefix(found));
    if (isSameEpoch && text !== undefined) this.put(freezeKey, text);
  }

  async unfreeze(signal: AbortSignal): Promise<void> {
    await sleep(0);
    signal.throwIfAborted();
    this.remove(freezeKey);
  }

  async prune(signal: AbortSignal): Promise<boolean> {
    await sleep(0);
    signal.throwIfAborted();
    const below = [...this.#withPrefix(logPrefix)].map(([key]) => key).filter((key) => key < logKey(this.#logStart));
    for (const key of below.toSorted().slice(0, this.#pageSize)) this.#keys.delete(key);
    return below.length > this.#pageSize;
  }

  head(signal: AbortSignal): Promise<Head> {
    return this.#readHead(signal, parseHead);
  }

  async #readHead(signal: AbortSignal, parse: (text: string) => Head): Promise<Head> {
    await sleep(0);
    signal.throwIfAborted();
    const text = this.get(headKey);
    return text === undefined ? emptyHead : parse(text);
  }

  async *watchHead(signal: AbortSignal): AsyncIterable<void> {
    let isChanged = false;
    let endPause: () => void = () => undefined;
    const wake = (): void => {
      isChanged = true;
      endPause();
    };
    this.#headWatchers.add(wake);
    try {
      while (!signal.aborted) {
        if (!isChanged) {
          const changed = new AbortController();
          endPause = () => changed.abort();
          await pause(pollMs, AbortSignal.any([signal, changed.signal]));
        }
        isChanged = false;
        if (!signal.aborted) yield;
      }
    } finally {
      this.#headWatchers.delete(wake);
    }
  }

  #refuseSealed(seq: Seq): never {
    refuseDroppedEvent(seq, this.#segmentsFrom(1));
    refuseSealedEvent(seq, this.#logStart, this.get(logKey(this.#logStart)));
  }

  #segmentsFrom(from: Seq): readonly Segment[] {
    const segments = [...this.#withPrefix(segmentPrefix)].map(([key, { text }]) => parseSegment(key, text));
    return segments.filter((segment) => segment.from >= from).toSorted((a, b) => a.from - b.from);
  }

  get #logStart(): Seq {
    return parseLogStart(this.get(logStartKey));
  }

  #limitExceeded({ events, claims, dropped, ended, subnets, pools, segments }: Batch): string | undefined {
    const puts = [...events, ...claims, ...dropped, ...ended, ...subnets, ...pools];
    const ops = puts.length + segments.length + Math.min(1, segments.length) + 1;
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

async function* pagesOf<Item>(items: readonly Item[], pageSize: number): AsyncIterable<readonly Item[]> {
  for (let first = 0; first < items.length; first += pageSize) yield items.slice(first, first + pageSize);
}

/**
 * A ledger whose past is read from the archive: reads go on below the floor as if nothing had been sealed. Loading, appending and
 * reading live events never touch the archive.
 */
import { unlessAborted, within } from '../../../lib/deadline.ts';
import { IpledgerError, isGone } from '../../../lib/errors.ts';
import type { Segment, Seq } from '../domain/event.ts';
import type { Head } from '../ledger/chain.ts';
import { beginning, type Place, type Until } from '../ledger/fold.ts';
import { logKey, logPrefix, seqOfKey } from '../ledger/keys.ts';
import type {
  Appended,
  AppendLimits,
  Batch,
  KeyPage,
  KeyRange,
  Ledger,
  LoadedSnapshot,
  Revision,
  SealedLog,
  StoredKey,
  StoredLine,
} from '../ledger/ledger.ts';
import type { Archive } from './archive.ts';
import { readEndState, readEvents, readManifest } from './segment.ts';

/** So many of the segments read last are kept unpacked: a walk along an address's history comes back to the same ones. */
const mostUnpacked = 4;
const pageSize = 1_000;
/** A segment is unpacked once for all who wait for it, so this is not bound to the signal of one of them. */
const unpackWithinMs = 120_000;

type Live = Ledger & SealedLog;

export class ArchivedLedger implements Ledger, SealedLog {
  readonly #live: Live;
  readonly #archive: Archive;
  /** All that were sealed when it was last looked, oldest first; what is sealed stays so. */
  #segments: readonly Segment[] = [];
  #ledger = '';
  /** By first event; the segment that was read last comes last. */
  readonly #unpacked = new Map<Seq, Promise<readonly string[]>>();

  constructor(live: Live, archive: Archive) {
    this.#live = live;
    this.#archive = archive;
  }

  get limits(): AppendLimits {
    return this.#live.limits;
  }

  load(signal: AbortSignal): Promise<LoadedSnapshot> {
    return this.#live.load(signal);
  }

  append(batch: Batch): Promise<Appended> {
    return this.#live.append(batch);
  }

  head(signal: AbortSignal): Promise<Head> {
    return this.#live.head(signal);
  }

  bell(signal: AbortSignal): AsyncIterable<void> {
    return this.#live.bell(signal);
  }

  /**
   * As if the keys of sealed events still stood there: whoever verifies the log reads all of it. Where keys do stand, they are
   * shown, also below the floor: what is sealed and not deleted yet, or what somebody put back. A log never ends in the archive.
   */
  async *keys(range: KeyRange, signal: AbortSignal, revision?: Revision): AsyncIterable<KeyPage> {
    const pages = this.#live.keys(range, signal, revision);
    if (!range.from.startsWith(logPrefix)) {
      yield* pages;
      return;
    }
    let next = seqOfKey(range.from) ?? 1;
    for await (const page of pages) {
      let shown = 0;
      for (const [index, { key }] of page.keys.entries()) {
        if (key > logKey(next)) {
          yield { ...page, keys: page.keys.slice(shown, index) };
          for await (const keys of this.#sealedKeys(next, key, signal)) yield { ...page, keys };
          shown = index;
        }
        next = Math.max(next, (seqOfKey(key) ?? 0) + 1);
      }
      yield { ...page, keys: page.keys.slice(shown) };
    }
  }

  /** Those of sealed events, from one on, before a key that is live. */
  async *#sealedKeys(from: Seq, end: string, signal: AbortSignal): AsyncIterable<readonly StoredKey[]> {
    let next = from;
    // After etcd was read: what was gone by then is sealed by now.
    await this.#look(signal);
    for (let segment = this.#segmentOf(next); segment && logKey(next) < end; segment = this.#segmentOf(next)) {
      const lines = (await this.#linesOf(segment, signal)).slice(next - segment.from);
      yield keysFrom(next, lines).filter(({ key }) => key < end);
      next = segment.to + 1;
    }
  }

  floor(signal: AbortSignal): Promise<Seq> {
    return this.#live.floor(signal);
  }

  segments(from: Seq, signal: AbortSignal): Promise<readonly Segment[]> {
    return this.#live.segments(from, signal);
  }

  prune(signal: AbortSignal): Promise<boolean> {
    return this.#live.prune(signal);
  }

  /**
   * Asked before events below the floor are deleted that somebody else sealed: they may lie in another archive than this one, and
   * the floor may be somebody else's work.
   * @throws IpledgerError LEDGER_DAMAGED unless each event there is in this archive, byte by byte; UNAVAILABLE
   */
  async refuseUnkept(signal: AbortSignal): Promise<void> {
    const floor = await this.#live.floor(signal);
    await this.#look(signal);
    for await (const { keys } of this.#live.keys({ from: logPrefix, end: logKey(floor) }, signal))
      for (const { key, text } of keys) {
        const seq = seqOfKey(key) ?? 0;
        const segment = this.#segmentOf(seq);
        if (!segment) throw unsealed(seq);
        if ((await this.#linesOf(segment, signal))[seq - segment.from] !== text)
          throw new IpledgerError('LEDGER_DAMAGED', `${key} does not hold what was sealed: ipledger verify says more`);
      }
  }

  async *read(from: Seq, signal: AbortSignal): AsyncIterable<readonly StoredLine[]> {
    let next = from;
    for (;;) {
      for (let segment = this.#segmentOf(next); segment; segment = this.#segmentOf(next)) {
        const lines = (await this.#linesOf(segment, signal)).slice(next - segment.from);
        for (let first = 0; first < lines.length; first += pageSize)
          yield lines.slice(first, first + pageSize).map(archivedLine);
        next = segment.to + 1;
      }
      try {
        for await (const page of this.#live.read(next, signal)) {
          yield page;
          next += page.length;
        }
        return;
      } catch (error) {
        // It was sealed since we looked.
        await this.#lookFor(next, error, signal);
      }
    }
  }

  async readEach(seqs: readonly Seq[], signal: AbortSignal): Promise<readonly (StoredLine | undefined)[]> {
    for (;;) {
      const live = seqs.filter((seq) => !this.#segmentOf(seq));
      try {
        const found = live.length > 0 ? await this.#live.readEach(live, signal) : [];
        const lines = new Map(live.map((seq, index) => [seq, found[index]]));
        for (const seq of seqs) {
          const segment = this.#segmentOf(seq);
          const text = segment && (await this.#linesOf(segment, signal))[seq - segment.from];
          if (text !== undefined) lines.set(seq, archivedLine(text));
        }
        return seqs.map((seq) => lines.get(seq));
      } catch (error) {
        await this.#lookFor(Math.min(...live), error, signal);
      }
    }
  }

  /**
   * The last place at the end of a segment that is not behind `until`; the beginning where there is none. A fold up to there
   * may start at it.
   * @throws IpledgerError UNAVAILABLE; LEDGER_DAMAGED
   */
  async placeBefore(until: Until, signal: AbortSignal): Promise<Place> {
    await this.#look(signal);
    const last = this.#segments.findLast(
      (segment) =>
        until === 'end' || ('seq' in until ? segment.to <= until.seq : Date.parse(segment.until) <= until.at),
    );
    if (!last) return beginning();
    return readEndState(this.#archive, await readManifest(this.#archive, this.#ledger, last, signal), signal);
  }

  #segmentOf(seq: Seq): Segment | undefined {
    let [low, high] = [0, this.#segments.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#segments[middle] as Segment).to < seq) low = middle + 1;
      else high = middle;
    }
    const found = this.#segments[low];
    return found && found.from <= seq ? found : undefined;
  }

  /** After an error: learns what was sealed since, if that explains it; else throws it. */
  async #lookFor(seq: Seq, error: unknown, signal: AbortSignal): Promise<void> {
    if (!isGone(error)) throw error;
    await this.#look(signal);
    if (!this.#segmentOf(seq)) throw unsealed(seq);
  }

  async #look(signal: AbortSignal): Promise<void> {
    this.#ledger ||= (await this.#live.head(signal)).ledger;
    const sealedTo = (): Seq => this.#segments.at(-1)?.to ?? 0;
    const found = await this.#live.segments(sealedTo() + 1, signal);
    // Whoever looked at the same time may have seen more.
    this.#segments = [...this.#segments, ...found.filter(({ from }) => from > sealedTo())];
  }

  #linesOf(segment: Segment, signal: AbortSignal): Promise<readonly string[]> {
    const { from } = segment;
    const known = this.#unpacked.get(from);
    const lines = known ?? this.#unpack(segment, within(unpackWithinMs));
    this.#unpacked.delete(from);
    this.#unpacked.set(from, lines);
    lines.catch(() => this.#unpacked.delete(from));
    const [oldest] = this.#unpacked.keys();
    if (this.#unpacked.size > mostUnpacked && oldest !== undefined) this.#unpacked.delete(oldest);
    return unlessAborted(lines, signal);
  }

  async #unpack(segment: Segment, signal: AbortSignal): Promise<readonly string[]> {
    const manifest = await readManifest(this.#archive, this.#ledger, segment, signal);
    return readEvents(this.#archive, manifest, signal);
  }
}

const unsealed = (seq: Seq): IpledgerError =>
  new IpledgerError(
    'LEDGER_DAMAGED',
    `event ${seq} is below the floor and in no segment: was a segment's key deleted, or the floor changed?`,
  );

const archivedLine = (text: string): StoredLine => ({ text, revision: 0n });

const keysFrom = (from: Seq, lines: readonly string[]): StoredKey[] =>
  lines.map((text, index) => ({ key: logKey(from + index), text }));

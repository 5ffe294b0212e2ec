/**
 * A ledger with an archive: a read that needs sealed events takes them from the archive. Loading,
 * appending and reading events in etcd never use the archive.
 */
import { rejectWhenAborted, timeoutSignal } from '../../lib/process/abortable.ts';
import { IpledgerError, isPositionGone } from '../../lib/errors.ts';
import { droppedSegment, hasEndState, historyStart, type Segment, type Seq } from '../domain/values/ledger.ts';
import { emptyHead, type Head } from '../log/chain/chain.ts';
import { initialStateAtHead, type StateAtHead, type FoldEnd } from '../log/reader/fold.ts';
import { refuseDroppedEvent } from '../log/store/etcd-ledger.ts';
import { logKey, logPrefix, seqOfKey } from '../log/store/keys.ts';
import type {
  AcceptedHeads,
  AppendOutcome,
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
} from '../log/store/ledger.ts';
import { type Archive, isBounded } from './archive.ts';
import { assertEndState, type Manifest, readEndState, readEndStateKeys, readEvents, readManifest } from './segment.ts';

/** The segments that stay unpacked, because the history of an address reads the same ones again. */
const maxUnpackedSegments = 4;
const pageSize = 1_000;
/** Limits unpacking independently of the readers' signals, because several readers share it. */
const unpackTimeoutMs = 120_000;

type Live = Ledger & SealedLog;

export class ArchivedLedger implements Ledger, SealedLog {
  readonly #live: Live;
  readonly #archive: Archive;
  /** All segments at the last refresh, oldest first. A sealed segment never changes. */
  #segments: readonly Segment[] = [];
  #ledger = '';
  /** Unpacked segments by their first event, in the order of the last use. */
  readonly #unpacked = new Map<Seq, Promise<readonly string[]>>();

  constructor(live: Live, archive: Archive) {
    this.#live = live;
    this.#archive = archive;
  }

  get limits(): AppendLimits {
    return this.#live.limits;
  }

  load(signal: AbortSignal, heads?: AcceptedHeads): Promise<LoadedSnapshot> {
    return this.#live.load(signal, heads);
  }

  append(batch: Batch): Promise<AppendOutcome> {
    return this.#live.append(batch);
  }

  head(signal: AbortSignal): Promise<Head> {
    return this.#live.head(signal);
  }

  watchHead(signal: AbortSignal): AsyncIterable<void> {
    return this.#live.watchHead(signal);
  }

  /**
   * Yields the keys of sealed events as if they were still in etcd, so that verification reads the
   * complete log. Segments and their end states are read from the archive even if they are in
   * memory, because another program may have changed the files. A key in etcd takes precedence,
   * even before the log start: a sealed event that is not deleted yet, or a key that another
   * program wrote. The newest events are never in the archive.
   */
  async *keys(range: KeyRange, signal: AbortSignal, revision?: Revision): AsyncIterable<KeyPage> {
    const pages = this.#live.keys(range, signal, revision);
    if (!range.from.startsWith(logPrefix)) {
      yield* pages;
      return;
    }
    let next = seqOfKey(range.from) ?? 1;
    for await (const page of pages) {
      let yielded = 0;
      for (const [index, { key }] of page.keys.entries()) {
        if (key > logKey(next)) {
          yield { ...page, keys: page.keys.slice(yielded, index) };
          for await (const sealed of this.#sealedKeys(next, key, signal)) yield { ...page, ...sealed };
          yielded = index;
        }
        next = Math.max(next, (seqOfKey(key) ?? 0) + 1);
      }
      yield { ...page, keys: page.keys.slice(yielded) };
    }
  }

  /**
   * Yields the keys of sealed events from `from`, before the key `end`. The keys of a segment's end
   * state follow its last event.
   */
  async *#sealedKeys(from: Seq, end: string, signal: AbortSignal): AsyncIterable<Omit<KeyPage, 'revision'>> {
    let next = from;
    // Refreshed after the read of etcd, so that all events missing there are in segments.
    await this.#refreshSegments(signal);
    // A read from the beginning starts at the first event that was not dropped.
    if (next === 1) next = historyStart(this.#segments);
    refuseDroppedEvent(next, this.#segments);
    for (let segment = this.#segmentOf(next); segment && logKey(next) < end; segment = this.#segmentOf(next)) {
      try {
        const manifest = await readManifest(this.#archive, this.#ledger, segment, signal);
        const lines = (await readEvents(this.#archive, manifest, signal)).slice(next - segment.from);
        yield { keys: keysFrom(next, lines).filter(({ key }) => key < end) };
        // End states of earlier versions have other keys, so only newer ones can be compared.
        if (segment.files && logKey(segment.to) < end) yield* readEndStateKeys(this.#archive, manifest, signal);
        else await assertEndState(this.#archive, manifest, signal);
      } catch (error) {
        throw await this.#goneIfDropped(segment, error, signal);
      }
      next = segment.to + 1;
    }
  }

  logStart(signal: AbortSignal): Promise<Seq> {
    return this.#live.logStart(signal);
  }

  segments(from: Seq, signal: AbortSignal): Promise<readonly Segment[]> {
    return this.#live.segments(from, signal);
  }

  prune(signal: AbortSignal): Promise<boolean> {
    return this.#live.prune(signal);
  }

  /**
   * Checks that the archive has all events before the log start, before they are deleted from etcd.
   * An earlier writer may have had another archive, or another program may have changed the log
   * start.
   * @throws IpledgerError LEDGER_DAMAGED unless each of these events is in this archive, byte by
   * byte; UNAVAILABLE
   */
  async assertArchived(signal: AbortSignal): Promise<void> {
    const logStart = await this.#live.logStart(signal);
    await this.#refreshSegments(signal);
    let [read, lines]: [Segment | undefined, readonly string[]] = [undefined, []];
    for await (const { keys } of this.#live.keys({ from: logPrefix, end: logKey(logStart) }, signal))
      for (const { key, text } of keys) {
        const seq = seqOfKey(key) ?? 0;
        const segment = this.#segmentOf(seq);
        if (!segment) throw notSealed(seq);
        if (segment !== read) [read, lines] = [segment, await this.#unpack(segment, signal)];
        if (lines[seq - segment.from] !== text)
          throw new IpledgerError('LEDGER_DAMAGED', `${key} differs from the sealed event. Run: ipledger verify`);
      }
  }

  async *read(from: Seq, signal: AbortSignal): AsyncIterable<readonly StoredLine[]> {
    let next = from;
    for (;;) {
      for (let segment = this.#segmentOf(next); segment; segment = this.#segmentOf(next)) {
        const lines = (await this.#linesOf(segment, signal)).slice(next - segment.from);
        for (let first = 0; first < lines.length; first += pageSize)
          yield lines.slice(first, first + pageSize).map((text, index) => archivedLine(next + first + index, text));
        next = segment.to + 1;
      }
      try {
        for await (const page of this.#live.read(next, signal)) {
          yield page;
          next += page.length;
        }
        return;
      } catch (error) {
        // The event may have been sealed since the last refresh.
        await this.#refreshSegmentsFor(next, error, signal);
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
          if (text !== undefined) lines.set(seq, archivedLine(seq, text));
        }
        return seqs.map((seq) => lines.get(seq));
      } catch (error) {
        // A segment may have been dropped while it was read.
        refuseDroppedEvent(Math.min(...seqs), this.#segments);
        await this.#refreshSegmentsFor(Math.min(...live), error, signal);
      }
    }
  }

  /** Returns all segments, oldest first, and the head after the last. @throws as `lastEndState` */
  async sealed(signal: AbortSignal): Promise<{ readonly segments: readonly Segment[]; readonly head: Head }> {
    await this.#refreshSegments(signal);
    const last = this.#segments.at(-1);
    if (!last) return { segments: [], head: emptyHead };
    const { ledger, epoch } = await readManifest(this.#archive, this.#ledger, last, signal);
    const head = { ledger, epoch, seq: last.to, hash: last.hash, at: Date.parse(last.until) };
    return { segments: this.#segments, head };
  }

  /**
   * The end state of the last segment that is not after `until`; the initial state if there is
   * none. A fold to `until` can start there.
   * @param sealedBy only segments whose SegmentSealed is not after this event are used
   * @throws IpledgerError UNAVAILABLE; LEDGER_DAMAGED
   */
  async lastEndState(until: FoldEnd, signal: AbortSignal, sealedBy = Infinity): Promise<StateAtHead> {
    await this.#refreshSegments(signal);
    const last = this.#segments.findLast(
      (segment) =>
        hasEndState(segment) &&
        segment.seq <= sealedBy &&
        (until === 'end' || ('seq' in until ? segment.to <= until.seq : Date.parse(segment.until) <= until.at)),
    );
    if (!last && until !== 'end') refuseDroppedEvent('seq' in until ? until.seq : 1, this.#segments);
    if (!last) return initialStateAtHead();
    return this.#read(last, (manifest) => readEndState(this.#archive, manifest, signal), signal);
  }

  /**
   * The state after the last dropped event, if that event is after `after`; else undefined. The
   * history begins with this state. Throws as `lastEndState`.
   */
  async droppedState(after: Seq, signal: AbortSignal): Promise<StateAtHead | undefined> {
    await this.#refreshSegments(signal);
    const last = droppedSegment(this.#segments);
    return last && last.to > after ? this.lastEndState({ seq: last.to }, signal) : undefined;
  }

  #segmentOf(seq: Seq): Segment | undefined {
    let [low, high] = [0, this.#segments.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#segments[middle] as Segment).to < seq) low = middle + 1;
      else high = middle;
    }
    const found = this.#segments[low];
    return found && found.from <= seq && found.dropped === undefined ? found : undefined;
  }

  /**
   * Refreshes the segments after a POSITION_GONE error.
   * @throws any other error; LEDGER_DAMAGED if no segment has the event.
   */
  async #refreshSegmentsFor(seq: Seq, error: unknown, signal: AbortSignal): Promise<void> {
    if (!isPositionGone(error)) throw error;
    await this.#refreshSegments(signal);
    refuseDroppedEvent(seq, this.#segments);
    if (!this.#segmentOf(seq)) throw notSealed(seq);
  }

  async #refreshSegments(signal: AbortSignal): Promise<void> {
    this.#ledger ||= (await this.#live.head(signal)).ledger;
    const sealedTo = (): Seq => this.#segments.at(-1)?.to ?? 0;
    // Reads all segments of an archive of limited size: they are few, because the oldest are
    // dropped.
    const from = isBounded(this.#archive) ? 1 : sealedTo() + 1;
    const found = await this.#live.segments(from, signal);
    // A concurrent refresh may have added segments.
    if (from > 1) this.#segments = [...this.#segments, ...found.filter((each) => each.from > sealedTo())];
    else if ((found.at(-1)?.to ?? 0) >= sealedTo()) this.#segments = found;
  }

  #linesOf(segment: Segment, signal: AbortSignal): Promise<readonly string[]> {
    const { from } = segment;
    const lines = this.#unpacked.get(from) ?? this.#unpack(segment, timeoutSignal(unpackTimeoutMs));
    this.#unpacked.delete(from);
    this.#unpacked.set(from, lines);
    lines.catch(() => this.#unpacked.delete(from));
    const [oldest] = this.#unpacked.keys();
    if (this.#unpacked.size > maxUnpackedSegments && oldest !== undefined) this.#unpacked.delete(oldest);
    return rejectWhenAborted(lines, signal);
  }

  async #unpack(segment: Segment, signal: AbortSignal): Promise<readonly string[]> {
    return this.#read(segment, (manifest) => readEvents(this.#archive, manifest, signal), signal);
  }

  async #read<Result>(
    segment: Segment,
    read: (manifest: Manifest) => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result> {
    try {
      return await read(await readManifest(this.#archive, this.#ledger, segment, signal));
    } catch (error) {
      throw await this.#goneIfDropped(segment, error, signal);
    }
  }

  /**
   * Returns the error, or throws POSITION_GONE: missing files are no damage if the writer has
   * dropped the segment.
   */
  async #goneIfDropped(segment: Segment, error: unknown, signal: AbortSignal): Promise<unknown> {
    if (IpledgerError.from(error).kind !== 'damaged') return error;
    await this.#refreshSegments(signal);
    if (!this.#segments.some(({ from }) => from === segment.from)) refuseDroppedEvent(segment.from, this.#segments);
    return error;
  }
}

const notSealed = (seq: Seq): IpledgerError =>
  new IpledgerError(
    'LEDGER_DAMAGED',
    `event ${seq} is before the log start, but in no segment. Another program deleted a segment key or changed the log start. Run: ipledger verify --etcd URLS`,
  );

const archivedLine = (seq: Seq, text: string): StoredLine => ({ key: logKey(seq), text, revision: 0n });

const keysFrom = (from: Seq, lines: readonly string[]): StoredKey[] =>
  lines.map((text, index) => ({ key: logKey(from + index), text }));

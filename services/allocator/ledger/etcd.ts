/** The ledger in etcd. */
import type { Etcd3, ICompare, IKeyValue, IRangeRequest } from 'etcd3';
import { unlessAborted } from '../../../lib/deadline.ts';
import { IpledgerError } from '../../../lib/errors.ts';
import type { Segment, Seq } from '../domain/event.ts';
import type { ClaimName } from '../domain/journal.ts';
import { bellOf } from './bell.ts';
import { emptyHead, type Head } from './chain.ts';
import {
  addressPrefix,
  droppedPrefix,
  endOf,
  floorKey,
  type Frozen,
  frozenKey,
  frozenText,
  headKey,
  logKey,
  logPrefix,
  parseDropped,
  parseFloor,
  parseFrozen,
  parseHead,
  parsePool,
  parseSegment,
  parseSubnet,
  poolPrefix,
  readClaim,
  segmentKey,
  segmentPrefix,
  seqOfKey,
  subnetPrefix,
} from './keys.ts';
import {
  bytes,
  comparesOf,
  etcdLimits,
  inquiriesOf,
  messageOf,
  outcomeOf,
  putsOf,
  sameEpoch,
  textOf,
  whyNot,
} from './etcd-transaction.ts';
import { wasCompacted } from './compaction.ts';
import { refuseBelow } from './floor.ts';
import { firstStretch, keysOfFirstPage, keysOfNextPage, type Stretch, stretchAfter } from './stretch.ts';
import type {
  Appended,
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

type LoadedClaim = LoadedSnapshot['claims'][number] & { readonly revision: Revision };

const readEachAtOnce = 64;
/** So many keys that deleting them keeps no append waiting for long. */
const pruneAtOnce = 1_000;

export class EtcdLedger implements Ledger, SealedLog, Brake {
  readonly limits = etcdLimits;
  readonly #client: Etcd3;

  constructor(client: Etcd3) {
    this.#client = client;
  }

  async load(signal: AbortSignal): Promise<LoadedSnapshot> {
    const { header, kvs } = await this.#range({ key: bytes(headKey) }, signal);
    const head = kvs[0] ? parseHead(textOf(kvs[0])) : emptyHead;
    const at = header.revision;
    const [claims, unreadable] = [[] as LoadedClaim[], [] as ClaimName[]];
    for await (const page of this.#under(addressPrefix, at, signal))
      for (const kv of page) {
        const { name, claim } = readClaim(kv.key.toString('utf8'), textOf(kv));
        if (claim) claims.push({ ...name, claim, revision: BigInt(kv.mod_revision) });
        else unreadable.push(name);
      }
    const subnets = [];
    for await (const page of this.#under(subnetPrefix, at, signal))
      for (const kv of page) subnets.push(parseSubnet(kv.key.toString('utf8'), textOf(kv)));
    const pools = [];
    for await (const page of this.#under(poolPrefix, at, signal))
      for (const kv of page) pools.push(parsePool(kv.key.toString('utf8'), textOf(kv)));
    const dropped = [];
    for await (const page of this.#under(droppedPrefix, at, signal))
      for (const kv of page) dropped.push(parseDropped(kv.key.toString('utf8'), textOf(kv)));
    const segments = await this.#segments(1, signal, BigInt(at));
    return { ledger: head.ledger, segments, head, claims, revisions: claims, unreadable, dropped, subnets, pools };
  }

  async append(batch: Batch): Promise<Appended> {
    try {
      const reply = await this.#client.kv.txn({
        compare: comparesOf(batch),
        success: putsOf(batch),
        failure: inquiriesOf(batch),
      });
      if (reply.succeeded) return { kind: 'appended', revision: BigInt(reply.header.revision) };
      return whyNot(batch, reply);
    } catch (error) {
      return outcomeOf(error);
    }
  }

  async *read(from: Seq, signal: AbortSignal): AsyncIterable<readonly StoredLine[]> {
    let next = from;
    for (let isRead = false; !isRead;)
      try {
        for await (const page of this.#readAtOneRevision(next, signal)) {
          yield page.map(lineOf);
          next = (seqOfKey(page.at(-1)?.key.toString('utf8') ?? '') ?? next) + 1;
        }
        isRead = true;
      } catch (error) {
        // Events are written once: what follows may be of a newer revision.
        if (!wasCompacted(error)) throw error;
      }
  }

  async *#readAtOneRevision(from: Seq, signal: AbortSignal): AsyncIterable<IKeyValue[]> {
    let isFirst = true;
    for await (const { kvs: page } of this.#pages({ from: logKey(from), end: endOf(logPrefix) }, signal)) {
      if (isFirst && page[0]?.key.toString('utf8') !== logKey(from)) await this.#refuseBelow(from, signal);
      isFirst = false;
      if (page.length > 0) yield page;
    }
  }

  async readEach(seqs: readonly Seq[], signal: AbortSignal): Promise<readonly (StoredLine | undefined)[]> {
    const lines: (StoredLine | undefined)[] = [];
    for (let first = 0; first < seqs.length; first += readEachAtOnce) {
      const some = seqs
        .slice(first, first + readEachAtOnce)
        .map((seq) => this.#range({ key: bytes(logKey(seq)) }, signal));
      for (const { kvs } of await Promise.all(some)) lines.push(kvs[0] && lineOf(kvs[0]));
    }
    const missing = seqs.filter((seq, index) => seq >= 1 && !lines[index]);
    if (missing.length > 0) await this.#refuseBelow(Math.min(...missing), signal);
    return lines;
  }

  async head(signal: AbortSignal): Promise<Head> {
    const { kvs } = await this.#range({ key: bytes(headKey) }, signal);
    return kvs[0] ? parseHead(textOf(kvs[0])) : emptyHead;
  }

  async floor(signal: AbortSignal): Promise<Seq> {
    return parseFloor(await this.#floorText(signal));
  }

  segments(from: Seq, signal: AbortSignal): Promise<readonly Segment[]> {
    return this.#segments(from, signal);
  }

  async #segments(from: Seq, signal: AbortSignal, revision?: Revision): Promise<readonly Segment[]> {
    const segments: Segment[] = [];
    for await (const { keys } of this.keys({ from: segmentKey(from), end: endOf(segmentPrefix) }, signal, revision))
      for (const { key, text } of keys) segments.push(parseSegment(key, text));
    return segments;
  }

  async prune(signal: AbortSignal): Promise<boolean> {
    const text = await this.#floorText(signal);
    if (text === undefined) return false;
    const [begin, end] = [bytes(logPrefix), bytes(logKey(parseFloor(text)))];
    const { kvs, more } = await this.#range(
      { key: begin, range_end: end, limit: pruneAtOnce, keys_only: true },
      signal,
    );
    const last = kvs.at(-1);
    if (!last) return false;
    // The floor as it was read: in an etcd that was restored meanwhile these events may not be sealed.
    const isFloor: ICompare = { key: bytes(floorKey), target: 'Value', result: 'Equal', value: bytes(text) };
    const upTo = Buffer.concat([last.key, Buffer.of(0)]);
    const success = [{ request_delete_range: { key: begin, range_end: upTo } }];
    const deletion = this.#client.kv.txn({ compare: [isFloor], success, failure: [] });
    await this.#try('written to', deletion, signal);
    return more;
  }

  async frozen(signal: AbortSignal): Promise<Frozen | undefined> {
    const { kvs } = await this.#range({ key: bytes(frozenKey) }, signal);
    return kvs[0] && parseFrozen(textOf(kvs[0]));
  }

  async freeze(why: Frozen, found: Head, signal: AbortSignal): Promise<void> {
    const key = bytes(frozenKey);
    const isFirst: ICompare = { key, target: 'Create', result: 'Equal', create_revision: '0' };
    const compare = [isFirst, ...sameEpoch(found)];
    const success = [{ request_put: { key, value: bytes(frozenText(why)) } }];
    await this.#try('written to', this.#client.kv.txn({ compare, success, failure: [] }), signal);
  }

  async thaw(signal: AbortSignal): Promise<void> {
    await this.#try('written to', this.#client.kv.deleteRange({ key: bytes(frozenKey) }), signal);
  }

  bell(signal: AbortSignal): AsyncIterable<void> {
    return bellOf(this.#client, headKey, signal);
  }

  async *keys(range: KeyRange, signal: AbortSignal, revision?: Revision): AsyncIterable<KeyPage> {
    const asked = revision === undefined ? undefined : String(revision);
    for await (const { kvs, revision: at } of this.#pages(range, signal, asked))
      yield { revision: BigInt(at), keys: kvs.map((kv) => ({ key: kv.key.toString('utf8'), text: textOf(kv) })) };
  }

  async #range(request: IRangeRequest, signal: AbortSignal) {
    signal.throwIfAborted();
    return await this.#try('read', this.#client.kv.range(request), signal);
  }

  async #try<Reply>(what: string, reply: Promise<Reply>, signal: AbortSignal): Promise<Reply> {
    try {
      // Whoever is elected in the meantime does not wait for an answer that nobody needs.
      return await unlessAborted(reply, signal);
    } catch (error) {
      signal.throwIfAborted();
      throw new IpledgerError('UNAVAILABLE', `etcd could not be ${what}: ${messageOf(error)}`, { cause: error });
    }
  }

  async #floorText(signal: AbortSignal): Promise<string | undefined> {
    const { kvs } = await this.#range({ key: bytes(floorKey) }, signal);
    return kvs[0] && textOf(kvs[0]);
  }

  /** Where the log begins that a range holds from its beginning. What stands there wrongly is for others to tell. */
  async #floorIn({ from, end }: KeyRange, signal: AbortSignal): Promise<Seq> {
    if (from > logPrefix || end <= logPrefix) return 1;
    const text = await this.#floorText(signal);
    try {
      return parseFloor(text);
    } catch {
      return 1;
    }
  }

  /** For an event that was looked for and is not there: because it is sealed? */
  async #refuseBelow(seq: Seq, signal: AbortSignal): Promise<void> {
    const floor = await this.floor(signal);
    if (seq >= floor) return;
    const { kvs } = await this.#range({ key: bytes(logKey(floor)) }, signal);
    refuseBelow(seq, floor, kvs[0] && textOf(kvs[0]));
  }

  /** The keys that begin with `prefix`, as of one revision. */
  async *#under(prefix: string, revision: string, signal: AbortSignal): AsyncIterable<IKeyValue[]> {
    for await (const { kvs } of this.#pages({ from: prefix, end: endOf(prefix) }, signal, revision)) yield kvs;
  }

  /** The keys of a range, as of one revision: the present one unless it is given. */
  async *#pages(
    range: KeyRange,
    signal: AbortSignal,
    asked?: string,
  ): AsyncIterable<{ readonly kvs: IKeyValue[]; readonly revision: string }> {
    let paging = { pageSize: keysOfFirstPage, floor: await this.#floorIn(range, signal) };
    let stretch = firstStretch(range, paging);
    let page = await this.#page(stretch, paging.pageSize, asked, signal);
    const revision = asked ?? page.header.revision;
    for (;;) {
      const { kvs, more } = page;
      const given = { keys: kvs.length, last: kvs.at(-1)?.key.toString('utf8') ?? '', more };
      const nextPageSize = keysOfNextPage(kvs.length, bytesOf(kvs));
      const following = stretchAfter(stretch, given, range.end, { ...paging, nextPageSize });
      // etcd reads the next page while this one is worked on.
      const next = following && this.#page(following, nextPageSize, revision, signal);
      next?.catch(() => undefined); // told when it is waited for, if it ever is
      yield { kvs, revision };
      if (!following || !next) return;
      [stretch, paging] = [following, { ...paging, pageSize: nextPageSize }];
      page = await next;
    }
  }

  /** One answer of etcd's. Where the keys are so large that the client does not take it, fewer are asked for. */
  async #page({ from, end }: Stretch, limit: number, revision: string | undefined, signal: AbortSignal) {
    for (let most = limit; ; most = Math.ceil(most / 16))
      try {
        const request = { key: bytes(from), range_end: bytes(end), limit: most, ...(revision && { revision }) };
        return await this.#range(request, signal);
      } catch (error) {
        if (most === 1 || !wasTooLarge(error)) throw error;
      }
  }
}

const bytesOf = (kvs: readonly IKeyValue[]): number =>
  kvs.reduce((sum, { key, value }) => sum + key.length + value.length, 0);

/** gRPC has no other sign of it than its sentence. */
const wasTooLarge = (thrown: unknown): boolean =>
  thrown instanceof IpledgerError && /larger than max/.test(thrown.message);

const lineOf = (kv: IKeyValue): StoredLine => ({ text: textOf(kv), revision: BigInt(kv.mod_revision) });

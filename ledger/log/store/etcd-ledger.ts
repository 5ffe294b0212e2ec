/** The ledger in etcd: the implementation of the ports in ledger.ts. */
import type { Etcd3, ICompare, IKeyValue } from 'etcd3';
import type { Segment, Seq } from '../../domain/events/event.ts';
import type { ClaimName } from '../../domain/state/claim.ts';
import { watchKey } from './head-watch.ts';
import { emptyHead, type Head } from '../chain/chain.ts';
import {
  addressPrefix,
  droppedPrefix,
  prefixEnd,
  logStartKey,
  freezeKey,
  headKey,
  logKey,
  logPrefix,
  poolPrefix,
  segmentKey,
  segmentPrefix,
  seqOfKey,
  subnetPrefix,
} from './keys.ts';
import {
  type FreezeReason,
  freezeText,
  parseDropped,
  parseLogStart,
  parseFreeze,
  parseHead,
  parsePool,
  parseSegment,
  parseSubnet,
  readClaim,
} from './stored-values.ts';
import {
  appendTransaction,
  toBytes,
  etcdLimits,
  outcomeOfError,
  compareEpoch,
  valueText,
  appendConflict,
} from './etcd-transaction.ts';
import { SharedClaimValues } from './shared-claim-values.ts';
import { isCompactedError } from './compaction.ts';
import { refuseSealedEvent } from './log-start.ts';
import { callEtcd, RangeReader } from './range-reader.ts';
import { callTransaction } from './txn-call.ts';
import { encodeTransaction } from './txn-encoding.ts';
import type {
  AppendOutcome,
  Batch,
  FreezeStore,
  KeyPage,
  KeyRange,
  Ledger,
  LoadedSnapshot,
  Revision,
  SealedLog,
  StoredLine,
} from './ledger.ts';

type LoadedClaim = LoadedSnapshot['claims'][number] & { readonly revision: Revision };

const maxParallelReads = 64;
/** Keys per deletion: few enough that an append does not wait long. */
const pruneBatchSize = 1_000;

export class EtcdLedger implements Ledger, SealedLog, FreezeStore {
  readonly limits = etcdLimits;
  readonly #client: Etcd3;
  readonly #reader: RangeReader;

  constructor(client: Etcd3) {
    this.#client = client;
    this.#reader = new RangeReader(client);
  }

  async load(signal: AbortSignal): Promise<LoadedSnapshot> {
    const { header, kvs } = await this.#reader.range({ key: toBytes(headKey) }, signal);
    const head = kvs[0] ? parseHead(valueText(kvs[0])) : emptyHead;
    const at = header.revision;
    const shared = new SharedClaimValues();
    const [claims, unreadable] = [[] as LoadedClaim[], [] as ClaimName[]];
    for await (const page of this.#reader.pagesUnder(addressPrefix, at, signal))
      for (const kv of page) {
        const { name, claim } = readClaim(kv.key.toString('utf8'), valueText(kv), shared);
        if (claim) claims.push({ ...name, claim, revision: BigInt(kv.mod_revision) });
        else unreadable.push(name);
      }
    const subnets = [];
    for await (const page of this.#reader.pagesUnder(subnetPrefix, at, signal))
      for (const kv of page) subnets.push(parseSubnet(kv.key.toString('utf8'), valueText(kv)));
    const pools = [];
    for await (const page of this.#reader.pagesUnder(poolPrefix, at, signal))
      for (const kv of page) pools.push(parsePool(kv.key.toString('utf8'), valueText(kv)));
    const dropped = [];
    for await (const page of this.#reader.pagesUnder(droppedPrefix, at, signal))
      for (const kv of page) dropped.push(parseDropped(kv.key.toString('utf8'), valueText(kv)));
    const segments = await this.#segments(1, signal, BigInt(at));
    return { ledger: head.ledger, segments, head, claims, revisions: claims, unreadable, dropped, subnets, pools };
  }

  async append(batch: Batch): Promise<AppendOutcome> {
    try {
      const outcome = await callTransaction(this.#client, encodeTransaction(appendTransaction(batch)));
      if (outcome.succeeded) return { kind: 'appended', revision: outcome.revision };
      return appendConflict(batch, outcome.reply);
    } catch (error) {
      return outcomeOfError(error);
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
        // Events never change, so the rest can be read at a newer revision.
        if (!isCompactedError(error)) throw error;
      }
  }

  async *#readAtOneRevision(from: Seq, signal: AbortSignal): AsyncIterable<IKeyValue[]> {
    let isFirst = true;
    for await (const { kvs: page } of this.#reader.pages({ from: logKey(from), end: prefixEnd(logPrefix) }, signal)) {
      if (isFirst && page[0]?.key.toString('utf8') !== logKey(from)) await this.#refuseSealed(from, signal);
      isFirst = false;
      if (page.length > 0) yield page;
    }
  }

  async readEach(seqs: readonly Seq[], signal: AbortSignal): Promise<readonly (StoredLine | undefined)[]> {
    const lines: (StoredLine | undefined)[] = [];
    for (let first = 0; first < seqs.length; first += maxParallelReads) {
      const reads = seqs.slice(first, first + maxParallelReads).map((seq) => this.#reader.get(logKey(seq), signal));
      for (const kv of await Promise.all(reads)) lines.push(kv && lineOf(kv));
    }
    const missing = seqs.filter((seq, index) => seq >= 1 && !lines[index]);
    if (missing.length > 0) await this.#refuseSealed(Math.min(...missing), signal);
    return lines;
  }

  async head(signal: AbortSignal): Promise<Head> {
    const kv = await this.#reader.get(headKey, signal);
    return kv ? parseHead(valueText(kv)) : emptyHead;
  }

  async logStart(signal: AbortSignal): Promise<Seq> {
    return parseLogStart(await this.#logStartText(signal));
  }

  segments(from: Seq, signal: AbortSignal): Promise<readonly Segment[]> {
    return this.#segments(from, signal);
  }

  async #segments(from: Seq, signal: AbortSignal, revision?: Revision): Promise<readonly Segment[]> {
    const segments: Segment[] = [];
    for await (const { keys } of this.keys({ from: segmentKey(from), end: prefixEnd(segmentPrefix) }, signal, revision))
      for (const { key, text } of keys) segments.push(parseSegment(key, text));
    return segments;
  }

  async prune(signal: AbortSignal): Promise<boolean> {
    const text = await this.#logStartText(signal);
    if (text === undefined) return false;
    const [begin, end] = [toBytes(logPrefix), toBytes(logKey(parseLogStart(text)))];
    const { kvs, more } = await this.#reader.range(
      { key: begin, range_end: end, limit: pruneBatchSize, keys_only: true },
      signal,
    );
    const last = kvs.at(-1);
    if (!last) return false;
    // Only if the log start is as read: in an etcd restored since, these events may not be sealed.
    const isLogStart: ICompare = { key: toBytes(logStartKey), target: 'Value', result: 'Equal', value: toBytes(text) };
    const upTo = Buffer.concat([last.key, Buffer.of(0)]);
    const success = [{ request_delete_range: { key: begin, range_end: upTo } }];
    const deletion = this.#client.kv.txn({ compare: [isLogStart], success, failure: [] });
    await callEtcd('written to', deletion, signal);
    return more;
  }

  async readFreeze(signal: AbortSignal): Promise<FreezeReason | undefined> {
    const kv = await this.#reader.get(freezeKey, signal);
    return kv && parseFreeze(valueText(kv));
  }

  async freeze(reason: FreezeReason, found: Head, signal: AbortSignal): Promise<void> {
    const key = toBytes(freezeKey);
    const isFirst: ICompare = { key, target: 'Create', result: 'Equal', create_revision: '0' };
    const compare = [isFirst, ...compareEpoch(found)];
    const success = [{ request_put: { key, value: toBytes(freezeText(reason)) } }];
    await callEtcd('written to', this.#client.kv.txn({ compare, success, failure: [] }), signal);
  }

  async unfreeze(signal: AbortSignal): Promise<void> {
    await callEtcd('written to', this.#client.kv.deleteRange({ key: toBytes(freezeKey) }), signal);
  }

  watchHead(signal: AbortSignal): AsyncIterable<void> {
    return watchKey(this.#client, headKey, signal);
  }

  async *keys(range: KeyRange, signal: AbortSignal, revision?: Revision): AsyncIterable<KeyPage> {
    const requested = revision === undefined ? undefined : String(revision);
    for await (const { kvs, revision: at } of this.#reader.pages(range, signal, requested))
      yield { revision: BigInt(at), keys: kvs.map((kv) => ({ key: kv.key.toString('utf8'), text: valueText(kv) })) };
  }

  async #logStartText(signal: AbortSignal): Promise<string | undefined> {
    const kv = await this.#reader.get(logStartKey, signal);
    return kv && valueText(kv);
  }

  /** @throws IpledgerError POSITION_GONE if the missing event `seq` is sealed. */
  async #refuseSealed(seq: Seq, signal: AbortSignal): Promise<void> {
    const logStart = await this.logStart(signal);
    if (seq >= logStart) return;
    const kv = await this.#reader.get(logKey(logStart), signal);
    refuseSealedEvent(seq, logStart, kv && valueText(kv));
  }
}

const lineOf = (kv: IKeyValue): StoredLine => ({ text: valueText(kv), revision: BigInt(kv.mod_revision) });

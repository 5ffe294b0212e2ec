/** The ledger in etcd: implements the interfaces of ledger.ts. */
import type { Etcd3, ICompare } from 'etcd3';
import { droppedSegment, type Segment, type Seq } from '../../domain/values/ledger.ts';
import { watchKey } from './head-watch.ts';
import { emptyHead, type Head, parseEvent } from '../chain/chain.ts';
import {
  addressPrefix,
  droppedPrefix,
  endedPrefix,
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
import { parseEnded } from './ended-keys.ts';
import {
  type FreezeReason,
  nextFreezeText,
  parseDropped,
  parseLogStart,
  parseFreeze,
  parseAnyHead,
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
  appendConflict,
} from './etcd-transaction.ts';
import { isCompactedError } from './compaction.ts';
import { callEtcd, RangeReader } from './range-reader.ts';
import type { EtcdKey } from './range-decoding.ts';
import { callTransaction } from './etcd-call.ts';
import { encodeTransaction } from './txn-encoding.ts';
import type {
  AcceptedHeads,
  AppendOutcome,
  Batch,
  FreezeStore,
  KeyPage,
  KeyRange,
  Ledger,
  LoadedClaim,
  LoadedSnapshot,
  RestoreEvidence,
  Revision,
  SealedLog,
  StoredLine,
} from './ledger.ts';
import { IpledgerError } from '../../../lib/errors.ts';

const maxParallelReads = 64;
/** The keys of one deletion: so few that an append does not wait long. */
const pruneBatchSize = 1_000;

export class EtcdLedger implements Ledger, SealedLog, FreezeStore, RestoreEvidence {
  readonly limits = etcdLimits;
  readonly #client: Etcd3;
  readonly #reader: RangeReader;

  constructor(client: Etcd3) {
    this.#client = client;
    this.#reader = new RangeReader(client);
  }

  async load(signal: AbortSignal, heads: AcceptedHeads = 'complete'): Promise<LoadedSnapshot> {
    const { revision: at, keys } = await this.#reader.range({ key: toBytes(headKey) }, signal);
    const parse = heads === 'any' ? parseAnyHead : parseHead;
    const head = keys[0] ? parse(keys[0].text) : emptyHead;
    const subnets = [];
    for await (const page of this.#reader.pagesUnder(subnetPrefix, at, signal))
      for (const { key, text } of page) subnets.push(parseSubnet(key, text));
    const pools = [];
    for await (const page of this.#reader.pagesUnder(poolPrefix, at, signal))
      for (const { key, text } of page) pools.push(parsePool(key, text));
    const dropped = [];
    for await (const page of this.#reader.pagesUnder(droppedPrefix, at, signal))
      for (const { key, text } of page) dropped.push(parseDropped(key, text));
    const endedKeys = [];
    for await (const page of this.#reader.pagesUnder(endedPrefix, at, signal)) endedKeys.push(...page);
    const ended = parseEnded(endedKeys);
    const segments = await this.#segments(1, signal, BigInt(at));
    return { ledger: head.ledger, segments, head, claims: this.#claims(at, signal), dropped, ended, subnets, pools };
  }

  async *#claims(revision: number, signal: AbortSignal): AsyncIterable<Iterable<LoadedClaim>> {
    for await (const page of this.#reader.pagesUnder(addressPrefix, revision, signal)) yield claimsOf(page);
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
          next = (seqOfKey(page.at(-1)?.key ?? '') ?? next) + 1;
        }
        isRead = true;
      } catch (error) {
        // Events never change, so the remaining ones can be read at a newer revision.
        if (!isCompactedError(error)) throw error;
      }
  }

  async *#readAtOneRevision(from: Seq, signal: AbortSignal): AsyncIterable<readonly EtcdKey[]> {
    let isFirst = true;
    for await (const { keys: page } of this.#reader.pages({ from: logKey(from), end: prefixEnd(logPrefix) }, signal)) {
      if (isFirst && page[0]?.key !== logKey(from)) await this.#refuseSealed(from, signal);
      isFirst = false;
      if (page.length > 0) yield page;
    }
  }

  async readEach(seqs: readonly Seq[], signal: AbortSignal): Promise<readonly (StoredLine | undefined)[]> {
    const lines: (StoredLine | undefined)[] = [];
    for (let first = 0; first < seqs.length; first += maxParallelReads) {
      const reads = seqs.slice(first, first + maxParallelReads).map((seq) => this.#reader.get(logKey(seq), signal));
      for (const found of await Promise.all(reads)) lines.push(found && lineOf(found));
    }
    const missing = seqs.filter((seq, index) => seq >= 1 && !lines[index]);
    if (missing.length > 0) await this.#refuseSealed(Math.min(...missing), signal);
    return lines;
  }

  async head(signal: AbortSignal): Promise<Head> {
    const found = await this.#reader.get(headKey, signal);
    return found ? parseHead(found.text) : emptyHead;
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
    // Reads the keys as bytes. Another program's key may not be UTF-8.
    const sealed = { key: begin, range_end: end, limit: pruneBatchSize, keys_only: true };
    const { kvs, more } = await callEtcd('read', this.#client.kv.range(sealed), signal);
    const last = kvs.at(-1);
    if (!last) return false;
    // If the log start has changed, etcd was restored, and these events may not be sealed.
    const isLogStart: ICompare = { key: toBytes(logStartKey), target: 'Value', result: 'Equal', value: toBytes(text) };
    const upTo = Buffer.concat([last.key, Buffer.of(0)]);
    const success = [{ request_delete_range: { key: begin, range_end: upTo } }];
    const deletion = this.#client.kv.txn({ compare: [isLogStart], success, failure: [] });
    await callEtcd('written to', deletion, signal);
    return more;
  }

  async readFreeze(signal: AbortSignal): Promise<FreezeReason | undefined> {
    const found = await this.#reader.get(freezeKey, signal);
    return found && parseFreeze(found.text);
  }

  async freeze(reason: FreezeReason, found: Head, signal: AbortSignal): Promise<void> {
    const key = toBytes(freezeKey);
    for (let last = -1; ;) {
      const current = await this.#reader.get(freezeKey, signal);
      const { text, modRevision } = current ?? { modRevision: 0 };
      const next = nextFreezeText(text, reason);
      // After a failed transaction, an unchanged key shows that the ledger has another epoch
      if (next === undefined || modRevision === last) return;
      const isUnchanged: ICompare = { key, target: 'Mod', result: 'Equal', mod_revision: String(modRevision) };
      const compare = [isUnchanged, ...compareEpoch(found)];
      const success = [{ request_put: { key, value: toBytes(next) } }];
      const frozen = this.#client.kv.txn({ compare, success, failure: [] });
      if ((await callEtcd('written to', frozen, signal)).succeeded) return;
      last = modRevision;
    }
  }

  async revisionsSinceHead(signal: AbortSignal): Promise<number> {
    const { revision, keys } = await this.#reader.range({ key: toBytes(headKey) }, signal);
    return keys[0] ? revision - keys[0].modRevision : 0;
  }

  async unfreeze(signal: AbortSignal): Promise<void> {
    await callEtcd('written to', this.#client.kv.deleteRange({ key: toBytes(freezeKey) }), signal);
  }

  watchHead(signal: AbortSignal): AsyncIterable<void> {
    return watchKey(this.#client, headKey, signal);
  }

  async *keys(range: KeyRange, signal: AbortSignal, revision?: Revision): AsyncIterable<KeyPage> {
    const requested = revision === undefined ? undefined : Number(revision);
    for await (const { keys, revision: at } of this.#reader.pages(range, signal, requested))
      yield { revision: BigInt(at), keys };
  }

  async #logStartText(signal: AbortSignal): Promise<string | undefined> {
    return (await this.#reader.get(logStartKey, signal))?.text;
  }

  /** @throws IpledgerError POSITION_GONE if the missing event `seq` is sealed. */
  async #refuseSealed(seq: Seq, signal: AbortSignal): Promise<void> {
    const logStart = await this.logStart(signal);
    if (seq >= logStart) return;
    const segmentKeys = { key: toBytes(segmentPrefix), range_end: toBytes(prefixEnd(segmentPrefix)), limit: 1 };
    const [first] = (await this.#reader.range(segmentKeys, signal)).keys;
    refuseDroppedEvent(seq, first ? [parseSegment(first.key, first.text)] : []);
    refuseSealedEvent(seq, logStart, (await this.#reader.get(logKey(logStart), signal))?.text);
  }
}

/** Parses each claim only when it is reached, because parsed claims take more memory than texts. */
function* claimsOf(page: readonly EtcdKey[]): Generator<LoadedClaim> {
  for (const { key, text, modRevision } of page) {
    const { name, claim } = readClaim(key, text);
    yield { name, claim, revision: BigInt(modRevision) };
  }
}

const lineOf = ({ key, text, modRevision }: EtcdKey): StoredLine => ({ key, text, revision: BigInt(modRevision) });

/**
 * Rejects a read of an event before the beginning of the history.
 * @throws IpledgerError POSITION_GONE with the first event and the limit.
 */
export function refuseDroppedEvent(seq: Seq, segments: readonly Segment[]): void {
  const last = droppedSegment(segments);
  if (!last || seq > last.to) return;
  throw new IpledgerError(
    'POSITION_GONE',
    `the history begins with event ${last.to + 1}, after ${last.until}: older events were dropped (archive: ${last.archive}). Event ${seq} is one of them`,
  );
}

/**
 * Rejects a read of a sealed event if the archive is not available.
 * @param logStart the first event in etcd; `firstLine` is its line.
 * @throws IpledgerError POSITION_GONE with the log start and its time.
 */
export function refuseSealedEvent(seq: Seq, logStart: Seq, firstLine: string | undefined): never {
  const since = firstLine === undefined ? '' : ` of ${parseEvent(firstLine).envelope.at}`;
  throw new IpledgerError(
    'POSITION_GONE',
    `event ${seq} is sealed and no longer in etcd. The first event in etcd is ${logStart}${since}. Begin with event ${logStart}, or use an allocator that has the archive (--archive)`,
  );
}

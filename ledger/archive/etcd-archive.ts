/**
 * An archive of limited size in etcd itself. A packed segment takes about a tenth of the bytes of
 * its events, so the history lasts about ten times as long as without an archive. A file is split
 * into chunks, and each chunk is the value of one key:
 *   /ipledger/archive/v1/<name of the file>/<chunk, 6 digits>
 * These keys are outside the prefix of the ledger, so its other readers do not see them. Only the
 * writer writes segments.
 */
import type { Etcd3, IRangeRequest, IRangeResponse } from 'etcd3';
import { callEtcd } from '../log/store/range-reader.ts';
import { toBytes } from '../log/store/etcd-transaction.ts';
import { prefixEnd } from '../log/store/keys.ts';
import { type BoundedArchive, damagedFile } from './archive.ts';

const archivePrefix = '/ipledger/archive/v1/';

/**
 * A chunk fits into one page of etcd. A larger one needs adjacent free pages, which get rare: with
 * 16 KiB the file of etcd grew without end, until its quota was full.
 */
const chunkBytes = 3_800;
/** A transaction with this many chunks delays a concurrent append by a few milliseconds. */
const chunksPerPut = 32;
/** So many chunks stay below the client's limit of 32 MiB: a value has 1.5 MiB at most. */
const chunksPerRead = 16;

export class EtcdArchive implements BoundedArchive {
  readonly location: string;
  readonly maxBytes: number;
  readonly #client: Etcd3;

  /**
   * @param maxBytes limit of all files, beyond which the oldest segments are dropped; none for a
   * reader
   */
  constructor(client: Etcd3, maxBytes = Infinity) {
    this.#client = client;
    this.maxBytes = maxBytes;
    this.location = maxBytes === Infinity ? 'etcd' : `etcd, at most ${Math.round(maxBytes / 2 ** 20)} MiB`;
  }

  async put(name: string, content: Buffer, signal: AbortSignal): Promise<void> {
    const chunks = Math.ceil(content.length / chunkBytes);
    for (let first = 0; first < chunks; first += chunksPerPut) {
      const numbers = Array.from({ length: Math.min(chunksPerPut, chunks - first) }, (_, index) => first + index);
      const success = numbers.map((number) => ({
        request_put: {
          key: toBytes(chunkKey(name, number)),
          value: content.subarray(number * chunkBytes, (number + 1) * chunkBytes),
        },
      }));
      signal.throwIfAborted();
      await callEtcd('written to', this.#client.kv.txn({ compare: [], success, failure: [] }), signal);
    }
  }

  async get(name: string, maxBytes: number, signal: AbortSignal): Promise<Buffer | undefined> {
    const end = toBytes(prefixEnd(`${archivePrefix}${name}/`));
    const chunks: Buffer[] = [];
    let bytes = 0;
    for (let [key, more] = [toBytes(chunkKey(name, 0)), true]; more;) {
      const page = await this.#range({ key, range_end: end, limit: chunksPerRead }, signal);
      for (const { value } of page.kvs) {
        bytes += value.length;
        if (bytes > maxBytes) throw damagedFile(`${archivePrefix}${name}`, `it has more than ${maxBytes} bytes`);
        chunks.push(value);
      }
      const last = page.kvs.at(-1);
      more = page.more && last !== undefined;
      if (last) key = Buffer.concat([last.key, Buffer.of(0)]);
    }
    return chunks.length > 0 ? Buffer.concat(chunks) : undefined;
  }

  /** The bytes of all files, each rounded up to whole chunks. */
  async size(signal: AbortSignal): Promise<number> {
    const range = { key: toBytes(archivePrefix), range_end: toBytes(prefixEnd(archivePrefix)), count_only: true };
    return Number((await this.#range(range, signal)).count) * chunkBytes;
  }

  async deleteBefore(folder: string, name: string, signal: AbortSignal): Promise<void> {
    const range = { key: toBytes(archivePrefix + folder), range_end: toBytes(archivePrefix + name) };
    signal.throwIfAborted();
    await callEtcd('written to', this.#client.kv.deleteRange(range), signal);
  }

  #range(request: IRangeRequest, signal: AbortSignal): Promise<IRangeResponse> {
    signal.throwIfAborted();
    return callEtcd('read', this.#client.kv.range(request), signal);
  }
}

const chunkKey = (name: string, chunk: number): string => `${archivePrefix}${name}/${String(chunk).padStart(6, '0')}`;

/**
 * An archive in etcd itself, of limited size. A packed segment takes about a tenth of its events,
 * so the history lasts about ten times as long as without an archive. A file is cut into chunks,
 * each the value of one key:
 *   /ipledger/archive/v1/<name of the file>/<chunk, 5 digits>
 * These keys are beside the prefix of the ledger: no other reader of the ledger sees them. Only the
 * writer writes segments.
 */
import type { Etcd3, IRangeRequest, IRangeResponse } from 'etcd3';
import { callEtcd } from '../log/store/range-reader.ts';
import { toBytes } from '../log/store/etcd-transaction.ts';
import { prefixEnd } from '../log/store/keys.ts';
import { type BoundedArchive, damagedFile } from './archive.ts';

/** The prefix of all files. */
const archivePrefix = '/ipledger/archive/v1/';

/**
 * Pages that are freed for a chunk are reused only where enough of them are adjacent, so a chunk
 * has few.
 */
const chunkBytes = 16 << 10;
/** A transaction with so many chunks delays an append beside it by a few milliseconds. */
const chunksPerPut = 8;
/** The client accepts 32 MiB, and no value has more than 1.5 MiB. */
const chunksPerRead = 16;

export class EtcdArchive implements BoundedArchive {
  readonly location: string;
  readonly maxBytes: number;
  readonly #client: Etcd3;

  /**
   * @param maxBytes of all files, beyond which the oldest segments are dropped; undefined for a
   * reader.
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

  /** The bytes of all files, each rounded up to complete chunks. */
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

const chunkKey = (name: string, chunk: number): string => `${archivePrefix}${name}/${String(chunk).padStart(5, '0')}`;

/** Reads ranges of keys from etcd, in pages of one revision. */
import type { Etcd3, IRangeRequest } from 'etcd3';
import { setImmediate } from 'node:timers/promises';
import { rejectWhenAborted } from '../../../lib/process/abortable.ts';
import { IpledgerError } from '../../../lib/errors.ts';
import type { Seq } from '../../domain/values/ledger.ts';
import { callKv } from './etcd-call.ts';
import { etcdErrorMessage, toBytes } from './etcd-transaction.ts';
import { logPrefix, logStartKey, prefixEnd } from './keys.ts';
import type { KeyRange } from './ledger.ts';
import { decodeRangeReply, type EtcdKey, type RangeReply } from './range-decoding.ts';
import { firstPageKeys, firstPageRange, nextPageKeys, nextPageRange, type PageRange } from './range-pages.ts';
import { parseLogStart } from './stored-values.ts';

export interface EtcdPage {
  readonly keys: readonly EtcdKey[];
  /** The revision of all pages. */
  readonly revision: number;
}

/** Every method throws IpledgerError UNAVAILABLE or, when the signal is aborted, an AbortError. */
export class RangeReader {
  readonly #client: Etcd3;

  constructor(client: Etcd3) {
    this.#client = client;
  }

  /** One request. */
  async range(request: IRangeRequest, signal: AbortSignal): Promise<RangeReply> {
    return decodeRangeReply(await this.#send(request, signal));
  }

  /** One key; undefined if it does not exist. */
  async get(key: string, signal: AbortSignal): Promise<EtcdKey | undefined> {
    const { keys } = await this.range({ key: toBytes(key) }, signal);
    return keys[0];
  }

  /** The keys with a prefix, as of one revision. */
  async *pagesUnder(prefix: string, revision: number, signal: AbortSignal): AsyncIterable<readonly EtcdKey[]> {
    for await (const { keys } of this.pages({ from: prefix, end: prefixEnd(prefix) }, signal, revision)) yield keys;
  }

  /** The keys of a range, as of one revision. Default: the current one. */
  async *pages(range: KeyRange, signal: AbortSignal, requestedRevision?: number): AsyncIterable<EtcdPage> {
    let paging = { pageSize: firstPageKeys, logStart: await this.#logStartOf(range, signal) };
    let pageRange = firstPageRange(range, paging);
    let message = await this.#page(pageRange, paging.pageSize, requestedRevision, signal);
    let revision = requestedRevision;
    for (;;) {
      const page = decodeRangeReply(message);
      const { keys, more, bytes } = page;
      revision ??= page.revision;
      const received = { keys: keys.length, last: keys.at(-1)?.key ?? '', more };
      const nextPageSize = nextPageKeys(keys.length, bytes);
      const nextRange = nextPageRange(pageRange, received, range.end, { ...paging, nextPageSize });
      // etcd reads the next page while the caller processes this one.
      const nextMessage = nextRange && this.#page(nextRange, nextPageSize, revision, signal);
      nextMessage?.catch(() => undefined); // the await below throws it, if the caller continues
      if (nextMessage) await setImmediate(); // the request is only sent after a turn of the event loop
      yield { keys, revision };
      if (!nextRange || !nextMessage) return;
      [pageRange, paging] = [nextRange, { ...paging, pageSize: nextPageSize }];
      message = await nextMessage;
    }
  }

  /** The bytes of one reply, decoded on demand. Large keys make the client request fewer. */
  async #page({ from, end }: PageRange, limit: number, revision: number | undefined, signal: AbortSignal) {
    for (let maxKeys = limit; ; maxKeys = Math.ceil(maxKeys / 16))
      try {
        const request = { key: toBytes(from), range_end: toBytes(end), limit: maxKeys, ...(revision && { revision }) };
        return await this.#send(request, signal);
      } catch (error) {
        if (maxKeys === 1 || !isTooLargeError(error)) throw error;
      }
  }

  async #send(request: IRangeRequest, signal: AbortSignal): Promise<Buffer> {
    signal.throwIfAborted();
    const reply = callKv<IRangeRequest, unknown, Buffer>(this.#client, {
      method: 'Range',
      encode: ({ requestSerialize }) => requestSerialize(request),
      decode: (bytes) => bytes,
    });
    return await callEtcd('read', reply, signal);
  }

  /** The log's first event, if the range contains it. A damaged key counts as 1. */
  async #logStartOf({ from, end }: KeyRange, signal: AbortSignal): Promise<Seq> {
    if (from > logPrefix || end <= logPrefix) return 1;
    const found = await this.get(logStartKey, signal);
    try {
      return parseLogStart(found?.text);
    } catch {
      return 1;
    }
  }
}

/**
 * Waits for a reply of etcd, and no longer than the signal allows.
 * @throws IpledgerError UNAVAILABLE; the signal's reason
 */
export async function callEtcd<Reply>(
  action: 'read' | 'written to',
  reply: Promise<Reply>,
  signal: AbortSignal,
): Promise<Reply> {
  try {
    // A standby that is elected does not wait for the reply to an earlier read.
    return await rejectWhenAborted(reply, signal);
  } catch (error) {
    signal.throwIfAborted();
    throw new IpledgerError('UNAVAILABLE', `etcd could not be ${action}: ${etcdErrorMessage(error)}`, { cause: error });
  }
}

/** gRPC reports this only in the text of the error. */
const isTooLargeError = (thrown: unknown): boolean =>
  thrown instanceof IpledgerError && /larger than max/.test(thrown.message);

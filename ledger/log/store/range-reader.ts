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

/** Reads ranges. Every method throws IpledgerError UNAVAILABLE, or an AbortError after an abort. */
export class RangeReader {
  readonly #client: Etcd3;

  constructor(client: Etcd3) {
    this.#client = client;
  }

  /** Sends one request. */
  async range(request: IRangeRequest, signal: AbortSignal): Promise<RangeReply> {
    return decodeRangeReply(await this.#send(request, signal));
  }

  /** Reads one key; undefined if it does not exist. */
  async get(key: string, signal: AbortSignal): Promise<EtcdKey | undefined> {
    const { keys } = await this.range({ key: toBytes(key) }, signal);
    return keys[0];
  }

  /** Reads the keys with a prefix at one revision. */
  async *pagesUnder(prefix: string, revision: number, signal: AbortSignal): AsyncIterable<readonly EtcdKey[]> {
    for await (const { keys } of this.pages({ from: prefix, end: prefixEnd(prefix) }, signal, revision)) yield keys;
  }

  /** Reads the keys of a range at one revision. Default: the current revision. */
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
      // Requests the next page now, so that etcd reads it while the caller processes this page.
      const nextMessage = nextRange && this.#page(nextRange, nextPageSize, revision, signal);
      nextMessage?.catch(() => undefined); // the await below throws it, if the caller continues
      if (nextMessage) await setImmediate(); // the request is only sent after a turn of the event loop
      yield { keys, revision };
      if (!nextRange || !nextMessage) return;
      [pageRange, paging] = [nextRange, { ...paging, pageSize: nextPageSize }];
      message = await nextMessage;
    }
  }

  /** Requests one page. Requests fewer keys if large values make the reply too large. */
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

  /** The first event of the log, if the range contains it. A damaged key counts as 1. */
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
 * Waits for a reply of etcd, but only until the signal is aborted.
 * @throws IpledgerError UNAVAILABLE; the signal's reason
 */
export async function callEtcd<Reply>(
  action: 'read' | 'written to',
  reply: Promise<Reply>,
  signal: AbortSignal,
): Promise<Reply> {
  try {
    // A standby that is elected must not wait for the reply to an earlier read.
    return await rejectWhenAborted(reply, signal);
  } catch (error) {
    signal.throwIfAborted();
    throw new IpledgerError('UNAVAILABLE', `etcd could not be ${action}: ${etcdErrorMessage(error)}`, { cause: error });
  }
}

/** Recognises the error by its text, because gRPC reports it in no other way. */
const isTooLargeError = (thrown: unknown): boolean =>
  thrown instanceof IpledgerError && /larger than max/.test(thrown.message);

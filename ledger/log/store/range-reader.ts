/** Reads ranges of keys from etcd, in pages of one revision. */
import type { Etcd3, IKeyValue, IRangeRequest } from 'etcd3';
import { rejectWhenAborted } from '../../../lib/process/abortable.ts';
import { IpledgerError } from '../../../lib/errors.ts';
import type { Seq } from '../../domain/events/event.ts';
import { etcdErrorMessage, toBytes, valueText } from './etcd-transaction.ts';
import { logPrefix, logStartKey, prefixEnd } from './keys.ts';
import type { KeyRange } from './ledger.ts';
import { firstPageKeys, firstPageRange, nextPageKeys, nextPageRange, type PageRange } from './range-pages.ts';
import { parseLogStart } from './stored-values.ts';

export interface EtcdPage {
  readonly kvs: IKeyValue[];
  readonly revision: string;
}

/** Every method throws IpledgerError UNAVAILABLE or, when the signal is aborted, an AbortError. */
export class RangeReader {
  readonly #client: Etcd3;

  constructor(client: Etcd3) {
    this.#client = client;
  }

  /** One request. */
  async range(request: IRangeRequest, signal: AbortSignal) {
    signal.throwIfAborted();
    return await callEtcd('read', this.#client.kv.range(request), signal);
  }

  /** One key; undefined if it does not exist. */
  async get(key: string, signal: AbortSignal): Promise<IKeyValue | undefined> {
    const { kvs } = await this.range({ key: toBytes(key) }, signal);
    return kvs[0];
  }

  /** The keys with a prefix, as of one revision. */
  async *pagesUnder(prefix: string, revision: string, signal: AbortSignal): AsyncIterable<IKeyValue[]> {
    for await (const { kvs } of this.pages({ from: prefix, end: prefixEnd(prefix) }, signal, revision)) yield kvs;
  }

  /** The keys of a range, as of one revision. Default: the current one. */
  async *pages(range: KeyRange, signal: AbortSignal, requestedRevision?: string): AsyncIterable<EtcdPage> {
    let paging = { pageSize: firstPageKeys, logStart: await this.#logStartOf(range, signal) };
    let pageRange = firstPageRange(range, paging);
    let page = await this.#page(pageRange, paging.pageSize, requestedRevision, signal);
    const revision = requestedRevision ?? page.header.revision;
    for (;;) {
      const { kvs, more } = page;
      const received = { keys: kvs.length, last: kvs.at(-1)?.key.toString('utf8') ?? '', more };
      const nextPageSize = nextPageKeys(kvs.length, bytesOf(kvs));
      const nextRange = nextPageRange(pageRange, received, range.end, { ...paging, nextPageSize });
      // etcd reads the next page while the caller processes this one.
      const nextPage = nextRange && this.#page(nextRange, nextPageSize, revision, signal);
      nextPage?.catch(() => undefined); // the await below throws it, if the caller continues
      yield { kvs, revision };
      if (!nextRange || !nextPage) return;
      [pageRange, paging] = [nextRange, { ...paging, pageSize: nextPageSize }];
      page = await nextPage;
    }
  }

  /** One reply. When the keys are too large for the client, it requests fewer. */
  async #page({ from, end }: PageRange, limit: number, revision: string | undefined, signal: AbortSignal) {
    for (let maxKeys = limit; ; maxKeys = Math.ceil(maxKeys / 16))
      try {
        const request = { key: toBytes(from), range_end: toBytes(end), limit: maxKeys, ...(revision && { revision }) };
        return await this.range(request, signal);
      } catch (error) {
        if (maxKeys === 1 || !isTooLargeError(error)) throw error;
      }
  }

  /** The first event of the log, for a range that contains the beginning of the log. A damaged key counts as 1. */
  async #logStartOf({ from, end }: KeyRange, signal: AbortSignal): Promise<Seq> {
    if (from > logPrefix || end <= logPrefix) return 1;
    const kv = await this.get(logStartKey, signal);
    try {
      return parseLogStart(kv && valueText(kv));
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

const bytesOf = (kvs: readonly IKeyValue[]): number =>
  kvs.reduce((sum, { key, value }) => sum + key.length + value.length, 0);

/** gRPC reports this only in the text of the error. */
const isTooLargeError = (thrown: unknown): boolean =>
  thrown instanceof IpledgerError && /larger than max/.test(thrown.message);

/**
 * The floor of the rows that read many keys: a paged range read with the client package etcd3. It
 * requests the same pages as ipledger's own reader, one page ahead, and decodes keys and values as
 * texts. It shares nothing else with that reader: a change of decoding or scheduling does not
 * change the floor, and better pages make the floor faster, too.
 */
import type { Etcd3, IKeyValue, IRangeRequest } from 'etcd3';
import { rejectWhenAborted } from '../../lib/process/abortable.ts';
import type { Seq } from '../../ledger/domain/values/ledger.ts';
import { logKey, logPrefix, logStartKey } from '../../ledger/log/store/keys.ts';
import type { KeyRange, StoredKey } from '../../ledger/log/store/ledger.ts';
import {
  firstPageKeys,
  firstPageRange,
  nextPageKeys,
  nextPageRange,
  type PageRange,
} from '../../ledger/log/store/range-pages.ts';
import { parseLogStart } from '../../ledger/log/store/stored-values.ts';

/** The most reads of a request: etcd's limit of operations. */
const maxReads = 128;

export class PlainReader {
  readonly #client: Etcd3;

  constructor(client: Etcd3) {
    this.#client = client;
  }

  /** The keys of a range, page by page, as of one revision. */
  async *pages(range: KeyRange, signal: AbortSignal): AsyncGenerator<readonly StoredKey[]> {
    let paging = { pageSize: firstPageKeys, logStart: await this.#logStartOf(range, signal) };
    let pageRange = firstPageRange(range, paging);
    let page = await this.#page(pageRange, paging.pageSize, undefined, signal);
    const { revision } = page.header;
    for (;;) {
      const { kvs, more } = page;
      const received = { keys: kvs.length, last: kvs.at(-1)?.key.toString('utf8') ?? '', more };
      const nextPageSize = nextPageKeys(kvs.length, bytesOf(kvs));
      const nextRange = nextPageRange(pageRange, received, range.end, { ...paging, nextPageSize });
      const nextPage = nextRange && this.#page(nextRange, nextPageSize, revision, signal);
      nextPage?.catch(() => undefined); // the await below throws it
      yield kvs.map(storedKey);
      if (!nextRange || !nextPage) return;
      [pageRange, paging] = [nextRange, { ...paging, pageSize: nextPageSize }];
      page = await nextPage;
    }
  }

  /**
   * Reads the values of these events in as few requests as etcd allows, all at the same time;
   * undefined for a missing event.
   */
  async readEach(seqs: readonly Seq[], signal: AbortSignal): Promise<(string | undefined)[]> {
    signal.throwIfAborted();
    const requests: Promise<(string | undefined)[]>[] = [];
    for (let first = 0; first < seqs.length; first += maxReads)
      requests.push(rejectWhenAborted(this.#readTogether(seqs.slice(first, first + maxReads)), signal));
    return (await Promise.all(requests)).flat();
  }

  async #readTogether(seqs: readonly Seq[]): Promise<(string | undefined)[]> {
    const success = seqs.map((seq) => ({ request_range: { key: toBytes(logKey(seq)) } }));
    const { responses } = await this.#client.kv.txn({ compare: [], success, failure: [] });
    return responses.map(({ response_range: range }) => range.kvs[0]?.value.toString('utf8'));
  }

  #page({ from, end }: PageRange, limit: number, revision: string | undefined, signal: AbortSignal) {
    return this.#range({ key: toBytes(from), range_end: toBytes(end), limit, ...(revision && { revision }) }, signal);
  }

  async #range(request: IRangeRequest, signal: AbortSignal) {
    signal.throwIfAborted();
    return await rejectWhenAborted(this.#client.kv.range(request), signal);
  }

  async #get(key: string, signal: AbortSignal): Promise<IKeyValue | undefined> {
    const { kvs } = await this.#range({ key: toBytes(key) }, signal);
    return kvs[0];
  }

  /** The first event of the log, for a range that contains the beginning of the log. */
  async #logStartOf({ from, end }: KeyRange, signal: AbortSignal): Promise<Seq> {
    if (from > logPrefix || end <= logPrefix) return 1;
    const kv = await this.#get(logStartKey, signal);
    return parseLogStart(kv?.value.toString('utf8'));
  }
}

const toBytes = (text: string): Buffer => Buffer.from(text, 'utf8');

const storedKey = ({ key, value }: IKeyValue): StoredKey => ({
  key: key.toString('utf8'),
  text: value.toString('utf8'),
});

const bytesOf = (kvs: readonly IKeyValue[]): number =>
  kvs.reduce((sum, { key, value }) => sum + key.length + value.length, 0);

import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import type { Etcd3, IRangeRequest } from 'etcd3';
import { etcdMessage } from '../testing/etcd-messages.ts';
import { fakeEtcd, type UnaryCall } from '../testing/fake-etcd.ts';
import { failureOf, never } from '../testing/running-writer.ts';
import { addressPrefix, headKey, keyPrefix, logKey, logPrefix, logStartKey, prefixEnd } from './keys.ts';
import { RangeReader } from './range-reader.ts';
import { logStartText } from './stored-values.ts';

const rangeResponse = etcdMessage('RangeResponse');

interface Requested {
  readonly from: string;
  readonly end: string;
  readonly limit: number;
  readonly revision: number;
}

/** An etcd with these keys, whose revision grows with each request. */
class FakeEtcd {
  readonly requests: Requested[] = [];
  /** Fails a request, or not. */
  fault: (request: Requested) => Error | undefined = () => undefined;
  #revision = 100;
  readonly #values: ReadonlyMap<string, string>;

  constructor(keys: readonly string[], values: Readonly<Record<string, string>> = {}) {
    this.#values = new Map(Object.entries({ ...Object.fromEntries(keys.map((key) => [key, 'v'])), ...values }));
  }

  /** The requests that read ranges. */
  get ranges(): readonly Requested[] {
    return this.requests.filter(({ end }) => end !== '');
  }

  get client(): Etcd3 {
    const requestSerialize = (request: IRangeRequest): Buffer => Buffer.from(JSON.stringify(request));
    return fakeEtcd({ Range: { requestSerialize } }, (...[, , deserialize, bytes, , , onReply]: UnaryCall) => {
      const {
        key,
        range_end: end = '',
        limit = 0,
        revision = 0,
      } = JSON.parse(String(bytes), (_, value: unknown) =>
        isBuffer(value) ? String(Buffer.from(value.data)) : value,
      ) as { key: string; range_end?: string; limit?: number; revision?: number };
      const request = { from: key, end, limit, revision };
      if (this.requests.push(request) > 100) throw new Error('the requests do not end');
      const error = this.fault(request);
      if (error) onReply(error);
      else onReply(null, deserialize(this.#reply(request)));
    });
  }

  #reply({ from, end, limit }: Requested): Buffer {
    this.#revision++;
    const found = [...this.#values]
      .filter(([key]) => (end === '' ? key === from : key >= from && key < end))
      .toSorted(([one], [other]) => (one < other ? -1 : 1));
    const kvs = (limit > 0 ? found.slice(0, limit) : found).map(([key, value]) => {
      return { key: Buffer.from(key), value: Buffer.from(value), mod_revision: 7 };
    });
    const reply = { header: { revision: this.#revision }, kvs, more: kvs.length < found.length };
    return Buffer.from(rangeResponse.encode(rangeResponse.fromObject(reply)).finish());
  }
}

const isBuffer = (value: unknown): value is { readonly data: number[] } =>
  typeof value === 'object' && value !== null && (value as { type?: unknown }).type === 'Buffer';

describe('RangeReader', () => {
  const addresses = Array.from(
    { length: 1_200 },
    (_, index) => `${addressPrefix}lan/${String(index).padStart(5, '0')}`,
  );
  const range = { from: addressPrefix, end: prefixEnd(addressPrefix) };
  const tooLarge = new Error('8 RESOURCE_EXHAUSTED: grpc: received message larger than max (5 vs. 4)');

  async function read(etcd: FakeEtcd, of = range): Promise<string[]> {
    const keys: string[] = [];
    for await (const page of new RangeReader(etcd.client).pages(of, never)) {
      keys.push(...page.keys.map(({ key }) => key));
      if (keys.length > 10_000) throw new Error('the pages do not end');
    }
    return keys;
  }

  it('RangeReader reads all pages at the revision of the first one', async () => {
    const etcd = new FakeEtcd(addresses);
    expect(await read(etcd)).to.deep.equal(addresses);
    const [first, ...others] = etcd.ranges.map(({ revision }) => revision);
    expect([first, new Set(others)]).to.deep.equal([0, new Set([101])]);
    for await (const keys of new RangeReader(etcd.client).pagesUnder(addressPrefix, 5, never))
      expect(keys.length).to.be.above(0);
    expect(etcd.ranges.slice(1 + others.length).every(({ revision }) => revision === 5)).to.equal(true);
  });

  it('RangeReader requests the next page while its caller processes a page', async () => {
    const etcd = new FakeEtcd(addresses);
    const pages = new RangeReader(etcd.client).pages(range, never)[Symbol.asyncIterator]();
    await pages.next();
    expect(etcd.ranges).to.have.length(2);
    await turn();
    expect(etcd.ranges).to.have.length(2);
    await pages.return?.();
  });

  it('RangeReader requests a sixteenth of the keys while the reply is too large, and fails if that is one key', async () => {
    const few = addresses.slice(0, 10);
    const etcd = new FakeEtcd(few);
    etcd.fault = ({ limit }) => (limit > 2 ? tooLarge : undefined);
    expect(await read(etcd)).to.deep.equal(few);
    expect(etcd.ranges.slice(0, 3).map(({ limit }) => limit)).to.deep.equal([500, 32, 2]);
    const full = new FakeEtcd(addresses);
    full.fault = ({ limit }) => (limit > 0 ? tooLarge : undefined);
    const error = await failureOf(read(full));
    expect([error.code, full.ranges.map(({ limit }) => limit)]).to.deep.equal(['UNAVAILABLE', [500, 32, 2, 1]]);
  });

  it('RangeReader fails at once for any other error, also for that of a page that was requested early', async () => {
    const etcd = new FakeEtcd(addresses);
    etcd.fault = ({ limit }) => (limit > 0 ? new Error('permission denied') : undefined);
    expect((await failureOf(read(etcd))).message).to.equal('etcd could not be read: permission denied');
    expect(etcd.ranges).to.have.length(1);
    const second = new FakeEtcd(addresses);
    second.fault = () => (second.ranges.length > 1 ? new Error('permission denied') : undefined);
    expect(await failureOf(read(second))).to.have.property('code', 'UNAVAILABLE');
    const unused = new FakeEtcd(addresses);
    const aborted = new RangeReader(unused.client).range({ key: Buffer.from(headKey) }, AbortSignal.abort());
    expect(await failureOf(aborted)).to.have.property('name', 'AbortError');
    expect(unused.requests).to.deep.equal([]);
  });

  it('RangeReader begins with the log start, and needs it only for a range that contains the beginning of the log', async () => {
    const log = [800, 801, 802].map(logKey);
    const everything = { from: keyPrefix, end: prefixEnd(keyPrefix) };
    for (const [of, text, ends] of [
      [everything, logStartText(800), [logPrefix, logKey(2_800), everything.end]],
      [everything, 'no log start', [logPrefix, logKey(2_001), everything.end]],
      [{ from: logPrefix, end: everything.end }, logStartText(800), [logKey(1_300), everything.end]],
      [{ from: logKey(800), end: everything.end }, logStartText(700), [logKey(1_300), everything.end]],
      [{ from: keyPrefix, end: logPrefix }, logStartText(700), [logPrefix]],
    ] as const) {
      const etcd = new FakeEtcd(log, { [logStartKey]: text });
      expect(await read(etcd, of)).to.include.members(of.end === logPrefix ? [logStartKey] : log);
      expect(etcd.ranges.map(({ end }) => end)).to.deep.equal(ends);
      expect(etcd.requests.length - etcd.ranges.length, 'reads of the log start').to.equal(
        of.from <= logPrefix && of.end > logPrefix ? 1 : 0,
      );
    }
  });
});

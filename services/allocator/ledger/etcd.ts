/**
 * The ledger in etcd. The client package is used as a typed stub only: its retries would report a committed transaction as
 * a conflict, its circuit breaker takes a large answer for an outage, and it knows no deadline; all three are off or set here.
 */
import { noop } from 'cockatiel';
import {
  Etcd3,
  GRPCInvalidArgumentError,
  type ICompare,
  type IKeyValue,
  type IRangeRequest,
  type IRequestOp,
  type ITxnResponse,
} from 'etcd3';
import { pause, unlessAborted } from '../../../lib/deadline.ts';
import { IpledgerError } from '../../../lib/errors.ts';
import type { Seq } from '../domain/event.ts';
import type { ClaimName } from '../domain/journal.ts';
import { accessOptions, type EtcdAccess, follow } from './access.ts';
import { emptyHead, type Head } from './chain.ts';
import {
  addressKey,
  addressPrefix,
  endOf,
  headKey,
  headText,
  logKey,
  logPrefix,
  parseHead,
  parsePool,
  parseSubnet,
  poolKey,
  poolPrefix,
  readClaim,
  subnetKey,
  subnetPrefix,
  writerKey,
} from './keys.ts';
import type {
  Appended,
  AppendLimits,
  Batch,
  KeyPage,
  KeyRange,
  Ledger,
  LoadedSnapshot,
  Revision,
  StoredLine,
} from './ledger.ts';

type LoadedClaim = LoadedSnapshot['claims'][number] & { readonly revision: Revision };

/** etcd's default limits (128 operations, 1.5 MiB) with room for keys and framing. */
const etcdLimits: AppendLimits = { ops: 128, bytes: 1 << 20 };
const callTimeoutMs = 5_000;
const pageSize = 2_000;
/** The bell also rings on this timer, in case a watch died silently. */
const pollMs = 1_000;
const readEachAtOnce = 64;

/**
 * A client that never retries, never breaks a circuit, and gives every call that is no stream a deadline.
 * @throws Error when endpoints and access do not fit.
 */
export function connectEtcd(endpoints: readonly string[], access: EtcdAccess = {}): Etcd3 {
  const client = new Etcd3({
    hosts: [...endpoints],
    ...accessOptions(endpoints, access),
    faultHandling: { global: noop, host: () => noop },
    grpcOptions: {
      'grpc.max_receive_message_length': 32 << 20,
      'grpc.keepalive_time_ms': 6_000,
      'grpc.keepalive_timeout_ms': 3_000,
      'grpc.keepalive_permit_without_calls': 1,
      'grpc.initial_reconnect_backoff_ms': 100,
      'grpc.max_reconnect_backoff_ms': 2_000,
    },
    defaultCallOptions: ({ isStream }) => (isStream ? {} : { deadline: Date.now() + callTimeoutMs }),
  });
  if (access.certificates) follow(client, access.certificates);
  return client;
}

const bytes = (text: string): Buffer => Buffer.from(text, 'utf8');
const textOf = ({ value }: IKeyValue): string => value.toString('utf8');

export class EtcdLedger implements Ledger {
  readonly limits = etcdLimits;
  readonly #client: Etcd3;

  constructor(client: Etcd3) {
    this.#client = client;
  }

  async load(signal: AbortSignal): Promise<LoadedSnapshot> {
    const { headers, kvs } = await this.#range({ key: bytes(headKey) }, signal);
    const head = kvs[0] ? parseHead(textOf(kvs[0])) : emptyHead;
    const at = headers.revision;
    const [claims, unreadable] = [[] as LoadedClaim[], [] as ClaimName[]];
    for await (const page of this.#prefix(addressPrefix, at, signal))
      for (const kv of page) {
        const { name, claim } = readClaim(kv.key.toString('utf8'), textOf(kv));
        if (claim) claims.push({ ...name, claim, revision: BigInt(kv.mod_revision) });
        else unreadable.push(name);
      }
    const subnets = [];
    for await (const page of this.#prefix(subnetPrefix, at, signal))
      for (const kv of page) subnets.push(parseSubnet(kv.key.toString('utf8'), textOf(kv)));
    const pools = [];
    for await (const page of this.#prefix(poolPrefix, at, signal))
      for (const kv of page) pools.push(parsePool(kv.key.toString('utf8'), textOf(kv)));
    return { ledger: head.ledger, head, claims, revisions: claims, unreadable, subnets, pools };
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
    let key = logKey(from);
    let revision: string | undefined;
    for (;;) {
      const request = {
        key: bytes(key),
        range_end: bytes(endOf(logPrefix)),
        limit: pageSize,
        ...(revision && { revision }),
      };
      const page = await this.#range(request, signal);
      revision ??= page.headers.revision;
      if (page.kvs.length > 0) yield page.kvs.map(lineOf);
      if (!page.more) return;
      key = `${page.kvs.at(-1)?.key.toString('utf8')}\0`;
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
    return lines;
  }

  async head(signal: AbortSignal): Promise<Head> {
    const { kvs } = await this.#range({ key: bytes(headKey) }, signal);
    return kvs[0] ? parseHead(textOf(kvs[0])) : emptyHead;
  }

  bell(signal: AbortSignal): AsyncIterable<void> {
    return bellOf(this.#client, headKey, signal);
  }

  async *keys({ from, end }: KeyRange, signal: AbortSignal, revision?: Revision): AsyncIterable<KeyPage> {
    const read = (key: string, at: string | undefined) =>
      this.#range({ key: bytes(key), range_end: bytes(end), limit: pageSize, ...(at && { revision: at }) }, signal);
    const asked = revision === undefined ? undefined : String(revision);
    let page = await read(from, asked);
    const at = asked ?? page.headers.revision;
    for (;;) {
      // etcd reads the next page while this one is worked on.
      const next = page.more ? read(`${page.kvs.at(-1)?.key.toString('utf8')}\0`, at) : undefined;
      next?.catch(() => undefined); // told when it is waited for, if it ever is
      yield {
        revision: BigInt(at),
        keys: page.kvs.map((kv) => ({ key: kv.key.toString('utf8'), text: textOf(kv) })),
      };
      if (!next) return;
      page = await next;
    }
  }

  async #range(request: IRangeRequest, signal: AbortSignal) {
    signal.throwIfAborted();
    try {
      // Whoever is elected in the meantime does not wait for an answer that nobody needs.
      const { header, kvs, more } = await unlessAborted(this.#client.kv.range(request), signal);
      return { headers: header, kvs, more };
    } catch (error) {
      signal.throwIfAborted();
      throw new IpledgerError('UNAVAILABLE', `etcd could not be read: ${messageOf(error)}`, { cause: error });
    }
  }

  async *#prefix(text: string, revision: string, signal: AbortSignal): AsyncIterable<IKeyValue[]> {
    let key = text;
    for (;;) {
      const page = await this.#range(
        { key: bytes(key), range_end: bytes(endOf(text)), limit: pageSize, revision },
        signal,
      );
      yield page.kvs;
      if (!page.more) return;
      key = `${page.kvs.at(-1)?.key.toString('utf8')}\0`;
    }
  }
}

/**
 * Rings at once, and whenever a key may have changed: at least once after each change, and now and then without. Ends with
 * the signal.
 */
export async function* bellOf(client: Etcd3, key: string, signal: AbortSignal): AsyncIterable<void> {
  const ringer = new AbortController();
  let wake = new AbortController();
  void ringOnWatch(client, key, () => wake.abort(), AbortSignal.any([signal, ringer.signal]));
  try {
    while (!signal.aborted) {
      yield;
      await pause(pollMs, AbortSignal.any([signal, wake.signal]));
      wake = new AbortController();
    }
  } finally {
    ringer.abort();
  }
}

/** A watch that only says "look": whatever happens to it, it is opened anew. */
async function ringOnWatch(client: Etcd3, key: string, ring: () => void, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const watch = await client.watchClient.watch();
      const ended = new Promise<void>((resolve) => {
        watch.on('data', ring);
        watch.on('end', () => resolve());
        watch.on('error', () => resolve());
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
      watch.write({ create_request: { key: bytes(key) } });
      await ended;
      // One that breaks while it can be written to passes for a host that fails, and takes every other call on its way with it.
      watch.end();
      watch.cancel();
    } catch {
      // not reachable now; the timer rings meanwhile
    }
    await pause(500, signal);
  }
}

const lineOf = (kv: IKeyValue): StoredLine => ({ text: textOf(kv), revision: BigInt(kv.mod_revision) });

function comparesOf({ head, claims, writer }: Batch): ICompare[] {
  const key = bytes(headKey);
  const headAsKnown: ICompare =
    head.before.seq === 0
      ? { key, target: 'Create', result: 'Equal', create_revision: '0' }
      : { key, target: 'Value', result: 'Equal', value: bytes(headText(head.before)) };
  // Of a range, each key is compared, and none at all is as one that was never created: no event is ever overwritten.
  const nextEvent = { key: bytes(logKey(head.before.seq + 1)), range_end: bytes(endOf(logPrefix)) };
  const nothingBehind: ICompare = { ...nextEvent, target: 'Create', result: 'Equal', create_revision: '0' };
  const compares = [headAsKnown, nothingBehind];
  if (writer !== undefined)
    compares.push({ key: bytes(writerKey), target: 'Create', result: 'Equal', create_revision: String(writer) });
  for (const { name, known } of claims)
    compares.push({ key: bytes(addressKey(name)), target: 'Mod', result: 'Equal', mod_revision: String(known) });
  return compares;
}

function putsOf({ head, events, claims, subnets, pools }: Batch): IRequestOp[] {
  const put = (key: string, text: string): IRequestOp => ({ request_put: { key: bytes(key), value: bytes(text) } });
  const configure = (key: string, text: string | undefined): IRequestOp =>
    text === undefined ? { request_delete_range: { key: bytes(key) } } : put(key, text);
  return [
    ...events.map(({ seq, text }) => put(logKey(seq), text)),
    ...claims.map(({ name, text }) => put(addressKey(name), text)),
    ...subnets.map(({ name, text }) => configure(subnetKey(name), text)),
    ...pools.map(({ name, text }) => configure(poolKey(name), text)),
    put(headKey, headText(head.after)),
  ];
}

/** Reads, in the same transaction, what tells why a compare failed. */
function inquiriesOf({ head, claims }: Batch): IRequestOp[] {
  const look = (key: string): IRequestOp => ({ request_range: { key: bytes(key) } });
  const behind = { key: bytes(logKey(head.before.seq + 1)), range_end: bytes(endOf(logPrefix)), limit: 1 };
  return [
    look(headKey),
    look(writerKey),
    { request_range: behind },
    ...claims.slice(0, etcdLimits.ops - 3).map(({ name }) => look(addressKey(name))),
  ];
}

function whyNot({ head, claims, writer }: Batch, { responses }: ITxnResponse): Appended {
  const [headKv, writerKv, eventKv, ...claimKvs] = responses.map(({ response_range }) => response_range.kvs[0]);
  if (eventKv || (headKv && textOf(headKv)) !== (head.before.seq === 0 ? undefined : headText(head.before)))
    return { kind: 'moved' };
  if (writer !== undefined && BigInt(writerKv?.create_revision ?? 0) !== writer) return { kind: 'deposed' };
  const fenced = claims.filter(({ known }, index) => BigInt(claimKvs[index]?.mod_revision ?? 0) !== known);
  return { kind: 'fenced', claims: fenced.map(({ name }) => name) };
}

/** Only etcd's own word that it executed nothing is an answer; all else may have happened. */
function outcomeOf(error: unknown): Appended {
  const reason = messageOf(error);
  // Too many operations, a key twice, too many bytes: etcd checks these before it proposes anything. Far too many bytes are
  // refused even before it looks at them.
  const rejected =
    error instanceof GRPCInvalidArgumentError || reason.includes('grpc: received message larger than max');
  return { kind: rejected ? 'rejected' : 'unknown', reason };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

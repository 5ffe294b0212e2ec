/**
 * A model of one cluster of etcd: linearizable keys with revisions, transactions, leases, watches
 * and compaction. It decodes and encodes the real messages, so the real client runs on it.
 * `etcd.contract.ts` compares it with the real server.
 */
import { status } from '@grpc/grpc-js';
import type { CallStatus, GrpcMethod, IncomingCall } from '../kernel/grpc-server.ts';
import {
  codecOf,
  type Compare,
  type DeleteRequest,
  keyValue,
  type Operation,
  type PutRequest,
  type RangeRequest,
  type TxnRequest,
  type WatchRequest,
} from './etcd-messages.ts';
import { EtcdRefusal } from './etcd-refusal.ts';
import { type Change, KeyStore, type StoredKey } from './key-store.ts';
import { type EtcdSurroundings, type LeaseBackup, Leases, leaseNotFound } from './leases.ts';
import { Watchers } from './watchers.ts';

/** Defaults of etcd. */
const limits = { operations: 128, requestBytes: 1.5 * 2 ** 20 };
const ok: CallStatus = { code: status.OK, details: '' };
const textOf = (bytes: Buffer): string => bytes.toString('latin1');

/** All that a backup has. */
export interface EtcdBackup {
  readonly keys: readonly StoredKey[];
  readonly revision: number;
  readonly leases: readonly LeaseBackup[];
}

export class EtcdModel {
  readonly methods: ReadonlyMap<string, GrpcMethod>;
  /** Called after each commit that changed keys, before its reply. */
  onCommit: (changes: readonly Change[]) => void = () => undefined;
  #term = 2;
  readonly #store = new KeyStore();
  readonly #leases: Leases;
  readonly #watchers: Watchers;

  constructor(surroundings: EtcdSurroundings) {
    this.#leases = new Leases(surroundings, (keys) => this.#removeKeys(keys));
    this.#watchers = new Watchers(() => this.#header);
    this.methods = new Map<string, GrpcMethod>([
      unary('KV', 'Range', (request: RangeRequest) => this.#range(request)),
      unary('KV', 'Put', (request: PutRequest) => this.#transaction(() => this.#put(request))),
      unary('KV', 'DeleteRange', (request: DeleteRequest) => this.#transaction(() => this.#remove(request))),
      unary('KV', 'Txn', (request: TxnRequest, bytes) => this.#txn(request, bytes)),
      unary('KV', 'Compact', ({ revision }: { revision: string }) => this.#compact(Number(revision))),
      unary('Lease', 'LeaseGrant', ({ TTL, ID }: { TTL: string; ID: string }) => ({
        header: this.#header,
        ...this.#leases.grant(Number(TTL), ID),
        error: '',
      })),
      unary('Lease', 'LeaseRevoke', ({ ID }: { ID: string }) => {
        this.#leases.revoke(ID);
        return { header: this.#header };
      }),
      streaming('Lease', 'LeaseKeepAlive', ({ ID }: { ID: string }) => ({
        header: this.#header,
        ID,
        TTL: this.#leases.renew(ID),
      })),
      this.#watchMethod(),
      unary('Maintenance', 'Status', () => this.#status()),
    ]);
  }

  get revision(): number {
    return this.#store.revision;
  }

  /** The keys of a range. */
  keys(key: string, end: string): readonly StoredKey[] {
    return this.#store.range(key, end);
  }

  get(key: string): StoredKey | undefined {
    return this.#store.get(key);
  }

  /** Compacts to this revision, as the auto-compaction of the server. */
  compact(revision: number): void {
    if (revision > this.#store.compacted && revision <= this.#store.revision) this.#store.compact(revision);
  }

  /** Writes a key without any check, as etcdctl does. */
  put(key: string, value: Buffer): void {
    this.#transaction(() => this.#put({ key: Buffer.from(key, 'latin1'), value, lease: '0' }));
  }

  /** The members elect a leader: leases begin again. */
  elect(): void {
    this.#term++;
    this.#leases.restart();
  }

  /** Returns what `etcdctl snapshot save` writes. */
  backup(): EtcdBackup {
    return { keys: this.keys('', '\0'), revision: this.#store.revision, leases: this.#leases.backup() };
  }

  /**
   * Does what `etcdutl snapshot restore` does, with a bumped and compacted revision. No client may
   * be connected.
   */
  restore({ keys, revision, leases }: EtcdBackup, bumpedRevisions: number): void {
    this.#store.restore(keys, revision + bumpedRevisions);
    this.#leases.restore(leases);
  }

  get #header() {
    return { cluster_id: '1', member_id: '1', revision: this.#store.revision, raft_term: this.#term };
  }

  #range({ key, range_end: end, limit, revision, keys_only: keysOnly, count_only: countOnly }: RangeRequest) {
    const requested = Number(revision);
    if (requested > this.#store.revision)
      throw new EtcdRefusal(status.OUT_OF_RANGE, 'etcdserver: mvcc: required revision is a future revision');
    if (requested > 0 && requested < this.#store.compacted)
      throw new EtcdRefusal(status.OUT_OF_RANGE, 'etcdserver: mvcc: required revision has been compacted');
    const found = this.#store.range(textOf(key), textOf(end), requested > 0 ? requested : undefined);
    const most = Number(limit) > 0 ? Number(limit) : Infinity;
    const kvs = countOnly ? [] : found.slice(0, most).map((each) => keyValue(each, keysOnly));
    return { header: this.#header, kvs, more: !countOnly && found.length > most, count: found.length };
  }

  #put({ key, value, lease }: PutRequest): object {
    const name = textOf(key);
    if (lease !== '0' && !this.#leases.has(lease)) throw leaseNotFound();
    this.#leases.detach(name, this.#store.get(name)?.lease);
    this.#store.put(name, Buffer.from(value), lease);
    if (lease !== '0') this.#leases.attach(name, lease);
    return { header: this.#header };
  }

  #remove({ key, range_end: end }: DeleteRequest): object {
    for (const each of this.#store.range(textOf(key), textOf(end))) this.#leases.detach(each.key, each.lease);
    return { header: this.#header, deleted: this.#store.remove(textOf(key), textOf(end)) };
  }

  #removeKeys(keys: readonly string[]): void {
    this.#transaction(() => {
      for (const key of keys) this.#store.remove(key, '');
      return {};
    });
  }

  /** Runs changes as one commit. */
  #transaction<Reply extends object>(run: () => Reply): Reply {
    const reply = run();
    const changes = this.#store.commit();
    if (changes.length > 0) {
      this.onCommit(changes);
      this.#watchers.notify(changes, this.#store.revision);
    }
    return { ...reply, header: this.#header };
  }

  #txn({ compare, success, failure }: TxnRequest, bytes: number): object {
    if (bytes > limits.requestBytes) throw new EtcdRefusal(status.INVALID_ARGUMENT, 'etcdserver: request is too large');
    if ([compare, success, failure].some(({ length }) => length > limits.operations))
      throw new EtcdRefusal(status.INVALID_ARGUMENT, 'etcdserver: too many operations in txn request');
    refuseDuplicates(success);
    refuseDuplicates(failure);
    const succeeded = compare.every((each) => this.#holds(each));
    const operations = succeeded ? success : failure;
    for (const { request_put: put } of operations)
      if (put && put.lease !== '0' && !this.#leases.has(put.lease)) throw leaseNotFound();
    return this.#transaction(() => ({ succeeded, responses: operations.map((each) => this.#execute(each)) }));
  }

  #execute({ request_range: range, request_put: put, request_delete_range: remove }: Operation): object {
    if (range) return { response_range: this.#range(range) };
    if (put) return { response_put: this.#put(put) };
    if (remove) return { response_delete_range: this.#remove(remove) };
    throw new EtcdRefusal(status.UNIMPLEMENTED, 'the model has no nested transactions');
  }

  #holds(compare: Compare): boolean {
    const found = this.#store.range(textOf(compare.key), textOf(compare.range_end));
    if (found.length > 0) return found.every((each) => passes(compare, each));
    return compare.target !== 'Value' && passes(compare, undefined);
  }

  #compact(revision: number): object {
    if (revision > this.#store.revision)
      throw new EtcdRefusal(status.OUT_OF_RANGE, 'etcdserver: mvcc: required revision is a future revision');
    if (revision <= this.#store.compacted)
      throw new EtcdRefusal(status.OUT_OF_RANGE, 'etcdserver: mvcc: required revision has been compacted');
    this.#store.compact(revision);
    return { header: this.#header };
  }

  #status(): object {
    const { bytes } = this.#store;
    const raft = { leader: '1', raftIndex: this.#store.revision, raftTerm: this.#term };
    return { header: this.#header, version: '3.6.0', dbSize: bytes, dbSizeInUse: bytes, errors: [], ...raft };
  }

  #watchMethod(): readonly [string, GrpcMethod] {
    const { path, requestStream, requestDeserialize, responseSerialize } = codecOf('Watch', 'Watch');
    const serve = (call: IncomingCall): void => {
      const stream = this.#watchers.open((reply) => call.send(responseSerialize(reply)));
      call.onCancel = stream.close;
      call.onMessage = (message) => {
        const { create_request: create, cancel_request: cancel } = requestDeserialize(message) as WatchRequest;
        if (create) stream.create(create, this.#store);
        if (cancel) stream.cancel(cancel.watch_id);
      };
    };
    return [path, { requestStream, serve }];
  }
}

function passes(compare: Compare, stored: StoredKey | undefined): boolean {
  const difference = differenceOf(compare, stored);
  if (compare.result === 'Equal') return difference === 0;
  if (compare.result === 'NotEqual') return difference !== 0;
  return compare.result === 'Greater' ? difference > 0 : difference < 0;
}

function differenceOf(compare: Compare, stored: StoredKey | undefined): number {
  switch (compare.target) {
    case 'Version':
      return (stored?.version ?? 0) - Number(compare.version ?? 0);
    case 'Create':
      return (stored?.created ?? 0) - Number(compare.create_revision ?? 0);
    case 'Mod':
      return (stored?.modified ?? 0) - Number(compare.mod_revision ?? 0);
    case 'Value':
      return Buffer.compare(stored?.value ?? noBytes, compare.value ?? noBytes);
    default:
      throw new EtcdRefusal(status.UNIMPLEMENTED, `the model has no compare of ${compare.target}`);
  }
}

const noBytes = Buffer.alloc(0);

function refuseDuplicates(operations: readonly Operation[]): void {
  const puts = new Set<string>();
  for (const { request_put: put } of operations) {
    if (!put) continue;
    const key = textOf(put.key);
    const isDeleted = operations.some(
      ({ request_delete_range: range }) =>
        range &&
        (textOf(range.range_end) === ''
          ? key === textOf(range.key)
          : key >= textOf(range.key) && key < textOf(range.range_end)),
    );
    if (puts.has(key) || isDeleted)
      throw new EtcdRefusal(status.INVALID_ARGUMENT, 'etcdserver: duplicate key given in txn request');
    puts.add(key);
  }
}

const statusOf = (error: unknown): CallStatus => {
  if (error instanceof EtcdRefusal) return { code: error.code, details: error.message };
  throw error;
};

type Service = Parameters<typeof codecOf>[0];

/** `answer` throws EtcdRefusal. */
function unary(
  service: Service,
  name: string,
  answer: (request: never, bytes: number) => object,
): readonly [string, GrpcMethod] {
  const { path, requestStream, requestDeserialize, responseSerialize } = codecOf(service, name);
  const serve = (call: IncomingCall): void => {
    call.onMessage = (message) => {
      try {
        call.end(ok, responseSerialize(answer(requestDeserialize(message) as never, message.length)));
      } catch (error) {
        call.end(statusOf(error));
      }
    };
  };
  return [path, { requestStream, serve }];
}

/** A method that answers each message of a stream. */
function streaming(service: Service, name: string, answer: (request: never) => object): readonly [string, GrpcMethod] {
  const { path, requestStream, requestDeserialize, responseSerialize } = codecOf(service, name);
  const serve = (call: IncomingCall): void => {
    call.onMessage = (message) => call.send(responseSerialize(answer(requestDeserialize(message) as never)));
  };
  return [path, { requestStream, serve }];
}

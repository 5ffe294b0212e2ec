/**
 * Informer: a local copy of all objects of one kind, kept current by list and watch. It continues
 * the watch after each failure. It lists again only if the API server cannot continue the watch, or
 * may have been rolled back.
 *
 * Invariants
 *   - `objects` is the result of the last list and the watch events after it. It is incomplete
 *     before the first complete list.
 *   - A repeated list does not delay new objects, because the watch runs beside it (list-merge.ts).
 *   - Objects are identified by uid. A recreated object of the same name is reported as gone, then
 *     as present, even if the informer missed both events.
 *   - A deletion inferred from a list has `witnessed: false`, because a list is weaker evidence
 *     than a DELETED event.
 *   - A rollback of the API server to an earlier state is detected. Otherwise, a watch from a
 *     version that the server has not reached again would stay open without events.
 */
import { errorMessage } from '../../errors.ts';
import { backoffMs, pause } from '../../process/abortable.ts';
import type { Logger } from '../../process/log.ts';
import type { Api } from './kubernetes-api.ts';
import { ApiError, watchErrorOf } from './api-error.ts';
import { ListMerge } from './list-merge.ts';
import { listObjects, metadataOnly, readListVersion } from './list-pages.ts';
import { keyOf, type ObjectMeta, type ObjectStore } from './object-store.ts';
import { type UntypedJson, asRecord, asText } from '../untyped-json.ts';

export { keyOf, type ObjectMeta } from './object-store.ts';

export type ObjectChange<T> =
  | { readonly kind: 'present'; readonly object: T; readonly before: T | undefined }
  /** `witnessed`: by a DELETED event or another uid of the name, not inferred from a list. */
  | { readonly kind: 'gone'; readonly object: T; readonly witnessed: boolean }
  /** A complete list has been applied. */
  | { readonly kind: 'listed' };

export interface ResourceKind<T> {
  /** "/api/v1/pods" */
  readonly path: string;
  /** Returns the fields that the program uses. @throws Error for an invalid object */
  readonly parse: (raw: unknown) => T;
  /** Whether a missing CRD means that there are no objects. Otherwise it is an error. */
  readonly mayBeMissing?: boolean;
  /** Whether to request only the metadata of the objects. */
  readonly needsMetadataOnly?: boolean;
  /** Creates the store for the objects. Default: a Map. */
  readonly createStore?: () => ObjectStore<T>;
}

/** Timeouts and intervals. The defaults suit a real API server. */
export interface InformerTimings {
  readonly pageSize: number;
  readonly listTimeoutMs: number;
  /** The time after which the server ends each watch, approximately. */
  readonly watchSeconds: number;
  /** The longest silence of a working watch, which gets a bookmark every minute. */
  readonly silenceMs: number;
  readonly firstBackoffMs: number;
  readonly maxBackoffMs: number;
  /** The time between lists of a kind that is not installed. */
  readonly missingKindMs: number;
}

const defaultTimings: InformerTimings = {
  // A page stays in memory until the next full garbage collection. 500 Pods take 2 MB.
  pageSize: 250,
  listTimeoutMs: 60_000,
  watchSeconds: 300,
  silenceMs: 150_000,
  firstBackoffMs: 200,
  maxBackoffMs: 3_000,
  missingKindMs: 30_000,
};

/** The shortest successful watch. A shorter one counts as a failure, and causes a backoff. */
const minWatchMs = 1_000;

/** Whether a version is lower than another. False if one is not a decimal number. */
function isEarlier(version: string, than: string): boolean {
  return [version, than].every((each) => /^\d+$/.test(each)) && BigInt(version) < BigInt(than);
}

/** A list that is being read. */
interface Listing<T extends ObjectMeta> {
  readonly merge: ListMerge<T>;
  /** The version of `objects` before this list. */
  readonly versionBefore: string | undefined;
  /** Aborted when a later list begins. */
  readonly stop: AbortController;
}

export class Informer<T extends ObjectMeta> {
  readonly objects: ObjectStore<T>;
  readonly #api: Api;
  readonly #kind: ResourceKind<T>;
  readonly #log: Logger;
  readonly #timings: InformerTimings;
  readonly #listeners: ((change: ObjectChange<T>) => void)[] = [];
  /** The version to watch from; undefined if a list must come first. */
  #version: string | undefined;
  /** The last version that `objects` had, and the version before the last list. */
  #knownVersion: string | undefined;
  #versionBeforeList: string | undefined;
  #listing: Listing<T> | undefined;
  /** Whether lists may be streamed. False after a failed list: a proxy may break long streams. */
  #mayStream = true;
  #hasSynced = false;
  #lastDataAt = performance.now();
  /** Whether a watch event has arrived since the last failure. */
  #hasProgress = false;
  /** Whether the last watch failed, so that the API server may have been rolled back. */
  #mustCheckRollback = false;
  /** Whether the API server has served this kind. */
  #wasServed = false;
  /** The number of consecutive lists whose version was already too old for a watch. */
  #expiredLists = 0;

  constructor(api: Api, kind: ResourceKind<T>, log: Logger, timings: Partial<InformerTimings> = {}) {
    this.#api = api;
    this.#kind = kind;
    this.objects = this.#createStore();
    this.#log = log.child({ kind: kind.path });
    this.#timings = { ...defaultTimings, ...timings };
  }

  /** Calls `listener` synchronously for each later change, in order. It must return quickly. */
  subscribe(listener: (change: ObjectChange<T>) => void): void {
    this.#listeners.push(listener);
  }

  /** Whether a complete list has been applied. */
  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  /** The version of `objects`; undefined if it is unknown or a list is being read. */
  get resourceVersion(): string | undefined {
    return this.#listing ? undefined : this.#version;
  }

  /** The version of `objects` before the last complete list; undefined before the second list. */
  get versionBeforeList(): string | undefined {
    return this.#versionBeforeList;
  }

  /**
   * The time for which `objects` may be stale: since the last data from the API server, including
   * bookmarks, or since a list became necessary.
   */
  get silentMs(): number {
    return performance.now() - this.#lastDataAt;
  }

  /** The limit of `silentMs` above which `objects` is out of date. */
  get maxSilentMs(): number {
    return this.#timings.silenceMs;
  }

  /** Lists and watches until the signal is aborted. Never throws. */
  async run(signal: AbortSignal): Promise<void> {
    for (let failures = 0; !signal.aborted;) {
      const startedAt = performance.now();
      try {
        if (this.#mustCheckRollback) await this.#checkRollback(signal);
        if (this.#version === undefined) await this.#listIfInstalled(signal);
        if (this.#version === undefined) await pause(this.#timings.missingKindMs, signal);
        else await this.#watch(signal);
        if (performance.now() - startedAt > minWatchMs) {
          failures = this.#expiredLists = 0;
          continue;
        }
      } catch (error) {
        if (signal.aborted) return;
        if (this.#hasProgress) failures = this.#expiredLists = 0;
        this.#hasProgress = false;
        this.#mustCheckRollback = true;
        if (error instanceof ApiError && error.status === 410) {
          // The history from this version is no longer available. Lists immediately, but with
          // backoff if that happens again.
          this.#version = undefined;
          failures = this.#expiredLists++;
        }
        this.#logFailure(error, failures);
      }
      await pause(backoffMs(failures, this.#timings.firstBackoffMs, this.#timings.maxBackoffMs), signal);
      failures += 1;
    }
  }

  #logFailure(error: unknown, failures: number): void {
    const reason = errorMessage(error);
    // Logs the first failure, the fourth, and then each twentieth.
    if (failures !== 0 && failures !== 3 && failures % 20 !== 0) return;
    if (error instanceof ApiError && error.status === 404)
      this.#log.warn('list-watch: the API server does not serve this kind: install its CRD');
    else if (failures === 0) this.#log.info({ reason }, 'list-watch: interrupted, retrying');
    else this.#log.warn({ reason, failures }, 'list-watch: still interrupted, retrying');
  }

  /**
   * Lists again if the API server was restored from a backup or replaced. Its version is then lower
   * than the known one. After a long interruption it may be higher again.
   */
  async #checkRollback(signal: AbortSignal): Promise<void> {
    const known = this.#version;
    if (known !== undefined) {
      const version = await this.#readVersion(signal);
      const isRolledBack = isEarlier(version, known);
      if (isRolledBack)
        this.#log.warn(
          { version, known },
          'list-watch: the API server was rolled back to an earlier state, listing again',
        );
      const mayBeOther = !this.#listing && this.silentMs > this.maxSilentMs;
      if (isRolledBack || mayBeOther) this.#version = undefined;
    }
    this.#mustCheckRollback = false;
  }

  /** Lists, but accepts that a kind is missing which the API server has never served. */
  async #listIfInstalled(signal: AbortSignal): Promise<void> {
    try {
      await this.#list(signal);
      this.#wasServed = true;
    } catch (error) {
      const isMissing = error instanceof ApiError && error.status === 404 && this.#kind.mayBeMissing === true;
      if (!isMissing || this.#wasServed) throw error;
      this.#hasSynced = true;
      this.#lastDataAt = performance.now();
      this.#notify({ kind: 'listed' });
    }
  }

  /**
   * The first list precedes the watch, because nothing can be done before. A later list runs beside
   * the watch.
   */
  async #list(signal: AbortSignal): Promise<void> {
    const isFirst = !this.#wasServed;
    const version = isFirst ? undefined : await this.#readVersion(signal);
    const listing = this.#beginListing();
    this.#version = version ?? (await this.#readList(listing, signal));
    if (isFirst) this.#endListing(listing);
    else void this.#listUntilComplete(listing, AbortSignal.any([signal, listing.stop.signal]));
  }

  #readVersion(signal: AbortSignal): Promise<string> {
    return readListVersion(this.#api, this.#kind.path, { timeoutMs: this.#timings.listTimeoutMs, signal });
  }

  #beginListing(): Listing<T> {
    this.#listing?.stop.abort();
    const apply = { put: (object: T) => this.#put(object), drop: (object: T) => this.#drop(object, true) };
    const merge = new ListMerge(this.objects, this.#createStore(), apply);
    return (this.#listing = { merge, versionBefore: this.#knownVersion, stop: new AbortController() });
  }

  async #listUntilComplete(listing: Listing<T>, signal: AbortSignal): Promise<void> {
    const { firstBackoffMs, maxBackoffMs } = this.#timings;
    for (let failures = 0; !signal.aborted; failures++) {
      try {
        await this.#readList(listing, signal);
        return this.#endListing(listing);
      } catch (error) {
        if (!signal.aborted) this.#logFailure(error, failures);
      }
      await pause(backoffMs(failures, firstBackoffMs, maxBackoffMs), signal);
    }
  }

  /** Reads a list. Returns its version. */
  async #readList({ merge }: Listing<T>, signal: AbortSignal): Promise<string> {
    const { pageSize, listTimeoutMs: timeoutMs } = this.#timings;
    const mayStream = this.#mayStream;
    this.#mayStream = false;
    const options = { pageSize, timeoutMs, signal, mayStream, isMetadata: this.#kind.needsMetadataOnly === true };
    const version = await listObjects(this.#api, this.#kind.path, options, (raw) => {
      const object = this.#parse(raw);
      if (object) merge.onListed(object);
    });
    this.#mayStream = true;
    return version;
  }

  /** Applies the changes that had to wait for the end of the list. */
  #endListing({ merge, versionBefore, stop }: Listing<T>): void {
    if (stop.signal.aborted) return;
    for (const object of merge.missing()) this.#drop(object, false);
    merge.applyHeld();
    this.#listing = undefined;
    this.#versionBeforeList = versionBefore;
    this.#knownVersion = this.#version;
    this.#hasSynced = true;
    this.#lastDataAt = performance.now();
    this.#notify({ kind: 'listed' });
  }

  #createStore(): ObjectStore<T> {
    return this.#kind.createStore?.() ?? new Map<string, T>();
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const seconds = Math.round(this.#timings.watchSeconds * (0.9 + 0.2 * Math.random()));
    const query = new URLSearchParams({
      watch: 'true',
      allowWatchBookmarks: 'true',
      resourceVersion: this.#version ?? '',
      timeoutSeconds: String(seconds),
    });
    const accept = this.#kind.needsMetadataOnly ? { accept: metadataOnly('PartialObjectMetadata') } : {};
    const options = { silenceMs: this.#timings.silenceMs, signal, ...accept };
    const events = this.#api.stream(`${this.#kind.path}?${query}`, options);
    for await (const event of events) {
      if (!this.#listing) this.#lastDataAt = performance.now();
      this.#handleWatchEvent(asRecord(event));
      this.#hasProgress = true;
    }
  }

  #handleWatchEvent({ type, object }: UntypedJson): void {
    if (type === 'ERROR') throw watchErrorOf(object, this.#kind.path);
    if (type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED') {
      const parsed = this.#parse(object);
      if (parsed) this.#handleChange(type === 'DELETED' ? 'drop' : 'put', parsed);
    } else if (type !== 'BOOKMARK') {
      this.#log.warn({ type }, 'list-watch: ignored an event of unknown type');
    }
    const version = asText(asRecord(asRecord(object)['metadata'])['resourceVersion']);
    if (version === '') return;
    this.#version = version;
    if (!this.#listing) this.#knownVersion = version;
  }

  #handleChange(kind: 'put' | 'drop', object: T): void {
    if (this.#listing) this.#listing.merge.onWatched(kind, object);
    else if (kind === 'put') this.#put(object);
    else this.#drop(object, true);
  }

  #put(object: T): void {
    const key = keyOf(object);
    const before = this.objects.get(key);
    if (before?.uid === object.uid && before.resourceVersion === object.resourceVersion) return;
    if (before && before.uid !== object.uid) {
      this.objects.delete(key);
      this.#notify({ kind: 'gone', object: before, witnessed: true });
      this.objects.set(key, object);
      this.#notify({ kind: 'present', object, before: undefined });
      return;
    }
    this.objects.set(key, object);
    this.#notify({ kind: 'present', object, before });
  }

  #drop(object: T, witnessed: boolean): void {
    const key = keyOf(object);
    if (this.objects.get(key)?.uid !== object.uid) return;
    this.objects.delete(key);
    this.#notify({ kind: 'gone', object, witnessed });
  }

  #parse(raw: unknown): T | undefined {
    try {
      return this.#kind.parse(raw);
    } catch (error) {
      this.#log.error({ err: error }, 'list-watch: left out an invalid object');
      return undefined;
    }
  }

  /** Logs an error of a listener: it must not stop the watch or the other listeners. */
  #notify(change: ObjectChange<T>): void {
    for (const listener of this.#listeners) {
      try {
        listener(change);
      } catch (error) {
        this.#log.error({ err: error, change: change.kind }, 'list-watch: a listener failed');
      }
    }
  }
}

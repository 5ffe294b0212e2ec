/**
 * Informer: a local copy of all objects of one kind, kept current by list and watch. It restarts a watch after each failure.
 *
 * Invariants
 *   - `objects` is the result of the last list and the watch events after it. It is empty before the first complete list.
 *   - Objects are identified by uid. A recreated object of the same name is reported as gone, then as present, even when the
 *     informer missed both events.
 *   - A deletion inferred from a list has `witnessed: false`, because a list is weaker evidence than a DELETED event.
 *   - A rollback of the API server to an earlier state is detected. A watch from a version that it has not reached again would
 *     stay open without events.
 */
import { errorMessage } from '../../errors.ts';
import { backoffMs, pause } from '../../process/abortable.ts';
import type { Logger } from '../../process/log.ts';
import type { Api } from './kubernetes-api.ts';
import { ApiError } from './api-error.ts';
import { listPages, readListVersion } from './list-pages.ts';
import type { ObjectStore } from './object-store.ts';
import { type UntypedJson, asRecord, asText } from '../untyped-json.ts';

/** The metadata that identifies an object. */
export interface ObjectMeta {
  /** "" for a cluster-scoped object. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

export type ObjectChange<T> =
  | { readonly kind: 'present'; readonly object: T; readonly before: T | undefined }
  /** `witnessed`: by a DELETED event, or by another uid under its name. If false, the object was missing from a list. */
  | { readonly kind: 'gone'; readonly object: T; readonly witnessed: boolean }
  /** A complete list has been applied. */
  | { readonly kind: 'listed' };

/** One kind of objects. */
export interface ResourceKind<T> {
  /** "/api/v1/pods" */
  readonly path: string;
  /** Returns the fields that the program uses. @throws Error for an invalid object, which is then logged and left out */
  readonly parse: (raw: unknown) => T;
  /** Whether a cluster without the CRD is complete: the kind then has no objects until it is installed. */
  readonly mayBeMissing?: boolean;
  /** Whether the API server leaves out all but the metadata of its objects. */
  readonly needsMetadataOnly?: boolean;
  /** Makes the store of its objects. Default: a Map. */
  readonly createStore?: () => ObjectStore<T>;
}

/** Timeouts and intervals; the defaults suit a real API server. */
export interface InformerTimings {
  readonly pageSize: number;
  readonly listTimeoutMs: number;
  /** The server ends each watch after about this time. */
  readonly watchSeconds: number;
  /** The server sends a bookmark about every minute. A watch without data for longer than this is broken. */
  readonly silenceMs: number;
  /** A complete list at this interval repairs what a watch may have missed. */
  readonly relistMs: number;
  readonly firstBackoffMs: number;
  readonly maxBackoffMs: number;
  /** The interval of lists of a kind that is not installed. */
  readonly missingKindMs: number;
}

const defaultTimings: InformerTimings = {
  // The bytes of a page stay until a complete collection. 500 Pods have 2 MB.
  pageSize: 250,
  listTimeoutMs: 60_000,
  watchSeconds: 300,
  silenceMs: 150_000,
  relistMs: 30 * 60_000,
  firstBackoffMs: 200,
  maxBackoffMs: 3_000,
  missingKindMs: 30_000,
};

/** A watch that ends sooner counts as a failure, so the next one waits for the backoff. */
const minWatchMs = 1_000;

/** The key of an object in `Informer.objects`: "namespace/name", or "name". */
export function keyOf({ namespace, name }: Pick<ObjectMeta, 'namespace' | 'name'>): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}

/** The error in an ERROR event of a watch. */
export function watchErrorOf(object: unknown, path: string): ApiError {
  const { code, message } = asRecord(object);
  return new ApiError(Number(code) || 500, asText(message), { request: `watch of ${path}` });
}

/** Compares versions, which are decimal numbers. A version in another format is not comparable: false. */
function isEarlier(version: string, than: string): boolean {
  return [version, than].every((each) => /^\d+$/.test(each)) && BigInt(version) < BigInt(than);
}

export class Informer<T extends ObjectMeta> {
  readonly objects: ObjectStore<T>;
  readonly #api: Api;
  readonly #kind: ResourceKind<T>;
  readonly #log: Logger;
  readonly #timings: InformerTimings;
  readonly #listeners: ((change: ObjectChange<T>) => void)[] = [];
  /** The version from which to watch; undefined: list first. */
  #version: string | undefined;
  /** The last version that was known, also while the next list is awaited; and the one before the last list. */
  #knownVersion: string | undefined;
  #versionBeforeList: string | undefined;
  #listedAt = -Infinity;
  #lastDataAt = performance.now();
  /** Whether a watch event arrived since the last failure. */
  #hasProgress = false;
  /** Whether the last watch failed: the API server may since have been rolled back. */
  #mustCheckRollback = false;
  /** Whether the API server has served this kind. */
  #wasServed = false;
  /** How many times in a row the version of a new list was already too old for a watch. */
  #expiredLists = 0;

  constructor(api: Api, kind: ResourceKind<T>, log: Logger, timings: Partial<InformerTimings> = {}) {
    this.#api = api;
    this.#kind = kind;
    this.objects = this.#createStore();
    this.#log = log.child({ kind: kind.path });
    this.#timings = { ...defaultTimings, ...timings };
  }

  /** Calls `listener` for each later change, in order and synchronously. The listener must be fast. */
  subscribe(listener: (change: ObjectChange<T>) => void): void {
    this.#listeners.push(listener);
  }

  /** Whether a complete list has been applied. */
  get hasSynced(): boolean {
    return this.#listedAt !== -Infinity;
  }

  /** The version of `objects`; undefined while unknown. */
  get resourceVersion(): string | undefined {
    return this.#version;
  }

  /** The version of `objects` before the last complete list; undefined before a second one. */
  get versionBeforeList(): string | undefined {
    return this.#versionBeforeList;
  }

  /** Time since the last data from the API server, bookmarks included: `objects` may be this stale. */
  get silentMs(): number {
    return performance.now() - this.#lastDataAt;
  }

  /** If `silentMs` exceeds this, `objects` is out of date. */
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
        // If the repeated list fails, the watch continues from its last version.
        else if (startedAt - this.#listedAt > this.#timings.relistMs)
          await this.#list(signal).catch((error: unknown) => signal.aborted || this.#logFailure(error, 0));
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
          // The history from this version is no longer available: list immediately, and with backoff if that happens again.
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
    // Logs the first failure, the fourth, and then every twentieth.
    if (failures !== 0 && failures !== 3 && failures % 20 !== 0) return;
    if (error instanceof ApiError && error.status === 404)
      this.#log.warn('list-watch: the API server does not serve this kind: install its CRD');
    else if (failures === 0) this.#log.info({ reason }, 'list-watch: interrupted, retrying');
    else this.#log.warn({ reason, failures }, 'list-watch: still interrupted, retrying');
  }

  /** Lists again if the version of the API server is lower than before: it was restored from a backup, or it is another one. */
  async #checkRollback(signal: AbortSignal): Promise<void> {
    const known = this.#version;
    if (known !== undefined) {
      const options = { timeoutMs: this.#timings.listTimeoutMs, signal };
      const version = await readListVersion(this.#api, this.#kind.path, options);
      if (isEarlier(version, known)) {
        this.#log.warn(
          { version, known },
          'list-watch: the API server was rolled back to an earlier state, listing again',
        );
        this.#version = undefined;
      }
    }
    this.#mustCheckRollback = false;
  }

  /** A kind that was never served and may be missing has no objects. Once it was served, its absence is a failure. */
  async #listIfInstalled(signal: AbortSignal): Promise<void> {
    try {
      await this.#list(signal);
      this.#wasServed = true;
    } catch (error) {
      const isMissing = error instanceof ApiError && error.status === 404 && this.#kind.mayBeMissing === true;
      if (!isMissing || this.#wasServed) throw error;
      this.#listedAt = this.#lastDataAt = performance.now();
      this.#notify({ kind: 'listed' });
    }
  }

  async #list(signal: AbortSignal): Promise<void> {
    const listed = this.#createStore();
    let version = '';
    const { pageSize, listTimeoutMs: timeoutMs } = this.#timings;
    const options = { pageSize, timeoutMs, signal, ...this.#accepts('PartialObjectMetadataList') };
    for await (const page of listPages(this.#api, this.#kind.path, options)) {
      if (page.resourceVersion === '') throw new Error(`the list of ${this.#kind.path} has no resourceVersion`);
      for (const raw of page.items) {
        const object = this.#parse(raw);
        if (object) listed.set(keyOf(object), object);
      }
      version = page.resourceVersion;
    }
    this.#versionBeforeList = this.#knownVersion;
    this.#replaceAll(listed);
    this.#version = this.#knownVersion = version;
    this.#listedAt = this.#lastDataAt = performance.now();
    this.#notify({ kind: 'listed' });
  }

  /** Replaces all objects, and notifies the listeners of the differences. */
  #replaceAll(listed: ObjectStore<T>): void {
    for (const [key, known] of this.objects) {
      if (listed.has(key)) continue;
      this.objects.delete(key);
      this.#notify({ kind: 'gone', object: known, witnessed: false });
    }
    for (const object of listed.values()) this.#put(object);
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
    const options = { silenceMs: this.#timings.silenceMs, signal, ...this.#accepts('PartialObjectMetadata') };
    const events = this.#api.stream(`${this.#kind.path}?${query}`, options);
    for await (const event of events) {
      this.#lastDataAt = performance.now();
      this.#handleWatchEvent(asRecord(event));
      this.#hasProgress = true;
    }
  }

  #accepts(metadataType: string): { readonly accept?: string } {
    return this.#kind.needsMetadataOnly ? { accept: `application/json;as=${metadataType};g=meta.k8s.io;v=v1` } : {};
  }

  #handleWatchEvent({ type, object }: UntypedJson): void {
    if (type === 'ERROR') throw watchErrorOf(object, this.#kind.path);
    if (type === 'ADDED' || type === 'MODIFIED') {
      const parsed = this.#parse(object);
      if (parsed) this.#put(parsed);
    } else if (type === 'DELETED') {
      const parsed = this.#parse(object);
      if (parsed) this.#drop(parsed);
    } else if (type !== 'BOOKMARK') {
      this.#log.warn({ type }, 'list-watch: ignored an event of unknown type');
    }
    const version = asText(asRecord(asRecord(object)['metadata'])['resourceVersion']);
    if (version !== '') this.#version = this.#knownVersion = version;
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

  #drop(object: T): void {
    const key = keyOf(object);
    if (this.objects.get(key)?.uid !== object.uid) return;
    this.objects.delete(key);
    this.#notify({ kind: 'gone', object, witnessed: true });
  }

  #parse(raw: unknown): T | undefined {
    try {
      return this.#kind.parse(raw);
    } catch (error) {
      this.#log.error({ err: error }, 'list-watch: left out an invalid object');
      return undefined;
    }
  }

  /** A listener that throws is a bug. It must not stop the watch or the other listeners. */
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

/**
 * A local image of all objects of one kind, kept up by list and watch, supervised: whatever ends a watch, it goes on.
 *
 * Invariants
 *   - `objects` is at every moment what some list or watch event said last; nothing is in it before the first full list.
 *   - Objects are told apart by uid: one that was deleted and made again under its name is seen as gone, then present,
 *     also when both happened while nobody watched.
 *   - A deletion that was inferred from a list is reported as such (`witnessed: false`): a list is weaker evidence.
 *   - An API server that was put back to an earlier state is noticed: it would leave a watch from a version that it has not
 *     reached again open, and silent.
 */
import { backoffMs, pause } from '../../../lib/deadline.ts';
import type { Logger } from '../../../lib/log.ts';
import { type Api, ApiError, reasonOf } from './api.ts';
import { type Raw, record, text } from '../../../lib/raw.ts';

/** What every object of ours tells of itself. */
export interface Named {
  /** "" for a cluster-scoped object. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

export type Change<T> =
  | { readonly kind: 'present'; readonly object: T; readonly before: T | undefined }
  /** `witnessed`: the API said so (a DELETED event, or another uid under the name); else it was missing from a list. */
  | { readonly kind: 'gone'; readonly object: T; readonly witnessed: boolean }
  /** A full list has just been taken in. */
  | { readonly kind: 'listed' };

/** One kind of objects. */
export interface Kind<T> {
  /** "/api/v1/pods" */
  readonly path: string;
  /** Takes the few fields that are read. @throws for an object that cannot be understood; it is then left out, and logged. */
  readonly parse: (raw: unknown) => T;
}

/** How long things may take; the defaults suit a real API server. */
export interface Pace {
  readonly pageSize: number;
  readonly listTimeoutMs: number;
  /** The server ends each watch after about this long. */
  readonly watchSeconds: number;
  /** With bookmarks about every minute, a watch that is silent for longer is dead. */
  readonly silenceMs: number;
  /** A full list now and then mends what a watch may have missed. */
  readonly relistMs: number;
  readonly firstBackoffMs: number;
  readonly mostBackoffMs: number;
}

const usualPace: Pace = {
  pageSize: 500,
  listTimeoutMs: 60_000,
  watchSeconds: 300,
  silenceMs: 150_000,
  relistMs: 30 * 60_000,
  firstBackoffMs: 200,
  mostBackoffMs: 3_000,
};

/** A watch that ends sooner than this was no watch: wait before the next. */
const shortWatchMs = 1_000;
const longestListPages = 10_000;

/** The key of an object in `Source.objects`: "namespace/name", or "name". */
export function keyOf({ namespace, name }: Pick<Named, 'namespace' | 'name'>): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}

/** What an ERROR of a watch says. */
export function refusalOf(object: unknown, path: string): ApiError {
  const { code, message } = record(object);
  return new ApiError(Number(code) || 500, `watch of ${path}: ${text(message)}`);
}

/** Whether a version is of an earlier time. Versions are decimal numbers; what is none cannot be compared. */
function isEarlier(version: string, than: string): boolean {
  return [version, than].every((each) => /^\d+$/.test(each)) && BigInt(version) < BigInt(than);
}

/** Gives undefined for an answer that was too large and may be asked for in smaller pages. @throws any other error */
function unlessDivisible(error: unknown, limit: number): undefined {
  if (limit > 1 && error instanceof ApiError && error.isTooLarge) return undefined;
  throw error;
}

export class Source<T extends Named> {
  readonly objects = new Map<string, T>();
  readonly #api: Api;
  readonly #kind: Kind<T>;
  readonly #log: Logger;
  readonly #pace: Pace;
  readonly #listeners: ((change: Change<T>) => void)[] = [];
  /** Where to go on watching; undefined: list first. */
  #version: string | undefined;
  #listedAt = -Infinity;
  #heardAt = performance.now();
  /** Whether the watch brought anything since the last failure. */
  #progress = false;
  /** The last watch broke: whoever answers now may remember less than it told. */
  #broken = false;
  /** How often in a row a fresh list was too old to watch from. */
  #tooOld = 0;

  constructor(api: Api, kind: Kind<T>, log: Logger, pace: Partial<Pace> = {}) {
    this.#api = api;
    this.#kind = kind;
    this.#log = log.child({ kind: kind.path });
    this.#pace = { ...usualPace, ...pace };
  }

  /** Calls `listener` for each change, in order, on the spot; it must be quick. What is known already is not repeated. */
  subscribe(listener: (change: Change<T>) => void): void {
    this.#listeners.push(listener);
  }

  /** Whether a full list was ever taken in. */
  get listed(): boolean {
    return this.#listedAt !== -Infinity;
  }

  /** The version up to which `objects` is told; undefined while that is not known. */
  get version(): string | undefined {
    return this.#version;
  }

  /** How long nothing was heard from the API server, bookmarks included: how stale `objects` may be. */
  get silentMs(): number {
    return performance.now() - this.#heardAt;
  }

  /** Who hears nothing for longer does not know how things are. */
  get mostSilentMs(): number {
    return this.#pace.silenceMs;
  }

  /** Lists and watches until the signal is aborted; resolves then, and never throws. */
  async run(signal: AbortSignal): Promise<void> {
    for (let failures = 0; !signal.aborted;) {
      const startedAt = performance.now();
      try {
        if (this.#broken) await this.#verify(signal);
        if (this.#version === undefined) await this.#list(signal);
        // Who cannot list now goes on watching: what that may have missed can wait.
        else if (startedAt - this.#listedAt > this.#pace.relistMs)
          await this.#list(signal).catch((error: unknown) => signal.aborted || this.#complain(error, 0));
        await this.#watch(signal);
        if (performance.now() - startedAt > shortWatchMs) {
          failures = this.#tooOld = 0;
          continue;
        }
      } catch (error) {
        if (signal.aborted) return;
        if (this.#progress) failures = this.#tooOld = 0;
        this.#progress = false;
        this.#broken = true;
        if (error instanceof ApiError && error.status === 410) {
          // The history from there on is gone: list at once, unless that did not help the last time.
          this.#version = undefined;
          failures = this.#tooOld++;
        }
        this.#complain(error, failures);
      }
      await pause(backoffMs(failures, this.#pace.firstBackoffMs, this.#pace.mostBackoffMs), signal);
      failures += 1;
    }
  }

  #complain(error: unknown, failures: number): void {
    const reason = reasonOf(error);
    // Said at once, again when it lasts, and then now and then.
    if (failures !== 0 && failures !== 3 && failures % 20 !== 0) return;
    if (error instanceof ApiError && error.status === 404)
      this.#log.warn('list-watch: the API does not know this kind: is its CRD installed?');
    else if (failures === 0) this.#log.info({ reason }, 'list-watch: interrupted, going on');
    else this.#log.warn({ reason, failures }, 'list-watch: still interrupted');
  }

  /** Lists anew where the API server is at an earlier version than it was: restored from a backup, or another one. */
  async #verify(signal: AbortSignal): Promise<void> {
    const known = this.#version;
    if (known !== undefined) {
      const { version } = await this.#page({ limit: '1' }, signal);
      if (isEarlier(version, known)) {
        this.#log.warn({ version, known }, 'list-watch: the API server was put back to an earlier state, listing anew');
        this.#version = undefined;
      }
    }
    this.#broken = false;
  }

  async #list(signal: AbortSignal): Promise<void> {
    const listed = new Map<string, T>();
    let next = '';
    let version = '';
    let limit = this.#pace.pageSize;
    for (let page = 0; ; page++) {
      if (page === longestListPages) throw new Error(`a list of more than ${longestListPages} pages`);
      const query = { limit: String(limit), ...(next !== '' && { continue: next }) };
      const reply = await this.#page(query, signal).catch((error: unknown) => unlessDivisible(error, limit));
      // The objects are large: half as many of them from here on.
      if (!reply) {
        limit = Math.floor(limit / 2);
        continue;
      }
      for (const raw of reply.items) {
        const object = this.#parse(raw);
        if (object) listed.set(keyOf(object), object);
      }
      ({ version, next } = reply);
      if (next === '') break;
    }
    this.#take(listed);
    this.#version = version;
    this.#listedAt = this.#heardAt = performance.now();
    this.#tell({ kind: 'listed' });
  }

  /** @throws Error for an answer that is no whole list: what is missing from it must not be taken to be gone. */
  async #page(query: Record<string, string>, signal: AbortSignal) {
    const path = `${this.#kind.path}?${new URLSearchParams(query)}`;
    const reply = await this.#api.request({ method: 'GET', path, timeoutMs: this.#pace.listTimeoutMs, signal });
    const { metadata, items } = record(reply);
    const version = text(record(metadata)['resourceVersion']);
    if (version === '' || !Array.isArray(items)) throw new Error('a list without a resourceVersion, or without items');
    return { version, next: text(record(metadata)['continue']), items: items as unknown[] };
  }

  /** What the list says replaces what was known, told as the differences. */
  #take(listed: ReadonlyMap<string, T>): void {
    for (const [key, known] of this.objects) {
      if (listed.has(key)) continue;
      this.objects.delete(key);
      this.#tell({ kind: 'gone', object: known, witnessed: false });
    }
    for (const object of listed.values()) this.#put(object);
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const seconds = Math.round(this.#pace.watchSeconds * (0.9 + 0.2 * Math.random()));
    const query = new URLSearchParams({
      watch: 'true',
      allowWatchBookmarks: 'true',
      resourceVersion: this.#version ?? '',
      timeoutSeconds: String(seconds),
    });
    const events = this.#api.stream(`${this.#kind.path}?${query}`, { silenceMs: this.#pace.silenceMs, signal });
    for await (const event of events) {
      this.#heardAt = performance.now();
      this.#hear(record(event));
      this.#progress = true;
    }
  }

  #hear({ type, object }: Raw): void {
    if (type === 'ERROR') throw refusalOf(object, this.#kind.path);
    if (type === 'ADDED' || type === 'MODIFIED') {
      const parsed = this.#parse(object);
      if (parsed) this.#put(parsed);
    } else if (type === 'DELETED') {
      const parsed = this.#parse(object);
      if (parsed) this.#drop(parsed);
    } else if (type !== 'BOOKMARK') {
      this.#log.warn({ type }, 'list-watch: an event of unknown type');
    }
    const version = text(record(record(object)['metadata'])['resourceVersion']);
    if (version !== '') this.#version = version;
  }

  #put(object: T): void {
    const key = keyOf(object);
    const before = this.objects.get(key);
    if (before?.uid === object.uid && before.resourceVersion === object.resourceVersion) return;
    this.objects.set(key, object);
    if (before && before.uid !== object.uid) {
      this.#tell({ kind: 'gone', object: before, witnessed: true });
      this.#tell({ kind: 'present', object, before: undefined });
    } else this.#tell({ kind: 'present', object, before });
  }

  #drop(object: T): void {
    const key = keyOf(object);
    if (this.objects.get(key)?.uid !== object.uid) return;
    this.objects.delete(key);
    this.#tell({ kind: 'gone', object, witnessed: true });
  }

  #parse(raw: unknown): T | undefined {
    try {
      return this.#kind.parse(raw);
    } catch (error) {
      this.#log.error({ err: error }, 'list-watch: an object that cannot be understood is left out');
      return undefined;
    }
  }

  /** A listener that throws is a bug of ours; it must end neither the watch nor the other listeners. */
  #tell(change: Change<T>): void {
    for (const listener of this.#listeners) {
      try {
        listener(change);
      } catch (error) {
        this.#log.error({ err: error, change: change.kind }, 'list-watch: a listener failed');
      }
    }
  }
}

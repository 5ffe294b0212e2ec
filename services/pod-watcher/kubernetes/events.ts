/**
 * Kubernetes Events, for people: one object for each (object, reason), whose message is the latest and whose count grows.
 *
 * They are a courtesy: nothing waits for them, nothing fails with them. What repeats without news is written at most once
 * a minute, news of the same kind every 10 seconds, and what cannot be kept up with is dropped.
 */
import { createHash } from 'node:crypto';
import type { Logger } from '../../../lib/log.ts';
import { Queue } from '../queue.ts';
import { type Api, ApiError } from './api.ts';
import { record } from '../../../lib/raw.ts';
import { create, mergePatch, objectPath, read } from './patch.ts';

/** The object that an Event is about. */
export interface Regarding {
  readonly apiVersion: string;
  readonly kind: string;
  /** "" for a cluster-scoped object. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

export interface Happening {
  readonly type: 'Normal' | 'Warning';
  /** In CamelCase, for machines. */
  readonly reason: string;
  readonly message: string;
}

interface Series {
  readonly regarding: Regarding;
  readonly happening: Happening;
  /** How often it happened since it was last written. */
  readonly unwritten: number;
  readonly writtenAt: number;
  readonly written: string;
}

/** How soon after it was written a series may be written again. */
export interface EventPace {
  /** With another message. */
  readonly newsMs: number;
  /** With the same. */
  readonly repeatMs: number;
}

const usualPace: EventPace = { newsMs: 10_000, repeatMs: 60_000 };
const component = 'ipledger-pod-watcher';
const mostSeries = 4_096;
const messageMaxLength = 1_024;
const concurrency = 4;
/** After this many failures in a row an Event is given up. */
const mostTries = 5;

export class Events {
  readonly #api: Api;
  readonly #log: Logger;
  readonly #signal: AbortSignal;
  readonly #pace: EventPace;
  /** In order of use; the longest unused are forgotten first. */
  readonly #series = new Map<string, Series>();
  readonly #queue: Queue;

  constructor(api: Api, log: Logger, signal: AbortSignal, pace: Partial<EventPace> = {}) {
    this.#pace = { ...usualPace, ...pace };
    this.#api = api;
    this.#log = log;
    this.#signal = signal;
    const work = (key: string) => this.#write(key);
    this.#queue = new Queue({ concurrency, firstBackoffMs: 1_000, mostBackoffMs: 30_000, work, log, signal });
    this.#queue.start();
  }

  /** Says it; returns at once. */
  say(regarding: Regarding, happening: Happening): void {
    const key = `${regarding.uid}/${happening.reason}`;
    const known = this.#series.get(key);
    const { writtenAt, written, unwritten } = known ?? { writtenAt: -Infinity, written: '', unwritten: 0 };
    this.#series.delete(key);
    const series = { regarding, happening, unwritten: unwritten + 1, writtenAt, written };
    this.#series.set(key, series);
    for (const oldest of this.#series.keys()) {
      if (this.#series.size <= mostSeries) break;
      this.#series.delete(oldest);
    }
    this.#queue.addAfter(key, this.#dueInMs(series));
  }

  #dueInMs({ happening, written, writtenAt }: Series): number {
    const { newsMs, repeatMs } = this.#pace;
    return Math.max(0, writtenAt + (happening.message === written ? repeatMs : newsMs) - performance.now());
  }

  async #write(key: string): Promise<'done' | 'again'> {
    const series = this.#series.get(key);
    if (!series || series.unwritten === 0) return 'done';
    // Said while it was being written: the queue asks at once.
    const dueInMs = this.#dueInMs(series);
    if (dueInMs > 0) {
      this.#queue.addAfter(key, dueInMs);
      return 'done';
    }
    try {
      await this.#createOrCount(key, series);
    } catch (error) {
      const lost = this.#queue.tries(key) >= mostTries || (error instanceof ApiError && error.reaction !== 'later');
      if (!lost) return 'again';
      this.#log.debug({ err: error }, 'events: one is lost');
    }
    const latest = this.#series.get(key);
    if (!latest) return 'done';
    const unwritten = latest.unwritten - series.unwritten;
    this.#series.set(key, { ...latest, unwritten, writtenAt: performance.now(), written: series.happening.message });
    return 'done';
  }

  /** The first of a series is created; if it is there (from before a restart, perhaps), it is counted up. */
  async #createOrCount(key: string, { regarding, happening, unwritten, writtenAt }: Series): Promise<void> {
    const namespace = regarding.namespace || 'default';
    const collection = `/api/v1/namespaces/${namespace}/events`;
    // Cut where it is too long; a name must not end in a dash or a dot before the next.
    const beginning = regarding.name.slice(0, 230).replace(/[^a-z0-9]+$/, '');
    const name = `${beginning}.${createHash('sha256').update(key).digest('hex').slice(0, 16)}`;
    const now = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
    const { type, reason } = happening;
    const message = happening.message.slice(0, messageMaxLength);
    const signal = this.#signal;
    const fresh = async (): Promise<void> => {
      const involvedObject = { ...regarding, namespace: regarding.namespace || undefined };
      const source = { component };
      const metadata = { name, namespace };
      const times = { firstTimestamp: now, lastTimestamp: now, count: unwritten };
      await create(this.#api, {
        path: collection,
        body: { metadata, involvedObject, source, type, reason, message, ...times },
        signal,
      });
    };
    if (writtenAt === -Infinity) {
      try {
        return await fresh();
      } catch (error) {
        if (!(error instanceof ApiError) || error.status !== 409) throw error;
      }
    }
    const path = objectPath(collection, name);
    try {
      const count = Number(record(await read(this.#api, path, signal))['count'] ?? 0) + unwritten;
      await mergePatch(this.#api, { path, body: { message, count, lastTimestamp: now }, signal });
    } catch (error) {
      // The API server forgets Events after an hour.
      if (!(error instanceof ApiError) || error.status !== 404) throw error;
      await fresh();
    }
  }
}

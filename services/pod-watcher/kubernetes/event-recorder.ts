/**
 * Records Kubernetes Events: one Event object for each regarded object and reason, with the latest
 * message and a count.
 *
 * Events are best effort: no other work waits for them or fails with them. The same message is
 * written at most once a minute, and a new message of the same reason every 10 seconds. Events
 * beyond the limits are dropped.
 */
import { createHash } from 'node:crypto';
import { cutMiddle } from '../../../lib/cut-middle.ts';
import { escapeUnprintable } from '../../../lib/unprintable.ts';
import type { Logger } from '../../../lib/process/log.ts';
import { WorkQueue } from '../work-queue/work-queue.ts';
import { BoundedByNamespace } from './bounded-by-namespace.ts';
import type { Api } from '../../../lib/kubernetes/client/kubernetes-api.ts';
import { ApiError } from '../../../lib/kubernetes/client/api-error.ts';
import { asRecord } from '../../../lib/kubernetes/untyped-json.ts';
import { createObject, mergePatch, objectPath, readObject } from '../../../lib/kubernetes/client/object-requests.ts';

/** The object that an Event is about. */
export interface Regarding {
  readonly apiVersion: string;
  readonly kind: string;
  /** The namespace; "" for a cluster-scoped object. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

export interface PodEvent {
  readonly type: 'Normal' | 'Warning';
  /** The reason in CamelCase, for programs. */
  readonly reason: string;
  readonly message: string;
}

interface Series {
  readonly regarding: Regarding;
  readonly event: PodEvent;
  /** The number of occurrences since the last write. */
  readonly unwritten: number;
  readonly writtenAt: number;
  readonly written: string;
}

/** The minimum time between two writes of a series. */
export interface EventIntervals {
  /** The time before a changed message. */
  readonly changedMs: number;
  /** The time before the same message. */
  readonly repeatMs: number;
}

const defaultIntervals: EventIntervals = { changedMs: 10_000, repeatMs: 60_000 };
const component = 'ipledger-pod-watcher';
const maxSeries = 4_096;
const messageMaxBytes = 1_024;
const concurrency = 4;
/** The number of failed attempts after which an Event is dropped. */
const maxTries = 5;

export class EventRecorder {
  readonly #api: Api;
  readonly #log: Logger;
  readonly #signal: AbortSignal;
  readonly #intervals: EventIntervals;
  readonly #series = new BoundedByNamespace<Series>(maxSeries);
  readonly #queue: WorkQueue;

  constructor(api: Api, log: Logger, signal: AbortSignal, intervals: Partial<EventIntervals> = {}) {
    this.#intervals = { ...defaultIntervals, ...intervals };
    this.#api = api;
    this.#log = log;
    this.#signal = signal;
    const work = (key: string) => this.#write(key);
    this.#queue = new WorkQueue({ concurrency, firstBackoffMs: 1_000, maxBackoffMs: 30_000, work, log, signal });
    this.#queue.start();
  }

  /** Queues an Event. */
  record(regarding: Regarding, event: PodEvent): void {
    const key = `${regarding.namespace}/${regarding.uid}/${event.reason}`;
    const known = this.#series.get(key);
    const { writtenAt, written, unwritten } = known ?? { writtenAt: -Infinity, written: '', unwritten: 0 };
    const series = { regarding, event, unwritten: unwritten + 1, writtenAt, written };
    this.#series.put(key, series);
    this.#queue.addAfter(key, this.#dueInMs(series));
  }

  #dueInMs({ event, written, writtenAt }: Series): number {
    const { changedMs, repeatMs } = this.#intervals;
    return Math.max(0, writtenAt + (event.message === written ? repeatMs : changedMs) - performance.now());
  }

  async #write(key: string): Promise<'done' | 'again'> {
    const series = this.#series.get(key);
    if (!series || series.unwritten === 0) return 'done';
    // Postpones a write that is not due: an occurrence during the write calls this again.
    const dueInMs = this.#dueInMs(series);
    if (dueInMs > 0) {
      this.#queue.addAfter(key, dueInMs);
      return 'done';
    }
    try {
      await this.#createOrCount(key, series);
    } catch (error) {
      const isDropped = this.#queue.tries(key) >= maxTries || (error instanceof ApiError && error.reaction !== 'later');
      if (!isDropped) return 'again';
      this.#log.debug({ err: error }, 'events: dropped an Event');
    }
    const latest = this.#series.get(key);
    if (!latest) return 'done';
    const unwritten = latest.unwritten - series.unwritten;
    this.#series.put(key, { ...latest, unwritten, writtenAt: performance.now(), written: series.event.message });
    return 'done';
  }

  /** Creates the first Event of a series, or increases the count of a present Event. */
  async #createOrCount(key: string, { regarding, event, unwritten, writtenAt }: Series): Promise<void> {
    const namespace = regarding.namespace || 'default';
    const collection = `/api/v1/namespaces/${namespace}/events`;
    // Shortens the name, whose length is limited. No part of a name may end in a dash or a dot.
    const beginning = regarding.name.slice(0, 230).replace(/[^a-z0-9]+$/, '');
    const name = `${beginning}.${createHash('sha256').update(key).digest('hex').slice(0, 16)}`;
    const now = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
    const { type, reason } = event;
    const message = cutMiddle(escapeUnprintable(event.message), messageMaxBytes);
    const signal = this.#signal;
    const create = async (): Promise<void> => {
      const involvedObject = { ...regarding, namespace: regarding.namespace || undefined };
      const source = { component };
      const metadata = { name, namespace };
      const times = { firstTimestamp: now, lastTimestamp: now, count: unwritten };
      await createObject(this.#api, {
        path: collection,
        body: { metadata, involvedObject, source, type, reason, message, ...times },
        signal,
      });
    };
    if (writtenAt === -Infinity) {
      try {
        return await create();
      } catch (error) {
        if (!(error instanceof ApiError) || error.status !== 409) throw error;
      }
    }
    const path = objectPath(collection, name);
    try {
      const count = Number(asRecord(await readObject(this.#api, path, signal))['count'] ?? 0) + unwritten;
      await mergePatch(this.#api, { path, body: { message, count, lastTimestamp: now }, signal });
    } catch (error) {
      // Creates an Event again that the API server deleted after an hour.
      if (!(error instanceof ApiError) || error.status !== 404) throw error;
      await create();
    }
  }
}

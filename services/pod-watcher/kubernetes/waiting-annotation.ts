/**
 * Shows on a Pod why it has no addresses, in an annotation. The node agent adds the reason to its
 * CNI error: it may read this one Pod, and no Events. Most waits are short, so the first text is
 * written after two seconds, and a new text at most every 10 seconds, as an Event is.
 */
import type { Api } from '../../../lib/kubernetes/client/kubernetes-api.ts';
import { ApiError } from '../../../lib/kubernetes/client/api-error.ts';
import { cutMiddle } from '../../../lib/cut-middle.ts';
import { keyOf } from '../../../lib/kubernetes/client/informer.ts';
import { mergePatch, podPath } from '../../../lib/kubernetes/client/object-requests.ts';
import { waitingAnnotation } from '../../../lib/kubernetes/kubernetes-metadata.ts';
import type { Logger } from '../../../lib/process/log.ts';
import { type Outcome, WorkQueue } from '../work-queue/work-queue.ts';
import { BoundedByNamespace } from './bounded-by-namespace.ts';
import type { PodEvent } from './event-recorder.ts';
import type { Pod } from './objects/pod.ts';

/** The limit of the text of a CNI error. */
const maxBytes = 512;
/** The number of annotated Pods. Further Pods have the reason only in the Event. */
const maxPods = 10_000;
const concurrency = 4;
const firstBackoffMs = 1_000;
const maxBackoffMs = 30_000;
const intervalMs = 10_000;
const defaultDelayMs = 2_000;
/** A text that an earlier watcher wrote. */
const unknownText = '?';

interface Shown {
  readonly uid: string;
  readonly text: string;
  readonly written: string;
  readonly writtenAt: number | undefined;
}

export class WaitingAnnotation {
  readonly #api: Api;
  readonly #log: Logger;
  readonly #signal: AbortSignal;
  readonly #delayMs: number;
  readonly #pods = new BoundedByNamespace<Shown>(maxPods);
  readonly #queue: WorkQueue;

  /** @param delayMs the time before the first text of a Pod is written */
  constructor(api: Api, log: Logger, signal: AbortSignal, delayMs = defaultDelayMs) {
    this.#api = api;
    this.#log = log;
    this.#signal = signal;
    this.#delayMs = delayMs;
    const work = (key: string): Promise<Outcome> => this.#write(key);
    this.#queue = new WorkQueue({ concurrency, firstBackoffMs, maxBackoffMs, work, log, signal });
    this.#queue.start();
  }

  /** Handles an Event about a Pod. The reason why it has no addresses precedes other Warnings. */
  record(pod: Pod, { type, reason, message }: PodEvent): void {
    if (reason === 'PodNetworkAllocated') return this.end(pod);
    const shown = this.#shownOf(pod);
    if (type === 'Warning' && (isWaitReason(message) || !isWaitReason(shown.text)))
      this.#show(keyOf(pod), { ...shown, text: cutMiddle(message, maxBytes) });
  }

  /** Removes the annotation of a Pod that no longer waits, also if an earlier watcher wrote it. */
  end(pod: Pod): void {
    this.#show(keyOf(pod), { ...this.#shownOf(pod), text: '' });
  }

  #shownOf({ uid, showsWaitReason, ...pod }: Pod): Shown {
    const known = this.#pods.get(keyOf(pod));
    if (known?.uid === uid) return known;
    return { uid, text: '', written: showsWaitReason ? unknownText : '', writtenAt: undefined };
  }

  #show(key: string, shown: Shown): void {
    this.#pods.put(key, shown);
    const { text, written, writtenAt } = shown;
    if (text === written) return;
    const textDelayMs = writtenAt === undefined ? this.#delayMs : writtenAt + intervalMs - performance.now();
    this.#queue.addAfter(key, text === '' ? 0 : Math.max(0, textDelayMs));
  }

  async #write(key: string): Promise<Outcome> {
    const shown = this.#pods.get(key);
    if (!shown || shown.text === shown.written) return 'done';
    const { uid, text } = shown;
    const [namespace = '', name = ''] = key.split('/');
    const body = { metadata: { uid, annotations: { [waitingAnnotation]: text || null } } };
    try {
      await mergePatch(this.#api, { path: podPath(namespace, name), body, signal: this.#signal });
    } catch (error) {
      if (!(error instanceof ApiError) || error.reaction === 'later') return 'again';
      // Gives up: the Pod is deleted, or the API server rejects the text.
      this.#log.debug({ pod: key, reason: error.message }, 'could not show why a Pod waits');
    }
    const latest = this.#pods.get(key);
    if (latest?.uid !== uid) return 'done';
    if (latest.text === '' && text === '') this.#pods.delete(key);
    else this.#show(key, { ...latest, written: text, writtenAt: performance.now() });
    return 'done';
  }
}

/** Whether a Warning is a reason to wait: those about other plugins' networks have no stage. */
const isWaitReason = (message: string): boolean => message.startsWith('stage=');

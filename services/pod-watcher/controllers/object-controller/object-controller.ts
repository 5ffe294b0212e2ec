/**
 * The controller that Subnet, IPPool, Vip, IP and IPAMClaim objects share: applies a new or changed
 * spec to the ledger, and retires it when the object is deleted. A finalizer keeps an object while
 * the ledger uses it. Its conditions show the allocator's answer.
 */
import { storeNewest } from '../../../../lib/maps.ts';
import { IpledgerError } from '../../../../lib/errors.ts';
import type { Logger } from '../../../../lib/process/log.ts';
import { ApiError } from '../../../../lib/kubernetes/client/api-error.ts';
import type { PodEvent } from '../../kubernetes/event-recorder.ts';
import { keyOf, type ObjectChange, type Informer } from '../../../../lib/kubernetes/client/informer.ts';
import type { CustomResource } from '../../kubernetes/objects/custom-resource.ts';
import type { UntypedJson } from '../../../../lib/kubernetes/untyped-json.ts';
import { type Outcome, WorkQueue } from '../../work-queue/work-queue.ts';
import { type ConditionReasons, refusalReason, updatedConditions, type Verdict, type Warning } from './conditions.ts';
import { addFinalizerPatch, removeFinalizersPatch, versionPrecondition } from '../../kubernetes/objects/finalizer.ts';

/** Writes a part of an object with a merge patch. */
export type ObjectPatcher<T> = (object: T, body: UntypedJson, signal: AbortSignal) => Promise<void>;

/** The fields to change, by part of the object. */
export interface Differences {
  readonly labels?: UntypedJson;
  readonly spec?: UntypedJson;
  readonly status?: UntypedJson;
}

export interface ObjectControllerOptions<T extends CustomResource> {
  readonly objects: Pick<Informer<T>, 'objects' | 'subscribe'>;
  /** Whether the controller handles an object; absent: it handles all. */
  readonly isRelevant?: (object: T) => boolean;
  /**
   * Applies an object's spec to the ledger.
   * @returns the fields that the object must show; undefined if it requests nothing
   * @throws IpledgerError if the spec is rejected. Kinds 'transient' and 'bug' are retried.
   */
  readonly apply: (object: T, signal: AbortSignal) => Promise<UntypedJson | undefined>;
  /** Whether the ledger still has an accepted object; the name may be "namespace/name". */
  readonly isApplied: (name: string) => boolean;
  /** Returns the changes after which an object shows the `desired` fields. */
  readonly differences: (object: T, desired: UntypedJson) => Differences;
  /** Retires a name's record. Idempotent. @throws IpledgerError 'conflict' while it is in use */
  readonly retire: (name: string, signal: AbortSignal) => Promise<void>;
  /** The names of objects that the ledger has applied. */
  readonly appliedNames: () => readonly string[];
  /** Returns all warnings of the kind, raised or not; absent: the kind has none. */
  readonly warnings?: (object: T) => readonly Warning[];
  /** Called with each new verdict, before the object shows it. */
  readonly onVerdict: (object: T, verdict: Verdict) => void;
  readonly reasons: ConditionReasons;
  readonly write: ObjectPatcher<T>;
  readonly writeStatus: ObjectPatcher<T>;
  readonly recordEvent: (object: T, podEvent: PodEvent) => void;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** The options that are the same for all controllers of a kind. */
export type ObjectAccess<T extends CustomResource> = Pick<
  ObjectControllerOptions<T>,
  'objects' | 'write' | 'writeStatus' | 'recordEvent' | 'log' | 'signal'
>;

interface Answer {
  /** The "uid/generation" of the spec to which the verdict belongs. */
  readonly of: string;
  readonly verdict: Verdict;
  /** The fields that the object must show. */
  readonly desired?: UntypedJson;
  readonly outcome: Outcome;
}

const concurrency = 4;
const firstBackoffMs = 500;
const maxBackoffMs = 30_000;
/** The number of deleted objects to keep that the ledger still uses, for Events about them. */
const maxDeleted = 1_024;

export class ObjectController<T extends CustomResource> {
  readonly #options: ObjectControllerOptions<T>;
  readonly #queue: WorkQueue;
  readonly #answers = new Map<string, Answer>();
  readonly #deleted = new Map<string, T>();
  #idleCallbacks: (() => void)[] = [];
  #started = false;

  constructor(options: ObjectControllerOptions<T>) {
    this.#options = options;
    const { log, signal } = options;
    const work = (name: string): Promise<Outcome> => this.#reconcile(name);
    this.#queue = new WorkQueue({ concurrency, firstBackoffMs, maxBackoffMs, work, log, signal });
    options.objects.subscribe((change) => this.#onChange(change));
  }

  /** Starts; resolves when every present object has been tried once. */
  async start(): Promise<void> {
    this.#started = true;
    this.enqueueAll();
    this.#queue.start();
    while (!this.#queue.isIdle && !this.#options.signal.aborted)
      await new Promise<void>((resolve) => this.#idleCallbacks.push(resolve));
  }

  enqueueAll(): void {
    if (!this.#started) return;
    for (const name of this.#options.appliedNames()) this.#queue.add(name);
    for (const object of this.#options.objects.objects.values())
      if (this.#isRelevant(object)) this.#queue.add(keyOf(object));
  }

  enqueue(name: string): void {
    this.#queue.add(name);
  }

  /** Retires an applied name whose object was deleted before. */
  enqueueIfOrphaned(name: string): void {
    if (!this.#options.objects.objects.has(name)) this.#queue.add(name);
  }

  /** Retries a name immediately if it was rejected, or could not be retired. */
  retry(name: string): void {
    if (this.#queue.tries(name) > 0) this.#queue.add(name);
  }

  /** Retries all objects that a change may help, by default all objects. */
  retryAll(mayHelp: (object: T) => boolean = () => true): void {
    for (const name of this.#queue.retryingKeys()) {
      const object = this.#options.objects.objects.get(name);
      if (!object || mayHelp(object)) this.#queue.add(name);
    }
  }

  #isRelevant(object: T): boolean {
    return this.#options.isRelevant?.(object) ?? true;
  }

  #specWarnings(object: T): readonly Warning[] {
    const warnings = this.#options.warnings?.(object) ?? [];
    return warnings.filter(({ about, message }) => about === 'spec' && message !== '');
  }

  #onChange(change: ObjectChange<T>): void {
    if (change.kind === 'listed' || !this.#isRelevant(change.object)) return;
    const { object } = change;
    const key = keyOf(object);
    if (change.kind === 'gone') storeNewest(this.#deleted, key, object, maxDeleted);
    else this.#deleted.delete(key);
    this.#queue.add(key);
  }

  async #reconcile(name: string): Promise<Outcome> {
    try {
      const object = this.#options.objects.objects.get(name);
      if (object && !this.#isRelevant(object)) return 'done';
      return object && !object.deleting ? await this.#apply(object) : await this.#retire(name, object);
    } catch (error) {
      // Waits for the informer, which will deliver the newer state.
      if (error instanceof ApiError && error.reaction === 'absent') return 'done';
      if (error instanceof ApiError && error.reaction === 'changed') return 'again';
      throw error;
    } finally {
      // Runs the callbacks after this key has left the queue.
      setImmediate(() => {
        for (const callback of this.#idleCallbacks.splice(0)) callback();
      });
    }
  }

  async #apply(object: T): Promise<Outcome> {
    const { isApplied, onVerdict, recordEvent, reasons } = this.#options;
    const key = keyOf(object);
    const of = `${object.uid}/${object.generation}`;
    const previous = this.#answers.get(key);
    const isSettled = previous?.of === of && previous.verdict.accepted && isApplied(key);
    const answer = isSettled ? previous : await this.#applySpec(object, of);
    const { verdict, desired, outcome } = answer;
    if (!isSettled) onVerdict(object, verdict);
    const isNew = previous?.of !== of || previous.verdict.message !== verdict.message;
    if (isNew && !verdict.accepted)
      recordEvent(object, { type: 'Warning', reason: refusalReason(reasons, verdict), message: verdict.message });
    if (isNew && verdict.accepted)
      for (const { raised, message } of this.#specWarnings(object))
        recordEvent(object, { type: 'Warning', reason: raised.reason, message });
    this.#answers.set(key, answer);
    // Stops if the spec was changed: it has a new generation, and the conditions are written when
    // the informer delivers it.
    if (desired && (await this.#writeApplied(object, desired))) return outcome;
    await this.#writeConditions(object, verdict, desired && this.#options.differences(object, desired).status);
    return outcome;
  }

  async #applySpec(object: T, of: string): Promise<Answer> {
    const { apply, log, signal } = this.#options;
    try {
      if (object.problems.length > 0) throw new IpledgerError('INVALID_REQUEST', object.problems.join('; '));
      const desired = await apply(object, signal);
      return { of, ...(desired && { desired }), verdict: { accepted: true, message: '' }, outcome: 'done' };
    } catch (thrown) {
      const error = IpledgerError.from(thrown);
      if (error.kind === 'transient' || error.kind === 'bug') throw error;
      const { code, message, kind } = error;
      log.info({ name: object.name, code, reason: message }, 'objects: the allocator rejected the spec');
      return { of, verdict: { accepted: false, message, code }, outcome: kind === 'invalid' ? 'done' : 'again' };
    }
  }

  /** Writes the fields in force and the finalizer. @returns whether the spec was changed */
  async #writeApplied(object: T, desired: UntypedJson): Promise<boolean> {
    const { differences, write, signal } = this.#options;
    const { labels, spec } = differences(object, desired);
    const finalizerPatch = addFinalizerPatch(object);
    if (!spec && !finalizerPatch && !labels) return false;
    const metadata = { ...versionPrecondition(object), ...finalizerPatch, ...(labels && { labels }) };
    await write(object, { metadata, ...(spec && { spec }) }, signal);
    return spec !== undefined;
  }

  async #writeConditions({ namespace, name, uid }: T, verdict: Verdict, more?: UntypedJson): Promise<void> {
    const { objects, reasons, writeStatus, signal } = this.#options;
    const object = objects.objects.get(keyOf({ namespace, name }));
    if (object?.uid !== uid) return;
    const { generation, status } = object;
    const warnings = this.#options.warnings?.(object);
    const conditions = updatedConditions(status['conditions'], verdict, {
      reasons,
      generation,
      now: new Date(),
      warnings,
    });
    if (conditions || more) await writeStatus(object, { ...more, ...(conditions && { conditions }) }, signal);
  }

  async #retire(name: string, object: T | undefined): Promise<Outcome> {
    const { retire, write, signal } = this.#options;
    this.#answers.delete(name);
    try {
      await retire(name, signal);
    } catch (thrown) {
      const error = IpledgerError.from(thrown);
      if (error.kind !== 'conflict') throw error;
      await this.#reportInUse(name, object, error.message);
      return 'again';
    }
    this.#deleted.delete(name);
    const metadata = object && removeFinalizersPatch(object);
    if (object && metadata) await write(object, { metadata: { ...versionPrecondition(object), ...metadata } }, signal);
    return 'done';
  }

  /** Reports a deleted object in use: without the finalizer only an Event can show it. */
  async #reportInUse(name: string, object: T | undefined, message: string): Promise<void> {
    const { recordEvent, reasons, log } = this.#options;
    log.info({ name, reason: message }, 'objects: a deleted object is still in use');
    const regarding = object ?? this.#deleted.get(name);
    if (regarding && this.#queue.tries(name) === 0)
      recordEvent(regarding, { type: 'Warning', reason: reasons.inUse, message });
    if (object) await this.#writeConditions(object, { accepted: false, message, inUse: true });
  }
}

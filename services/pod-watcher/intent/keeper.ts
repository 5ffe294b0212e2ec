/**
 * Keeps the ledger at what the objects of one kind say: applied when one is new or changed, retired when it goes. A finalizer
 * holds an object while the ledger has something of it; what the ledger says to its spec stands on its conditions.
 */
import { IpledgerError } from '../../../lib/errors.ts';
import type { Logger } from '../../../lib/log.ts';
import { ApiError } from '../kubernetes/api.ts';
import type { Happening } from '../kubernetes/events.ts';
import type { Change, Source } from '../kubernetes/list-watch.ts';
import type { Kept } from '../kubernetes/kept-objects.ts';
import type { Raw } from '../../../lib/raw.ts';
import { type Outcome, Queue } from '../queue.ts';
import { type Caution, conditionsAfter, type Reasons, type Verdict, type Warning } from './conditions.ts';
import { holding, lettingGo, unchanged } from '../kubernetes/finalizer.ts';

/** Writes a part of an object, by a merge patch. */
export type Write<T> = (object: T, body: Raw, signal: AbortSignal) => Promise<void>;

/** Fields that differ, of each part of an object in which some do. */
export interface Differences {
  readonly labels?: Raw;
  readonly spec?: Raw;
  readonly status?: Raw;
}

export interface KeeperOptions<T extends Kept> {
  readonly objects: Pick<Source<T>, 'objects' | 'subscribe'>;
  /** Whether an object is one of those; absent: all are. */
  readonly concerns?: (object: T) => boolean;
  /**
   * Brings the ledger to what an object says, and gives what it must show then; undefined when it asks for nothing.
   * @throws IpledgerError why not; of kind 'transient' or 'bug' it is no answer.
   */
  readonly apply: (object: T, signal: AbortSignal) => Promise<Raw | undefined>;
  /** Whether the ledger has what it said yes to. */
  readonly stands: (name: string) => boolean;
  /** What an object must change for it to show `wanted`. */
  readonly differences: (object: T, wanted: Raw) => Differences;
  /** Ends what the ledger has of this name; none is success. @throws IpledgerError of kind 'conflict' while it is in use. */
  readonly retire: (name: string, signal: AbortSignal) => Promise<void>;
  /** Names of which the ledger has something that was made from an object. */
  readonly names: () => readonly string[];
  /** What stands beside the verdict in an object's conditions; absent: nothing. */
  readonly warnings?: (object: T) => readonly Warning[];
  /** Called with each answer that is new, before it is shown. */
  readonly onAnswer: (object: T, verdict: Verdict) => void;
  readonly reasons: Reasons;
  /** What of an accepted spec has no effect; absent: nothing. */
  readonly cautions?: (object: T) => readonly Caution[];
  readonly write: Write<T>;
  readonly writeStatus: Write<T>;
  readonly say: (object: T, happening: Happening) => void;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** Of these, what whoever keeps a kind is given: where its objects are, how they are written, whom to tell. */
export type Keeping<T extends Kept> = Pick<
  KeeperOptions<T>,
  'objects' | 'write' | 'writeStatus' | 'say' | 'log' | 'signal'
>;

interface Answer {
  /** The "uid/generation" that it is about. */
  readonly of: string;
  readonly verdict: Verdict;
  readonly wanted?: Raw;
  readonly outcome: Outcome;
}

const concurrency = 4;
const firstBackoffMs = 500;
const mostBackoffMs = 30_000;
/** Of objects that are gone while the ledger still has something of them, so that it can be said of which. */
const mostGone = 1_024;

export class Keeper<T extends Kept> {
  readonly #options: KeeperOptions<T>;
  readonly #queue: Queue;
  readonly #answers = new Map<string, Answer>();
  readonly #gone = new Map<string, T>();
  #waiters: (() => void)[] = [];
  #started = false;

  constructor(options: KeeperOptions<T>) {
    this.#options = options;
    const { log, signal } = options;
    const work = (name: string): Promise<Outcome> => this.#turn(name);
    this.#queue = new Queue({ concurrency, firstBackoffMs, mostBackoffMs, work, log, signal });
    options.objects.subscribe((change) => this.#onChange(change));
  }

  /** Begins; resolves when every object that is known now has been tried once. */
  async start(): Promise<void> {
    this.#started = true;
    this.addAll();
    this.#queue.start();
    while (!this.#queue.idle && !this.#options.signal.aborted)
      await new Promise<void>((resolve) => this.#waiters.push(resolve));
  }

  /** Looks at everything again. */
  addAll(): void {
    if (!this.#started) return;
    for (const name of this.#options.names()) this.#queue.add(name);
    for (const object of this.#options.objects.objects.values())
      if (this.#concerns(object)) this.#queue.add(object.name);
  }

  /** Looks at one of this name again. */
  add(name: string): void {
    this.#queue.add(name);
  }

  /** The ledger tells that it has something of this name: the object may have gone before, and then it is retired. */
  heard(name: string): void {
    if (!this.#options.objects.objects.has(name)) this.#queue.add(name);
  }

  /** What was refused, or could not be retired, may go now: tries it at once. */
  retry(name: string): void {
    if (this.#queue.tries(name) > 0) this.#queue.add(name);
  }

  /** The same of all that it may help; of all there are unless said. */
  retryAll(mayHelp: (object: T) => boolean = () => true): void {
    for (const name of this.#queue.trying()) {
      const object = this.#options.objects.objects.get(name);
      if (!object || mayHelp(object)) this.#queue.add(name);
    }
  }

  #concerns(object: T): boolean {
    return this.#options.concerns?.(object) ?? true;
  }

  #cautions(object: T): readonly Caution[] {
    return this.#options.cautions?.(object) ?? [];
  }

  #onChange(change: Change<T>): void {
    if (change.kind === 'listed' || !this.#concerns(change.object)) return;
    const { object } = change;
    if (change.kind === 'gone') this.#gone.set(object.name, object);
    else this.#gone.delete(object.name);
    for (const oldest of this.#gone.keys()) {
      if (this.#gone.size <= mostGone) break;
      this.#gone.delete(oldest);
    }
    this.#queue.add(object.name);
  }

  async #turn(name: string): Promise<Outcome> {
    try {
      const object = this.#options.objects.objects.get(name);
      if (object && !this.#concerns(object)) return 'done';
      return object && !object.deleting ? await this.#apply(object) : await this.#retire(name, object);
    } catch (error) {
      // What it is by now will be told.
      if (error instanceof ApiError && error.reaction === 'absent') return 'done';
      if (error instanceof ApiError && error.reaction === 'changed') return 'again';
      throw error;
    } finally {
      // After this turn has left the queue.
      setImmediate(() => {
        for (const tell of this.#waiters.splice(0)) tell();
      });
    }
  }

  async #apply(object: T): Promise<Outcome> {
    const { stands, onAnswer, say, reasons } = this.#options;
    const of = `${object.uid}/${object.generation}`;
    const known = this.#answers.get(object.name);
    const settled = known?.of === of && known.verdict.accepted && stands(object.name);
    const answer = settled ? known : await this.#ask(object, of);
    const { verdict, wanted, outcome } = answer;
    if (!settled) onAnswer(object, verdict);
    const news = known?.of !== of || known.verdict.message !== verdict.message;
    if (news && !verdict.accepted) say(object, { type: 'Warning', reason: reasons.refused, message: verdict.message });
    if (news && verdict.accepted)
      for (const { reason, message } of this.#cautions(object)) say(object, { type: 'Warning', reason, message });
    this.#answers.set(object.name, answer);
    // Another spec is another generation: the conditions are about that one, once it is here.
    if (wanted && (await this.#show(object, wanted))) return outcome;
    await this.#tell(object, verdict, wanted && this.#options.differences(object, wanted).status);
    return outcome;
  }

  async #ask(object: T, of: string): Promise<Answer> {
    const { apply, log, signal } = this.#options;
    try {
      if (object.problems.length > 0) throw new IpledgerError('INVALID_REQUEST', object.problems.join('; '));
      const wanted = await apply(object, signal);
      return { of, ...(wanted && { wanted }), verdict: { accepted: true, message: '' }, outcome: 'done' };
    } catch (thrown) {
      const error = IpledgerError.from(thrown);
      if (error.kind === 'transient' || error.kind === 'bug') throw error;
      const { code, message, kind } = error;
      log.info({ name: object.name, code, reason: message }, 'intent: refused');
      return { of, verdict: { accepted: false, message }, outcome: kind === 'invalid' ? 'done' : 'again' };
    }
  }

  /** Makes the object show what is in force, and stay until the ledger has let go of it. Whether its spec was changed. */
  async #show(object: T, wanted: Raw): Promise<boolean> {
    const { differences, write, signal } = this.#options;
    const { labels, spec } = differences(object, wanted);
    const held = holding(object);
    if (!spec && !held && !labels) return false;
    const metadata = { ...unchanged(object), ...held, ...(labels && { labels }) };
    await write(object, { metadata, ...(spec && { spec }) }, signal);
    return spec !== undefined;
  }

  async #tell({ name, uid }: T, verdict: Verdict, more?: Raw): Promise<void> {
    const { objects, reasons, writeStatus, signal } = this.#options;
    const object = objects.objects.get(name);
    if (object?.uid !== uid) return;
    const { generation, status } = object;
    const cautions = this.#cautions(object);
    const warnings = this.#options.warnings?.(object);
    const at = { reasons, generation, now: new Date(), cautions, warnings };
    const conditions = conditionsAfter(status['conditions'], verdict, at);
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
      await this.#tellInUse(name, object, error.message);
      return 'again';
    }
    this.#gone.delete(name);
    const metadata = object && lettingGo(object);
    if (object && metadata) await write(object, { metadata: { ...unchanged(object), ...metadata } }, signal);
    return 'done';
  }

  /** Whoever took the finalizer away took the object out of sight, too: an Event is all that can tell. */
  async #tellInUse(name: string, object: T | undefined, message: string): Promise<void> {
    const { say, reasons, log } = this.#options;
    log.info({ name, reason: message }, 'intent: it is gone, and still in use');
    const about = object ?? this.#gone.get(name);
    if (about && this.#queue.tries(name) === 0) say(about, { type: 'Warning', reason: reasons.inUse, message });
    if (object) await this.#tell(object, { accepted: false, message, inUse: true });
  }
}

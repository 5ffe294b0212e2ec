/**
 * Leader election with a Lease object, as in Kubernetes' own controllers. A standby takes over when
 * the Lease has not changed for its duration, measured by the standby's own clock. Clocks of
 * different machines are not compared. A holder that cannot renew the Lease stops earlier than
 * that.
 */
import { hostname } from 'node:os';
import { randomUUID } from 'node:crypto';
import { errorMessage } from '../errors.ts';
import { pause, timeoutSignal } from '../process/abortable.ts';
import type { Lifecycle } from '../process/lifecycle.ts';
import type { Logger } from '../process/log.ts';
import type { Api } from './client/kubernetes-api.ts';
import { ApiError, ifPresent } from './client/api-error.ts';
import { type UntypedJson, asRecord, asText } from './untyped-json.ts';
import { leasesPath, createObject, objectPath, readObject, replaceObject } from './client/object-requests.ts';

/** Timeouts and intervals. The defaults suit a real API server. */
export interface LeaseTimings {
  /** The time without a renewal after which a standby takes over. */
  readonly durationMs: number;
  /** The time without a renewal after which the holder stops; less than the duration. */
  readonly renewWithinMs: number;
  readonly renewEveryMs: number;
  /** The interval in which a standby reads the Lease. */
  readonly retryEveryMs: number;
}

const defaultTimings: LeaseTimings = {
  durationMs: 10_000,
  renewWithinMs: 9_000,
  renewEveryMs: 2_000,
  retryEveryMs: 1_000,
};

/** One identity for all terms, so that a process can take back its own Lease at once. */
const ownIdentity = `${hostname()}_${randomUUID()}`;

export interface LeaseOptions {
  readonly api: Api;
  readonly namespace: string;
  readonly name: string;
  /** Default: the identity of the process. */
  readonly identity?: string;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Called when another process, which may be alive, holds the Lease. */
  readonly onStandby: () => void;
  /** Called after each renewal, with the annotations of the Lease. */
  readonly onRenewed?: (annotations: UntypedJson) => void;
  /** The state for the next holder, written at each renewal; undefined keeps the present state. */
  readonly handoverState?: () => string | undefined;
  readonly timings?: Partial<LeaseTimings>;
}

export interface HeldLease {
  /** The state that the previous holder left; '' for none. */
  readonly handoverState: string;
  /** Resolves when the Lease is lost or released, or the signal is aborted. */
  readonly ended: Promise<void>;
  /** Renews now, and stores the handover state. Never resolves after the Lease is lost. */
  store(): Promise<void>;
  /**
   * Stops renewing, and releases the Lease, so that a standby can take over immediately.
   * @throws ApiError if the release failed: then the Lease expires
   */
  release(): Promise<void>;
}

/** Waits until this process holds the Lease, and renews it. Returns undefined after an abort. */
export async function acquireLease(options: LeaseOptions): Promise<HeldLease | undefined> {
  const lease = new Lease(options);
  while (!options.signal.aborted) {
    try {
      if (await lease.acquire()) {
        const ended = lease.renewUntilLost();
        const release = (): Promise<void> => (lease.stopRenewing(), ended.then(() => lease.release()));
        return { handoverState: lease.previousState, ended, store: () => lease.renewNow(), release };
      }
    } catch (error) {
      if (options.signal.aborted) return undefined;
      options.log.warn({ reason: errorMessage(error) }, 'lease: not acquired, retrying');
    }
    await pause(lease.timings.retryEveryMs, options.signal);
  }
  return undefined;
}

export interface TermOptions extends Omit<LeaseOptions, 'signal'> {
  readonly life: Pick<Lifecycle, 'signal' | 'onStop'>;
  /** Called before each attempt to acquire the Lease. */
  readonly prepare?: () => Promise<void>;
}

/**
 * Runs `work` whenever this process holds the Lease, until the program stops.
 * @param work resolves when its signal is aborted because the Lease is lost, or earlier to release
 * the Lease
 */
export async function workInTerms(
  { life, prepare, ...options }: TermOptions,
  work: (lease: HeldLease, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const { signal } = life;
  let lease: HeldLease | undefined;
  life.onStop(() => lease?.release());
  while (!signal.aborted) {
    await prepare?.();
    lease = await acquireLease({ ...options, signal });
    if (!lease) return;
    const term = new AbortController();
    void lease.ended.then(() => term.abort());
    await work(lease, AbortSignal.any([signal, term.signal]));
    term.abort();
    if (signal.aborted) return;
    await lease
      .release()
      .catch((error: unknown) => options.log.warn({ reason: errorMessage(error) }, 'lease: not released'));
  }
}

/** The annotation of a Lease that holds the handover state. */
export const handoverStateAnnotation = 'ipledger.io/memory';

class Lease {
  readonly timings: LeaseTimings;
  /** The handover state in the Lease when this process acquired it. */
  previousState = '';
  readonly #options: LeaseOptions;
  readonly #path: string;
  readonly #identity: string;
  /** The version of another holder's Lease, and the time since which it is unchanged. */
  #observed = { version: '', at: 0 };
  /** The start of the last successful request. Standbys count the duration from a later time. */
  #heldSince = 0;
  /** The callers of `renewNow`. */
  #waiting: (() => void)[] = [];
  #isWanted = false;
  /** True during a release. A renewal after a failed release would keep an unused Lease forever. */
  #isStopping = false;
  #wake = (): void => undefined;

  constructor(options: LeaseOptions) {
    this.#options = options;
    this.#identity = options.identity ?? ownIdentity;
    this.timings = { ...defaultTimings, ...options.timings };
    this.#path = objectPath(leasesPath(options.namespace), options.name);
  }

  /** Tries to acquire the Lease. Returns whether this process now holds it. */
  async acquire(): Promise<boolean> {
    const { api, namespace, name, log } = this.#options;
    const found = await this.#read();
    this.previousState = found ? handoverStateOf(found) : '';
    this.#heldSince = performance.now();
    const deadline = this.#deadline();
    try {
      if (!found) {
        const body = { metadata: { name, namespace }, spec: this.#spec(0) };
        await createObject(api, { path: leasesPath(namespace), body, signal: deadline });
      } else if (this.#isFree(found)) await this.#write(found, this.#spec(transitions(found) + 1), deadline);
      else return false;
      log.info({ lease: `${namespace}/${name}`, identity: this.#identity }, 'lease: active');
      return true;
    } catch (error) {
      if (error instanceof ApiError && error.reaction === 'changed') return false;
      throw error;
    }
  }

  /** Renews until the Lease is lost or must be released. */
  async renewUntilLost(): Promise<void> {
    const { signal, log, onRenewed } = this.#options;
    for (;;) {
      await this.#pauseUntilDue();
      if (signal.aborted || this.#isStopping) return;
      const startedAt = performance.now();
      const waiting = this.#waiting;
      this.#waiting = [];
      try {
        const annotations = await this.#renew(this.#deadline());
        this.#heldSince = startedAt;
        for (const resolve of waiting) resolve();
        onRenewed?.(annotations);
      } catch (error) {
        if (signal.aborted) return;
        this.#waiting.unshift(...waiting);
        const isLost = error instanceof LeaseTaken || this.#remainingMs === 0;
        log.warn({ reason: errorMessage(error) }, isLost ? 'lease: lost' : 'lease: not renewed, retrying');
        if (isLost) return;
      }
    }
  }

  /** Renews immediately. Resolves after a renewal that began after the call. */
  renewNow(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    this.#isWanted = true;
    this.#wake();
    return promise;
  }

  stopRenewing(): void {
    this.#isStopping = true;
    this.#wake();
  }

  async #pauseUntilDue(): Promise<void> {
    const woken = Promise.withResolvers<void>();
    this.#wake = woken.resolve;
    const dueMs = Math.min(this.timings.renewEveryMs, this.#remainingMs);
    if (!this.#isWanted && !this.#isStopping) await Promise.race([pause(dueMs, this.#options.signal), woken.promise]);
    this.#isWanted = false;
  }

  async release(): Promise<void> {
    const found = await this.#read(AbortSignal.timeout(2_000));
    if (!found || leaseHolder(found) !== this.#identity) return;
    const spec = { ...this.#spec(transitions(found)), holderIdentity: '', leaseDurationSeconds: 1 };
    await this.#write(found, spec, AbortSignal.timeout(2_000));
  }

  /** The time for which this process may still act as holder without a renewal. */
  get #remainingMs(): number {
    return Math.max(0, this.#heldSince + this.timings.renewWithinMs - performance.now());
  }

  /** The time limit of a request: a response after the Lease has expired is useless. */
  #deadline(): AbortSignal {
    return timeoutSignal(this.#remainingMs, this.#options.signal);
  }

  async #renew(signal: AbortSignal): Promise<UntypedJson> {
    const found = await this.#read(signal);
    if (!found || leaseHolder(found) !== this.#identity)
      throw new LeaseTaken(
        found ? `the Lease was acquired by ${JSON.stringify(leaseHolder(found))}` : 'the Lease was deleted',
      );
    await this.#write(found, this.#spec(transitions(found)), signal, this.#options.handoverState?.());
    return asRecord(asRecord(found['metadata'])['annotations']);
  }

  #isFree(found: UntypedJson): boolean {
    if (leaseHolder(found) === '' || leaseHolder(found) === this.#identity) return true;
    const version = asText(asRecord(found['metadata'])['resourceVersion']);
    const now = performance.now();
    if (version !== this.#observed.version) this.#observed = { version, at: now };
    const durationMs = Number(asRecord(found['spec'])['leaseDurationSeconds'] ?? 0) * 1_000 || this.timings.durationMs;
    if (now - this.#observed.at > durationMs) return true;
    this.#options.onStandby();
    return false;
  }

  #spec(leaseTransitions: number): UntypedJson {
    const now = new Date().toISOString().replace('Z', '000Z');
    const leaseDurationSeconds = Math.max(1, Math.ceil(this.timings.durationMs / 1_000));
    return { holderIdentity: this.#identity, leaseDurationSeconds, acquireTime: now, renewTime: now, leaseTransitions };
  }

  #read(signal: AbortSignal = this.#options.signal): Promise<UntypedJson | undefined> {
    return ifPresent(readObject(this.#options.api, this.#path, signal).then(asRecord));
  }

  async #write(
    found: UntypedJson,
    spec: UntypedJson,
    signal = this.#options.signal,
    handoverState = handoverStateOf(found),
  ): Promise<void> {
    const present =
      leaseHolder(found) === this.#identity
        ? { acquireTime: asRecord(found['spec'])['acquireTime'] ?? spec['acquireTime'] }
        : {};
    const metadata = asRecord(found['metadata']);
    const annotations = {
      ...asRecord(metadata['annotations']),
      ...(handoverState !== '' && { [handoverStateAnnotation]: handoverState }),
    };
    const body = { ...found, metadata: { ...metadata, annotations }, spec: { ...spec, ...present } };
    await replaceObject(this.#options.api, { path: this.#path, body, signal });
  }
}

/** Thrown if another process holds the Lease. */
class LeaseTaken extends Error {
  override readonly name = 'LeaseTaken';
}

/** The identity of the holder; "" for none. */
function leaseHolder(lease: UntypedJson): string {
  return asText(asRecord(lease['spec'])['holderIdentity']);
}

function handoverStateOf(lease: UntypedJson): string {
  return asText(asRecord(asRecord(lease['metadata'])['annotations'])[handoverStateAnnotation]);
}

function transitions(lease: UntypedJson): number {
  return Number(asRecord(lease['spec'])['leaseTransitions'] ?? 0);
}

/**
 * Who of several watchers is active: a Lease object, in the way of Kubernetes' own controllers. A holder that stops
 * renewing is followed by another when its lease has not changed for its duration, by the observer's own clock: clocks of
 * different machines are never compared. A holder that cannot renew stops by itself before that.
 */
import { hostname } from 'node:os';
import { randomUUID } from 'node:crypto';
import { pause, within } from '../../../lib/deadline.ts';
import type { Logger } from '../../../lib/log.ts';
import { type Api, ApiError, reasonOf } from './api.ts';
import { type Raw, record, text } from '../../../lib/raw.ts';
import { create, objectPath, read, replace } from './patch.ts';

/** How long things take; the defaults suit a real API server. */
export interface LeasePace {
  /** Others wait this long for a sign of life. */
  readonly durationMs: number;
  /** The holder gives up when it could not renew for this long, all tries included; less than the duration. */
  readonly renewWithinMs: number;
  readonly renewEveryMs: number;
  readonly lookEveryMs: number;
}

const usualPace: LeasePace = { durationMs: 10_000, renewWithinMs: 9_000, renewEveryMs: 2_000, lookEveryMs: 1_000 };

/** One for the life of the process: who lost the lease to a hanging API server need not wait for himself. */
const identity = `${hostname()}_${randomUUID()}`;

export interface LeaseOptions {
  readonly api: Api;
  readonly namespace: string;
  readonly name: string;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Called when somebody else holds the lease, and is alive as far as is known. */
  readonly onStandby: () => void;
  /** Called each time that the held lease was renewed. */
  readonly onRenewed?: () => void;
  /** Written into the lease with each renewal, for who comes next; undefined leaves what is there. */
  readonly memory?: () => string | undefined;
  readonly pace?: Partial<LeasePace>;
}

export interface HeldLease {
  /** What the last holder left in it; '' for nothing. */
  readonly memory: string;
  /** Resolves when the lease is lost, or the signal is aborted. */
  readonly ended: Promise<void>;
  /** Gives it back, so that the next one need not wait. */
  release(): Promise<void>;
}

/** The Leases of a namespace. */
export function leases(namespace: string): string {
  return `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
}

/** Waits until this process holds the lease, and keeps it. Returns undefined when the signal was aborted before. */
export async function acquireLease(options: LeaseOptions): Promise<HeldLease | undefined> {
  const lease = new Lease(options);
  while (!options.signal.aborted) {
    try {
      if (await lease.take()) return { memory: lease.found, ended: lease.keep(), release: () => lease.giveBack() };
    } catch (error) {
      if (options.signal.aborted) return undefined;
      options.log.warn({ reason: reasonOf(error) }, 'lease: cannot be had, trying again');
    }
    await pause(lease.pace.lookEveryMs, options.signal);
  }
  return undefined;
}

const memoryAnnotation = 'ipledger.io/memory';

class Lease {
  readonly pace: LeasePace;
  /** The memory that was in it when it was taken. */
  found = '';
  readonly #options: LeaseOptions;
  readonly #path: string;
  readonly #identity = identity;
  /** Another holder's lease as it was seen last, and since when it is unchanged. */
  #seen = { version: '', at: 0 };
  /** When this process last asked for the lease, and got it: others count from no earlier time. */
  #heldSince = 0;

  constructor(options: LeaseOptions) {
    this.#options = options;
    this.pace = { ...usualPace, ...options.pace };
    this.#path = objectPath(leases(options.namespace), options.name);
  }

  /** One try. Whether this process holds it now. */
  async take(): Promise<boolean> {
    const { api, namespace, name, log } = this.#options;
    const found = await this.#read();
    this.found = found ? memoryOf(found) : '';
    this.#heldSince = performance.now();
    const inTime = this.#inTime();
    try {
      if (!found) {
        const body = { metadata: { name, namespace }, spec: this.#spec(0) };
        await create(api, { path: leases(namespace), body, signal: inTime });
      } else if (this.#isFree(found)) await this.#write(found, this.#spec(transitions(found) + 1), inTime);
      else return false;
      log.info({ lease: `${namespace}/${name}`, identity: this.#identity }, 'lease: active');
      return true;
    } catch (error) {
      if (error instanceof ApiError && error.reaction === 'changed') return false;
      throw error;
    }
  }

  /** Renews until the lease is lost or the signal is aborted. */
  async keep(): Promise<void> {
    const { signal, log } = this.#options;
    for (;;) {
      await pause(Math.min(this.pace.renewEveryMs, this.#leftMs), signal);
      if (signal.aborted) return;
      const startedAt = performance.now();
      try {
        await this.#renew(this.#inTime());
        this.#heldSince = startedAt;
        this.#options.onRenewed?.();
      } catch (error) {
        if (signal.aborted) return;
        const lost = error instanceof Taken || this.#leftMs === 0;
        log.warn({ reason: reasonOf(error) }, lost ? 'lease: lost' : 'lease: not renewed, trying again');
        if (lost) return;
      }
    }
  }

  async giveBack(): Promise<void> {
    const found = await this.#read(AbortSignal.timeout(2_000));
    if (!found || holder(found) !== this.#identity) return;
    const spec = { ...this.#spec(transitions(found)), holderIdentity: '', leaseDurationSeconds: 1 };
    await this.#write(found, spec, AbortSignal.timeout(2_000));
  }

  /** How long the lease is held yet, should it not be renewed. */
  get #leftMs(): number {
    return Math.max(0, this.#heldSince + this.pace.renewWithinMs - performance.now());
  }

  /** Asked for longer than the lease is held, an answer would be worth nothing. */
  #inTime(): AbortSignal {
    return within(this.#leftMs, this.#options.signal);
  }

  async #renew(signal: AbortSignal): Promise<void> {
    const found = await this.#read(signal);
    if (!found || holder(found) !== this.#identity)
      throw new Taken(`the lease was taken by ${found ? JSON.stringify(holder(found)) : 'nobody: it was deleted'}`);
    await this.#write(found, this.#spec(transitions(found)), signal, this.#options.memory?.());
  }

  #isFree(found: Raw): boolean {
    if (holder(found) === '' || holder(found) === this.#identity) return true;
    const version = text(record(found['metadata'])['resourceVersion']);
    const now = performance.now();
    if (version !== this.#seen.version) this.#seen = { version, at: now };
    const durationMs = Number(record(found['spec'])['leaseDurationSeconds'] ?? 0) * 1_000 || this.pace.durationMs;
    if (now - this.#seen.at > durationMs) return true;
    this.#options.onStandby();
    return false;
  }

  #spec(leaseTransitions: number): Raw {
    const now = new Date().toISOString().replace('Z', '000Z');
    const leaseDurationSeconds = Math.max(1, Math.ceil(this.pace.durationMs / 1_000));
    return { holderIdentity: this.#identity, leaseDurationSeconds, acquireTime: now, renewTime: now, leaseTransitions };
  }

  async #read(signal: AbortSignal = this.#options.signal): Promise<Raw | undefined> {
    try {
      return record(await read(this.#options.api, this.#path, signal));
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return undefined;
      throw error;
    }
  }

  async #write(found: Raw, spec: Raw, signal = this.#options.signal, memory = memoryOf(found)): Promise<void> {
    const kept =
      holder(found) === this.#identity
        ? { acquireTime: record(found['spec'])['acquireTime'] ?? spec['acquireTime'] }
        : {};
    const metadata = record(found['metadata']);
    const annotations = { ...record(metadata['annotations']), ...(memory !== '' && { [memoryAnnotation]: memory }) };
    const body = { ...found, metadata: { ...metadata, annotations }, spec: { ...spec, ...kept } };
    await replace(this.#options.api, { path: this.#path, body, signal });
  }
}

/** Somebody else holds the lease. */
class Taken extends Error {
  override readonly name = 'Taken';
}

/** Who holds a Lease; "" for nobody. */
export function holder(lease: Raw): string {
  return text(record(lease['spec'])['holderIdentity']);
}

function memoryOf(lease: Raw): string {
  return text(record(record(lease['metadata'])['annotations'])[memoryAnnotation]);
}

function transitions(lease: Raw): number {
  return Number(record(lease['spec'])['leaseTransitions'] ?? 0);
}

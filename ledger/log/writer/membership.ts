/**
 * The live replicas, each with a key on its own lease, which provides liveness only. The key lists
 * the schema versions that the replica can read, so that the writer writes no event that another
 * replica cannot read. It also has the time of the replica's clock, so that a replica with a wrong
 * clock does not become the writer.
 *
 * A replica has no such key if it is too old, has just started, or has lost its lease. Then the
 * writer may write events that it cannot read. Such a replica stops and reports that it needs an
 * upgrade; it never skips an event.
 */
import type { Etcd3, IKeyValue } from 'etcd3';
import { pause } from '../../../lib/process/abortable.ts';
import type { Logger } from '../../../lib/process/log.ts';
import type { Candidate } from './election.ts';
import { prefixEnd, memberKey, memberPrefix } from '../store/keys.ts';
import { type HeldLease, acquireLease } from '../store/etcd-lease.ts';
import { type EventVersion, eventVersions } from '../../domain/events/schema-version.ts';

const leaseSettings = { ttlSeconds: 10, renewMs: 3_000, name: 'the lease of the member key' };
const defaultRefreshMs = 2_000;
/** The first refreshes are faster, because several replicas may start at the same time. */
const initial = { refreshes: 4, refreshMs: 250 };
/** Clocks are compared only if the last refresh is at most this old. */
const maxRefreshAgeMs = 10_000;
/** After this many refreshes, `untilClockAgrees` no longer waits for replicas without changes. */
const refreshesToCompare = 3;

/** A live replica, as in the value of its member key. */
export interface Member extends Candidate {
  /** The schema versions that it reads. */
  readonly reads: readonly number[];
}

/** The newest version that all members can read; the oldest version if they have none in common. */
export function versionToWrite(members: readonly Pick<Member, 'reads'>[]): EventVersion {
  const common = eventVersions.filter((version) => members.every(({ reads }) => reads.includes(version)));
  return common.at(-1) ?? (eventVersions[0] as EventVersion);
}

export interface MembershipOptions {
  readonly client: Etcd3;
  readonly self: Member;
  readonly log: Logger;
  /** The time between refreshes. Default: 2 s. */
  readonly refreshMs?: number;
  /** The clock of the machine, milliseconds since 1970. */
  readonly wall?: () => number;
}

/** The clock of another replica. */
interface ObservedClock {
  /** The mod_revision of the replica's member key. */
  readonly revision: string;
  /** How far this replica's clock is ahead of it; undefined until the key has changed once. */
  readonly aheadMs: number | undefined;
}

/** The membership of this replica: its own key, and the keys of the others. */
export class Membership {
  readonly #options: MembershipOptions;
  #lease: HeldLease | undefined;
  #members: readonly Member[] | undefined;
  #clocks = new Map<string, ObservedClock>();
  #refreshCount = 0;
  #lastSkew: { readonly skewMs: number; readonly offsetMs: number } | undefined;
  #refreshedAt = -Infinity;
  #clockSkewed = new AbortController();

  constructor(options: MembershipOptions) {
    this.#options = options;
  }

  /** The newest version that all live replicas can read; before the first refresh the oldest. */
  get eventVersion(): EventVersion {
    return this.#members ? versionToWrite(this.#members) : (eventVersions[0] as EventVersion);
  }

  /** How far this replica's clock is ahead of each other clock, by member key. */
  get aheadMs(): ReadonlyMap<string, number> {
    return new Map(
      [...this.#clocks].flatMap(([name, { aheadMs }]) =>
        aheadMs === undefined ? [] : [[name.slice(memberPrefix.length), aheadMs] as const],
      ),
    );
  }

  /** Aborted while this clock differs from those of most replicas: it would write wrong times. */
  get clockSkewed(): AbortSignal {
    return this.#clockSkewed.signal;
  }

  /** Resolves when the clock agrees, or cannot be compared, or the signal is aborted. */
  async untilClockAgrees(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && (this.#clockSkewed.signal.aborted || !this.#isClockCompared))
      await pause(this.#refreshMs / 4, signal);
  }

  /** Keeps the key of this replica, and reads the others. Deletes the key after an abort. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#refresh(signal);
      } catch (error) {
        this.#options.log.warn({ err: error }, 'refreshing the members failed: etcd does not reply or rejects writes');
      }
      await pause(this.#refreshMs, signal);
    }
    await this.#lease?.revoke().catch(() => undefined);
  }

  get #refreshMs(): number {
    const { refreshMs = defaultRefreshMs } = this.#options;
    return this.#refreshCount < initial.refreshes ? Math.min(initial.refreshMs, refreshMs) : refreshMs;
  }

  get #isClockCompared(): boolean {
    const others = [...this.#clocks.values()];
    const compared = others.length === 0 || others.some(({ aheadMs }) => aheadMs !== undefined);
    return this.#refreshCount >= refreshesToCompare || (this.#refreshCount > 0 && compared);
  }

  async #refresh(signal: AbortSignal): Promise<void> {
    const { client, self } = this.#options;
    const prefix = { key: Buffer.from(memberPrefix), range_end: Buffer.from(prefixEnd(memberPrefix)) };
    const { kvs } = await client.kv.range(prefix);
    const isOwn = ({ key }: IKeyValue): boolean => key.toString('utf8') === memberKey(self.replica);
    const others = kvs.filter((kv) => !isOwn(kv));
    this.#members = [...others.flatMap(({ value }) => parseMember(value)), self];
    this.#compareClocks(others);
    await this.#putMember(kvs.find(isOwn), signal);
  }

  /** Compares clocks at a key that has changed since the last refresh: it holds a recent time. */
  #compareClocks(others: readonly IKeyValue[]): void {
    const { log, wall = Date.now } = this.#options;
    const [now, monotonic] = [wall(), performance.now()];
    const isLate = monotonic - this.#refreshedAt > maxRefreshAgeMs;
    this.#refreshedAt = monotonic;
    this.#refreshCount++;
    const clocks = others.map(({ key, value, mod_revision: revision }): [string, ObservedClock] => {
      const name = key.toString('utf8');
      const last = this.#clocks.get(name);
      const at = Date.parse(parseMember(value)[0]?.at ?? '');
      const isNew = last !== undefined && last.revision !== revision && !isLate && !Number.isNaN(at);
      return [name, { revision, aheadMs: isNew ? now - at : last?.aheadMs }];
    });
    this.#clocks = new Map(clocks);
    const aheadMs = clocks.flatMap(([, clock]) => clock.aheadMs ?? []);
    const offsetMs = now - monotonic;
    const seenMs = clockSkewMs(aheadMs);
    if (seenMs !== undefined) this.#lastSkew = { skewMs: seenMs, offsetMs };
    const isAlone = !aheadMs.some((each) => Math.abs(each) <= maxSkewMs);
    const skewMs = seenMs ?? (isAlone ? this.#skewWhenAlone(offsetMs) : undefined);
    if (skewMs === undefined) {
      if (!this.#clockSkewed.signal.aborted) return;
      log.info('the clock of this replica is no longer known to be wrong');
      this.#clockSkewed = new AbortController();
    } else if (!this.#clockSkewed.signal.aborted) {
      log.error(
        { skewMs },
        'the clock differs from those of most replicas, so this replica cannot be the writer: correct the clock',
      );
      this.#clockSkewed.abort();
    }
  }

  /**
   * The last skew, while no other replica is left to compare with and the clock was not set.
   * @param offsetMs the wall clock minus the monotonic clock, which changes when the clock is set
   */
  #skewWhenAlone(offsetMs: number): number | undefined {
    if (!this.#clockSkewed.signal.aborted || !this.#lastSkew) return undefined;
    return clockSkewMs(Array<number>(2).fill(this.#lastSkew.skewMs + offsetMs - this.#lastSkew.offsetMs));
  }

  /** Writes the key of this replica, with a new lease if the last lease was lost. */
  async #putMember(own: IKeyValue | undefined, signal: AbortSignal): Promise<void> {
    const { client, self, log, wall = Date.now } = this.#options;
    if (own && this.#lease && own.lease !== this.#lease.id)
      log.warn(
        { replica: self.replica },
        'another process uses the name of this replica: give each replica its own --replica',
      );
    if (!own || !this.#lease || this.#lease.signal.aborted || own.lease !== this.#lease.id) {
      await this.#lease?.revoke().catch(() => undefined);
      this.#lease = await acquireLease(client, { ...leaseSettings, signal, log });
    }
    const value = JSON.stringify({ ...self, at: new Date(wall()).toISOString() });
    const key = Buffer.from(memberKey(self.replica));
    await client.kv.put({ key, value: Buffer.from(value), lease: this.#lease.id });
  }
}

/** Parses a member key with its last write; [] for an invalid value. */
function parseMember(value: Buffer): (Member & { readonly at?: string })[] {
  try {
    const member = JSON.parse(value.toString('utf8')) as Member & { readonly at?: string };
    return Array.isArray(member.reads) ? [member] : [];
  } catch {
    return [];
  }
}

/** The allowed difference: much more than a slow network or a busy machine can cause. */
const maxSkewMs = 30_000;

/**
 * How far this clock differs from those of most replicas, if most of them agree. Undefined if this
 * clock agrees with them, or if nothing can be decided: of only two clocks, either may be right.
 * @param aheadMs how far this clock is ahead of each other clock.
 */
export function clockSkewMs(aheadMs: readonly number[]): number | undefined {
  const majority = Math.floor((aheadMs.length + 1) / 2) + 1;
  const sorted = aheadMs.toSorted((one, other) => one - other);
  for (let first = 0; first + majority <= sorted.length; first++) {
    const group = sorted.slice(first, first + majority);
    const [min = 0, max = 0] = [group[0], group.at(-1)];
    const agree = max - min <= maxSkewMs;
    if (agree && (min > maxSkewMs || max < -maxSkewMs)) return group[Math.floor(majority / 2)];
  }
  return undefined;
}

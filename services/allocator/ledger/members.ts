/**
 * The replicas that are alive, each a key on a lease of its own: for liveness only. They say which versions of the schema they
 * can read, so that the writer writes none that would stop one of them; and what their clocks say, so that nobody writes whose
 * own is far off those of most.
 *
 * A replica of a program from before there were these keys is not seen, nor is one that was started a moment ago, or whose lease
 * ran out while it lives. Then events may be written that such a replica cannot read: it stops, and says that it has to be
 * upgraded; it never skips an event, and never takes it for something else.
 */
import type { Etcd3, IKeyValue } from 'etcd3';
import { pause } from '../../../lib/deadline.ts';
import type { Logger } from '../../../lib/log.ts';
import type { Candidate } from './election.ts';
import { endOf, memberKey, memberPrefix } from './keys.ts';
import { type HeldLease, takeLease } from './lease.ts';
import { skewOf } from './skew.ts';
import { type EventVersion, eventVersions } from './upcast.ts';

const lease = { seconds: 10, renewMs: 3_000, name: 'the lease of the member key' };
/** How often the others are looked at; at the beginning, when many may have begun, more often. */
const usualLookMs = 2_000;
const eager = { looks: 4, everyMs: 250 };
/** A clock is compared only if its replica read it within this time. */
const mostBetweenMs = 10_000;
/** After so many looks a replica whose key has not changed is taken for gone, and not waited for. */
const looksToJudge = 3;

/** What a replica says of itself. */
export interface Member extends Candidate {
  /** The schema versions that it reads. */
  readonly reads: readonly number[];
}

/** The newest version that all of them can read; our oldest when there is none: then whoever cannot read it has to stop. */
export function versionToWrite(members: readonly Pick<Member, 'reads'>[]): EventVersion {
  const common = eventVersions.filter((version) => members.every(({ reads }) => reads.includes(version)));
  return common.at(-1) ?? (eventVersions[0] as EventVersion);
}

export interface MembershipOptions {
  readonly client: Etcd3;
  readonly self: Member;
  readonly log: Logger;
  /** Default 2 s. */
  readonly lookMs?: number;
  /** The machine's clock, milliseconds since 1970. */
  readonly wall?: () => number;
}

/** Another replica's clock, as far as it was seen. */
interface SeenClock {
  /** Of the key that says it. */
  readonly revision: string;
  /** How far ours is ahead; undefined until it was seen to tell the time. */
  readonly aheadMs: number | undefined;
}

/** This replica among the others. */
export class Membership {
  readonly #options: MembershipOptions;
  #held: HeldLease | undefined;
  #members: readonly Member[] | undefined;
  #clocks = new Map<string, SeenClock>();
  #looks = 0;
  #lookedAt = -Infinity;
  #off = new AbortController();

  constructor(options: MembershipOptions) {
    this.#options = options;
  }

  /** The newest version that every live replica can read, as far as is known; before the first look the oldest there is. */
  get eventVersion(): EventVersion {
    return this.#members ? versionToWrite(this.#members) : (eventVersions[0] as EventVersion);
  }

  /** Aborted when our clock turns out to be far off those of most replicas: what it stamps on events would be wrong. */
  get off(): AbortSignal {
    return this.#off.signal;
  }

  /** Resolves once our clock was compared, as far as it can be, and is not off; or with the signal. */
  async agreed(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && (this.#off.signal.aborted || !this.#isJudged)) await pause(this.#lookMs / 4, signal);
  }

  /** Keeps our key, and looks at the others', until the signal is aborted; then the key is gone. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#look(signal);
      } catch (error) {
        this.#options.log.warn({ err: error }, 'members: etcd does not answer, or takes no writes');
      }
      await pause(this.#lookMs, signal);
    }
    await this.#held?.end().catch(() => undefined);
  }

  get #lookMs(): number {
    const { lookMs = usualLookMs } = this.#options;
    return this.#looks < eager.looks ? Math.min(eager.everyMs, lookMs) : lookMs;
  }

  get #isJudged(): boolean {
    const others = [...this.#clocks.values()];
    const compared = others.length === 0 || others.some(({ aheadMs }) => aheadMs !== undefined);
    return this.#looks >= looksToJudge || (this.#looks > 0 && compared);
  }

  async #look(signal: AbortSignal): Promise<void> {
    const { client, self } = this.#options;
    const prefix = { key: Buffer.from(memberPrefix), range_end: Buffer.from(endOf(memberPrefix)) };
    const { kvs } = await client.kv.range(prefix);
    const isOwn = ({ key }: IKeyValue): boolean => key.toString('utf8') === memberKey(self.replica);
    const others = kvs.filter((kv) => !isOwn(kv));
    this.#members = [...others.flatMap(({ value }) => parseMember(value)), self];
    this.#compare(others);
    await this.#say(kvs.find(isOwn), signal);
  }

  /** A key that was written since the last look is no older than that look: so its time, beside ours, shows how far the clocks differ. */
  #compare(others: readonly IKeyValue[]): void {
    const { log, wall = Date.now } = this.#options;
    const [now, monotonic] = [wall(), performance.now()];
    const isLate = monotonic - this.#lookedAt > mostBetweenMs;
    this.#lookedAt = monotonic;
    this.#looks++;
    const clocks = others.map(({ key, value, mod_revision: revision }): [string, SeenClock] => {
      const name = key.toString('utf8');
      const seen = this.#clocks.get(name);
      const at = Date.parse(parseMember(value)[0]?.at ?? '');
      const isNew = seen !== undefined && seen.revision !== revision && !isLate && !Number.isNaN(at);
      return [name, { revision, aheadMs: isNew ? now - at : seen?.aheadMs }];
    });
    this.#clocks = new Map(clocks);
    const skewMs = skewOf(clocks.flatMap(([, { aheadMs }]) => aheadMs ?? []));
    if (skewMs === undefined) {
      if (this.#off.signal.aborted) log.info('the clock agrees with those of the other replicas again');
      if (this.#off.signal.aborted) this.#off = new AbortController();
    } else if (!this.#off.signal.aborted) {
      log.error(
        { skewMs },
        'the clock is far off those of most replicas: this one does not write until it is set right',
      );
      this.#off.abort();
    }
  }

  /** Writes our key, on a lease that is made anew when it was lost. */
  async #say(own: IKeyValue | undefined, signal: AbortSignal): Promise<void> {
    const { client, self, log, wall = Date.now } = this.#options;
    if (own && this.#held && own.lease !== this.#held.id)
      log.warn({ replica: self.replica }, 'another process names itself as this replica');
    if (!own || !this.#held || this.#held.signal.aborted || own.lease !== this.#held.id) {
      await this.#held?.end().catch(() => undefined);
      this.#held = await takeLease(client, { ...lease, signal, log });
    }
    const value = JSON.stringify({ ...self, at: new Date(wall()).toISOString() });
    const key = Buffer.from(memberKey(self.replica));
    await client.kv.put({ key, value: Buffer.from(value), lease: this.#held.id });
  }
}

/** What a member's key says, and when it was said; a value that nobody of us wrote says nothing. */
function parseMember(value: Buffer): (Member & { readonly at?: string })[] {
  try {
    const member = JSON.parse(value.toString('utf8')) as Member & { readonly at?: string };
    return Array.isArray(member.reads) ? [member] : [];
  } catch {
    return [];
  }
}

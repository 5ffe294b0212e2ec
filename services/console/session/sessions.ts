/** The sessions of people who are signed in: bounded in number and time, and only in memory. */
import { createHash, randomBytes } from 'node:crypto';
import { IpledgerError } from '../../../lib/errors.ts';
import type { LedgerClient } from '../../../lib/ledger-client/ledger-client.ts';
import { storeNewest } from '../../../lib/maps.ts';
import { createSemaphore, type Semaphore } from '../../../lib/process/semaphore.ts';
import { TokenBucket } from '../../../lib/process/token-bucket.ts';
import { tokenExpiry } from './token-expiry.ts';

const maxSessions = 500;
const maxSessionsOfUser = 10;
const maxAgeMs = 8 * 3_600_000;
const maxIdleMs = 3_600_000;
/** The age of a review. A removed permission lasts this much longer than in the allocator. */
const verifiedMs = 60_000;
/** The time for which a session that was verified before continues without an allocator. */
const unverifiedMs = 120_000;
/** The rate of a session. A slider makes up to 20 requests a second. */
const rate = { perSecond: 30, burst: 300 };
/** The rate at which a person opens streams: each may begin with thousands of missed events. */
const streamRate = { perSecond: 1, burst: 20 };
/** The number of people whose limits last over a sign-out. */
const maxPeople = 1_000;
/** The requests of a person in progress, and those that wait. They leave slots for other people. */
const [maxInProgress, maxWaiting] = [6, 12];

/** A client of the allocators that identifies as one person. */
export interface PersonalClient extends LedgerClient {
  close(): void;
}

export interface SessionParts {
  /** Connects with the token of a person. */
  readonly connect: (token: string) => PersonalClient;
  /** Resolves to the person's name. @throws IpledgerError if the person may not read the ledger */
  readonly verify: (client: LedgerClient) => Promise<string>;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** What limits a person, in all sessions together. */
export interface Person {
  /** Requests in progress. */
  readonly limited: Semaphore;
  readonly streamOpens: TokenBucket;
  /** The open streams. */
  streams: number;
}

export interface PersonalSession {
  readonly user: string;
  readonly person: Person;
  readonly client: LedgerClient;
  readonly expiresAt: number;
  readonly bucket: TokenBucket;
  /** Aborted when the session ends. */
  readonly signal: AbortSignal;
}

interface Entry extends PersonalSession {
  readonly client: PersonalClient;
  readonly ending: AbortController;
  usedAt: number;
  verifiedAt: number;
  verifying: Promise<void> | undefined;
}

export class Sessions {
  readonly #connect: SessionParts['connect'];
  readonly #verify: SessionParts['verify'];
  readonly #now: () => number;
  /** The sessions by the hash of the id, the least recently used first. */
  readonly #entries = new Map<string, Entry>();
  /** The limits of people by name, of those who signed in last. */
  readonly #people = new Map<string, Person>();

  constructor({ connect, verify, now = Date.now }: SessionParts) {
    this.#connect = connect;
    this.#verify = verify;
    this.#now = now;
  }

  get size(): number {
    return this.#entries.size;
  }

  /**
   * Begins a session with a token. Returns its id, which only the cookie has.
   * @throws IpledgerError UNAUTHENTICATED or PERMISSION_DENIED; others if it could not be verified
   */
  async create(token: string): Promise<{ readonly id: string; readonly session: PersonalSession }> {
    const startedAt = this.#now();
    const expiresAt = Math.min(startedAt + maxAgeMs, tokenExpiry(token) ?? Infinity);
    if (expiresAt <= startedAt) throw new IpledgerError('UNAUTHENTICATED', 'the token has expired: create another one');
    const client = this.#connect(token);
    let user: string;
    try {
      user = await this.#verify(client);
    } catch (error) {
      client.close();
      throw error;
    }
    const ending = new AbortController();
    const id = randomBytes(32).toString('base64url');
    const bucket = new TokenBucket(rate, performance.now());
    const times = { expiresAt, usedAt: startedAt, verifiedAt: startedAt };
    const entry: Entry = {
      user,
      client,
      ending,
      signal: ending.signal,
      bucket,
      person: this.#personOf(user),
      verifying: undefined,
      ...times,
    };
    this.#makeRoom(user);
    this.#entries.set(keyOf(id), entry);
    return { id, session: entry };
  }

  /**
   * Returns the session of a cookie, verified with the allocator within the last minutes.
   * @throws IpledgerError UNAUTHENTICATED without a session
   */
  async find(id: string): Promise<PersonalSession> {
    const key = keyOf(id);
    const entry = await this.#verified(key);
    entry.usedAt = this.#now();
    // The session may have ended since
    if (this.#entries.delete(key)) this.#entries.set(key, entry);
    return entry;
  }

  /** Verifies as `find` does, for an open stream, which does not count as use of the session. */
  async verify(id: string): Promise<void> {
    await this.#verified(keyOf(id));
  }

  async #verified(key: string): Promise<Entry> {
    const entry = this.#entries.get(key);
    const now = this.#now();
    if (!entry || now >= entry.expiresAt || now >= entry.usedAt + maxIdleMs) {
      if (entry) this.#end(key, entry);
      throw new IpledgerError('UNAUTHENTICATED', 'you are not signed in, or your session has ended: sign in again');
    }
    await this.#verifyAgain(key, entry);
    return entry;
  }

  #personOf(user: string): Person {
    const person = this.#people.get(user) ?? {
      limited: createSemaphore(maxInProgress, maxWaiting),
      streamOpens: new TokenBucket(streamRate, performance.now()),
      streams: 0,
    };
    storeNewest(this.#people, user, person, maxPeople);
    return person;
  }

  async #verifyAgain(key: string, entry: Entry): Promise<void> {
    if (this.#now() < entry.verifiedAt + verifiedMs) return;
    entry.verifying ??= this.#verify(entry.client)
      .then(() => {
        entry.verifiedAt = this.#now();
      })
      .finally(() => (entry.verifying = undefined));
    try {
      await entry.verifying;
    } catch (error) {
      const { code } = IpledgerError.from(error);
      const isRejected = code === 'UNAUTHENTICATED' || code === 'PERMISSION_DENIED';
      if (isRejected) this.#end(key, entry);
      if (isRejected || this.#now() >= entry.verifiedAt + unverifiedMs) throw error;
    }
  }

  /** Ends the session of a cookie, if there is one. */
  end(id: string): void {
    const key = keyOf(id);
    const entry = this.#entries.get(key);
    if (entry) this.#end(key, entry);
  }

  #end(key: string, { client, ending }: Entry): void {
    this.#entries.delete(key);
    ending.abort(new IpledgerError('UNAUTHENTICATED', 'the session has ended: sign in again'));
    client.close();
  }

  /**
   * Ends expired sessions, and at the limits the least recently used of the user, or of all users.
   */
  #makeRoom(user: string): void {
    const now = this.#now();
    for (const [key, entry] of this.#entries)
      if (now >= entry.expiresAt || now >= entry.usedAt + maxIdleMs) this.#end(key, entry);
    const ofUser = [...this.#entries].filter(([, entry]) => entry.user === user);
    for (const [key, entry] of ofUser.slice(0, Math.max(0, ofUser.length - maxSessionsOfUser + 1)))
      this.#end(key, entry);
    for (const [key, entry] of this.#entries)
      if (this.#entries.size >= maxSessions) this.#end(key, entry);
      else break;
  }

  close(): void {
    for (const [key, entry] of this.#entries) this.#end(key, entry);
  }
}

/** The key of a session. The console stores hashes: its memory contains no id for a cookie. */
const keyOf = (id: string): string => createHash('sha256').update(id).digest('base64');

/**
 * Authenticates tokens by reviews of the API server, and caches the outcomes by the hash of the
 * token.
 *
 *   token ─► cached? ─► its outcome
 *              no: limits of the connection and of all unknown tokens ─► one review per token at a time ─► cached
 *
 * A client without a valid token can make the allocator send only a limited number of reviews.
 * Limits and caches of tokens that were accepted before are separate, so such a client does not
 * delay agents whose token is known.
 */
import { createHash } from 'node:crypto';
import { IpledgerError } from '../../../lib/errors.ts';
import type { Identity } from '../../../lib/tls/identity.ts';
import { storeNewest } from '../../../lib/maps.ts';
import { TokenBucket } from '../../../lib/process/token-bucket.ts';

/** The longest time for which an expired token, or a token of a deleted Pod, is accepted. */
export const acceptedTtlMs = 60_000;
const rejectedTtlMs = 10_000;
/** While the API server does not answer, each token is reviewed once in this time. */
const unavailableTtlMs = 1_000;
/** Twice the nodes of a large cluster, for accepted and for rejected tokens each. */
const defaultMaxEntries = 10_000;
/** Reviews that a connection can cause. An agent causes one per minute, and one per new token. */
const connectionLimit = { perSecond: 1, burst: 10 };
/** The reviews of unknown tokens. All agents may connect at once after a restart. */
const unknownLimit = { perSecond: 100, burst: 1_000, inProgress: 32 };
/** The calls that wait for a review. Each counts up to 64 KiB in the budget of its address. */
const maxWaiting = { total: 1_024, perConnection: 128 };

export const reviewOutcomes = ['accepted', 'rejected', 'unavailable', 'limited'] as const;
export type ReviewOutcome = (typeof reviewOutcomes)[number];

/**
 * Reviews a token. Returns its identity.
 * @throws IpledgerError UNAUTHENTICATED for an invalid token; any other error if it could not be
 * verified
 */
export type ReviewToken<Client extends Identity = Identity> = (token: string) => Promise<Client>;

export interface TokenAuthenticatorOptions<Client extends Identity> {
  readonly review: ReviewToken<Client>;
  /** The most cached outcomes, for accepted and for rejected tokens each. Default: 10,000. */
  readonly maxEntries?: number;
  /** Called for each review, and for each call that a limit rejects. */
  readonly onReviewed?: (outcome: ReviewOutcome) => void;
  /** Returns milliseconds from any origin. */
  readonly now?: () => number;
}

interface Entry<Client> {
  readonly outcome: Client | IpledgerError;
  readonly until: number;
}

interface ConnectionAccount {
  readonly bucket: TokenBucket;
  waiting: number;
}

export class TokenAuthenticator<Client extends Identity = Identity> {
  readonly #review: ReviewToken<Client>;
  readonly #maxEntries: number;
  readonly #onReviewed: (outcome: ReviewOutcome) => void;
  readonly #now: () => number;
  /** The entries of accepted tokens by hash. An expired entry stays: its token is known. */
  readonly #accepted = new Map<string, Entry<Client>>();
  readonly #failed = new Map<string, Entry<Client>>();
  readonly #inProgress = new Map<string, Promise<Client | IpledgerError>>();
  readonly #connections = new WeakMap<object, ConnectionAccount>();
  readonly #unknownBucket: TokenBucket;
  #unknownInProgress = 0;
  #waiting = 0;

  constructor({
    review,
    maxEntries = defaultMaxEntries,
    onReviewed = () => undefined,
    now = () => performance.now(),
  }: TokenAuthenticatorOptions<Client>) {
    this.#review = review;
    this.#maxEntries = maxEntries;
    this.#onReviewed = onReviewed;
    this.#now = now;
    this.#unknownBucket = new TokenBucket(unknownLimit, now());
  }

  /** The number of cached outcomes. */
  get size(): number {
    return this.#accepted.size + this.#failed.size;
  }

  /**
   * Returns the identity of a token.
   * @param connection the connection that the limits apply to
   * @throws IpledgerError UNAUTHENTICATED for an invalid token; UNAVAILABLE while the API server
   * does not answer; RATE_LIMITED or OVERLOADED beyond a limit
   */
  async authenticate(token: string, connection: object): Promise<Client> {
    const hash = createHash('sha256').update(token).digest('base64');
    const outcome = this.#cached(hash) ?? (await this.#wait(hash, token, connection));
    if (outcome instanceof IpledgerError) throw outcome;
    return outcome;
  }

  #cached(hash: string): Client | IpledgerError | undefined {
    const now = this.#now();
    const entries = [this.#accepted.get(hash), this.#failed.get(hash)];
    return entries.find((entry) => entry !== undefined && now < entry.until)?.outcome;
  }

  async #wait(hash: string, token: string, connection: object): Promise<Client | IpledgerError> {
    const account = this.#accountOf(connection);
    if (this.#waiting >= maxWaiting.total || account.waiting >= maxWaiting.perConnection)
      throw this.#limited('OVERLOADED', 'too many calls wait until their token is verified');
    const review = this.#inProgress.get(hash) ?? this.#start(hash, token, account);
    this.#waiting++;
    account.waiting++;
    try {
      return await review;
    } finally {
      this.#waiting--;
      account.waiting--;
    }
  }

  #accountOf(connection: object): ConnectionAccount {
    const account = this.#connections.get(connection) ?? {
      bucket: new TokenBucket(connectionLimit, this.#now()),
      waiting: 0,
    };
    this.#connections.set(connection, account);
    return account;
  }

  /** Starts a review if the limits permit it. */
  #start(hash: string, token: string, account: ConnectionAccount): Promise<Client | IpledgerError> {
    const now = this.#now();
    const isKnown = this.#accepted.has(hash);
    if (!account.bucket.take(now))
      throw this.#limited('RATE_LIMITED', 'this connection sent too many tokens that had to be verified');
    if (!isKnown) {
      if (this.#unknownInProgress >= unknownLimit.inProgress || !this.#unknownBucket.take(now))
        throw this.#limited('RATE_LIMITED', 'the clients of this replica sent too many unknown tokens');
      this.#unknownInProgress++;
    }
    const review = this.#reviewOnce(hash, token, now).finally(() => {
      this.#inProgress.delete(hash);
      if (!isKnown) this.#unknownInProgress--;
    });
    this.#inProgress.set(hash, review);
    return review;
  }

  /** Reviews a token and caches the outcome. Never throws. */
  async #reviewOnce(hash: string, token: string, startedAt: number): Promise<Client | IpledgerError> {
    try {
      const identity = await this.#review(token);
      this.#failed.delete(hash);
      storeNewest(this.#accepted, hash, { outcome: identity, until: startedAt + acceptedTtlMs }, this.#maxEntries);
      this.#onReviewed('accepted');
      return identity;
    } catch (thrown) {
      const error = IpledgerError.from(thrown);
      const isRejected = error.code === 'UNAUTHENTICATED';
      if (isRejected) this.#accepted.delete(hash);
      const ttlMs = isRejected ? rejectedTtlMs : unavailableTtlMs;
      storeNewest(this.#failed, hash, { outcome: error, until: this.#now() + ttlMs }, this.#maxEntries);
      this.#onReviewed(isRejected ? 'rejected' : 'unavailable');
      return error;
    }
  }

  #limited(code: 'RATE_LIMITED' | 'OVERLOADED', reason: string): IpledgerError {
    this.#onReviewed('limited');
    return new IpledgerError(code, `${reason}; the call was not executed: try again in a second`);
  }
}

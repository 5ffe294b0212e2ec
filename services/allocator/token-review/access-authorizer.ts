/**
 * Authorizes calls of Kubernetes users by SubjectAccessReviews, and caches the outcomes, including
 * denials.
 *
 * Only users with a verified token reach it. A limit on reviews protects the API server from many
 * such users. It does not apply to permissions that were allowed before, so that such users do not
 * delay operators at work.
 */
import { createHash } from 'node:crypto';
import { IpledgerError } from '../../../lib/errors.ts';
import { apiGroup, type KubernetesPermission } from '../../../lib/grpc/server/kubernetes-permissions.ts';
import type { KubernetesUser } from '../../../lib/tls/kubernetes-user.ts';
import { storeNewest } from '../../../lib/maps.ts';
import { TokenBucket } from '../../../lib/process/token-bucket.ts';

/** The time for which a removed permission still works, at most. */
export const allowedTtlMs = 30_000;
const deniedTtlMs = 10_000;
/** While the API server does not answer, each permission is reviewed once in this time. */
const unavailableTtlMs = 1_000;
/** Enough for 400 users with all permissions. */
const maxEntries = 10_000;
/** Limits reviews of permissions that were never allowed. One CLI command needs up to 8. */
const limit = { perSecond: 50, burst: 200 };
const maxInProgress = 32;

/** The answer of the API server. */
export interface AccessDecision {
  readonly isAllowed: boolean;
  /** The reason, if the API server names one. */
  readonly reason: string;
}

/** Reviews one permission. @throws IpledgerError when it could not be reviewed */
export type ReviewAccess = (user: KubernetesUser, permission: KubernetesPermission) => Promise<AccessDecision>;

interface Entry {
  /** The error; undefined if the permission is allowed. */
  readonly error: IpledgerError | undefined;
  readonly until: number;
}

export class AccessAuthorizer {
  readonly #review: ReviewAccess;
  readonly #now: () => number;
  /** An expired entry stays, because it shows that the permission was allowed before. */
  readonly #allowed = new Map<string, Entry>();
  readonly #refused = new Map<string, Entry>();
  readonly #inProgress = new Map<string, Promise<IpledgerError | undefined>>();
  readonly #bucket: TokenBucket;
  readonly #keys = new WeakMap<KubernetesUser, string>();

  /** @param now milliseconds from any origin */
  constructor(review: ReviewAccess, now = () => performance.now()) {
    this.#review = review;
    this.#now = now;
    this.#bucket = new TokenBucket(limit, now());
  }

  /** The number of cached outcomes. */
  get size(): number {
    return this.#allowed.size + this.#refused.size;
  }

  /**
   * Resolves if the user has the permission.
   * @throws IpledgerError PERMISSION_DENIED with the missing permission; UNAVAILABLE while the API
   * server does not answer; RATE_LIMITED beyond the limit
   */
  async authorize(user: KubernetesUser, permission: KubernetesPermission): Promise<void> {
    const key = `${permission.resource}/${permission.verb} ${this.#keyOf(user)}`;
    const now = this.#now();
    const entries = [this.#allowed.get(key), this.#refused.get(key)];
    const cached = entries.find((entry) => entry !== undefined && now < entry.until);
    const error = cached ? cached.error : await (this.#inProgress.get(key) ?? this.#start(key, user, permission));
    if (error) throw error;
  }

  /** Starts a review if the limits permit it. */
  #start(key: string, user: KubernetesUser, permission: KubernetesPermission): Promise<IpledgerError | undefined> {
    if (!this.#allowed.has(key) && (this.#inProgress.size >= maxInProgress || !this.#bucket.take(this.#now())))
      throw new IpledgerError(
        'RATE_LIMITED',
        'the Kubernetes users of this replica need too many reviews of their permissions; the call was not executed: try again in a second',
      );
    const review = this.#reviewOnce(key, user, permission).finally(() => this.#inProgress.delete(key));
    this.#inProgress.set(key, review);
    return review;
  }

  /** Reviews a permission and caches the outcome. Never throws. */
  async #reviewOnce(
    key: string,
    user: KubernetesUser,
    permission: KubernetesPermission,
  ): Promise<IpledgerError | undefined> {
    const startedAt = this.#now();
    try {
      const { isAllowed, reason } = await this.#review(user, permission);
      if (isAllowed) {
        this.#refused.delete(key);
        storeNewest(this.#allowed, key, { error: undefined, until: startedAt + allowedTtlMs }, maxEntries);
        return undefined;
      }
      this.#allowed.delete(key);
      return this.#refuse(key, deniedError(user, permission, reason), startedAt + deniedTtlMs);
    } catch (thrown) {
      return this.#refuse(key, IpledgerError.from(thrown), this.#now() + unavailableTtlMs);
    }
  }

  #refuse(key: string, error: IpledgerError, until: number): IpledgerError {
    storeNewest(this.#refused, key, { error, until }, maxEntries);
    return error;
  }

  /** The key of a user. Permissions depend on its name, its groups and its extra fields. */
  #keyOf(user: KubernetesUser): string {
    const known = this.#keys.get(user);
    if (known !== undefined) return known;
    const { username, uid, groups, extra } = user;
    const key = createHash('sha256')
      .update(JSON.stringify([username, uid, groups, Object.entries(extra)]))
      .digest('base64');
    this.#keys.set(user, key);
    return key;
  }
}

function deniedError(user: KubernetesUser, { resource, verb }: KubernetesPermission, reason: string): IpledgerError {
  const why = reason === '' ? '' : ` (${reason})`;
  return new IpledgerError(
    'PERMISSION_DENIED',
    `${user.uri} may not ${verb} ${resource}.${apiGroup}${why}: a ClusterRole with apiGroups [${apiGroup}], resources [${resource}] and verbs [${verb}] must be bound to this user or to one of its groups`,
  );
}

/**
 * Limits how many addresses a Pod and a namespace may request. Each granted request writes events
 * into the ledger, which stay. A tenant can repeat requests: by changes of the networks of a Pod,
 * or by new Pods and IPAMClaims.
 */
import { storeNewest } from '../../../../lib/maps.ts';
import { type BucketLimit, TokenBucket } from '../../../../lib/process/token-bucket.ts';

/** Permits all networks of a Pod, one change of all, and then one address every ten seconds. */
const podLimit: BucketLimit = { perSecond: 0.1, burst: 48 };

/** Permits a namespace to start 20,000 Pods at once. */
export const defaultNamespaceLimit: BucketLimit = { perSecond: 20, burst: 20_000 };

/** The number of budgets. The one that was used longest ago is dropped, as it is soon full. */
const maxBudgets = 10_000;

export class EventBudget {
  readonly #namespaceLimit: BucketLimit;
  readonly #now: () => number;
  readonly #pods = new Map<string, TokenBucket>();
  readonly #namespaces = new Map<string, TokenBucket>();

  /** @param now a clock in milliseconds; default: performance.now() */
  constructor(namespaceLimit = defaultNamespaceLimit, now: () => number = () => performance.now()) {
    this.#namespaceLimit = namespaceLimit;
    this.#now = now;
  }

  /** The number of Pods with a budget: those that are not full, and those that were used last. */
  get podCount(): number {
    return this.#pods.size;
  }

  /**
   * Checks whether a request fits into the budgets.
   * @param uid the Pod; undefined for an IPAMClaim, which has only the budget of its namespace
   * @param count the number of addresses that the request may add
   * @returns why it must wait, as a sentence; undefined if it fits
   */
  refusalOf(namespace: string, uid: string | undefined, count: number): string | undefined {
    const [inNamespace, ofPod] = this.#budgetsOf(namespace, uid);
    const podSeconds = Math.ceil(ofPod?.secondsUntil(count, this.#now()) ?? 0);
    if (podSeconds > 0)
      return `the networks of the Pod change too often, and each change is recorded for good: the next ${count === 1 ? 'address is' : `${count} addresses are`} requested in ${podSeconds} s. Change them less often`;
    const seconds = Math.ceil(inNamespace.secondsUntil(count, this.#now()));
    if (seconds > 0)
      return `namespace ${namespace} requests addresses too often, and each is recorded for good: the next are requested in ${seconds} s. Create and change fewer Pods and IPAMClaims, use more namespaces, or raise --namespace-rate of the pod-watcher`;
    return undefined;
  }

  /** Subtracts what was granted. Requests without an answer count when they are repeated. */
  spend(namespace: string, uid: string | undefined, count: number): void {
    for (const budget of this.#budgetsOf(namespace, uid)) budget?.spend(count);
  }

  #budgetsOf(namespace: string, uid: string | undefined): [inNamespace: TokenBucket, ofPod: TokenBucket | undefined] {
    return [
      this.#budgetOf(this.#namespaces, namespace, this.#namespaceLimit),
      uid === undefined ? undefined : this.#budgetOf(this.#pods, uid, podLimit),
    ];
  }

  #budgetOf(budgets: Map<string, TokenBucket>, key: string, limit: BucketLimit): TokenBucket {
    const now = this.#now();
    const budget = budgets.get(key) ?? new TokenBucket(limit, now);
    // Drops full budgets, which equal new ones: otherwise each Pod would have one for good.
    for (const [oldest, used] of budgets) {
      if (used.secondsUntil(limit.burst, now) > 0) break;
      budgets.delete(oldest);
    }
    storeNewest(budgets, key, budget, maxBudgets);
    return budget;
  }
}

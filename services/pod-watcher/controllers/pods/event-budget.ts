/**
 * How many addresses a Pod and a namespace may request. Each request that is granted writes events into the ledger for good, and a
 * tenant can repeat them: by changes of the networks of a Pod, or by new Pods and IPAMClaims.
 */

export interface BudgetLimit {
  /** New addresses for each second, in the long run. */
  readonly perSecond: number;
  /** At once. */
  readonly burst: number;
}

/** All networks of a Pod, a change of all, and then one every ten seconds. */
const podLimit: BudgetLimit = { perSecond: 0.1, burst: 48 };

/** A namespace may start 20,000 Pods at once. */
export const defaultNamespaceLimit: BudgetLimit = { perSecond: 20, burst: 20_000 };

/** The budget that was used longest ago is dropped: it is full again, or soon. */
const maxBudgets = 10_000;

export class EventBudget {
  readonly #namespaceLimit: BudgetLimit;
  readonly #now: () => number;
  readonly #pods = new Map<string, Budget>();
  readonly #namespaces = new Map<string, Budget>();

  /** @param now a clock in milliseconds; default: performance.now() */
  constructor(namespaceLimit = defaultNamespaceLimit, now: () => number = () => performance.now()) {
    this.#namespaceLimit = namespaceLimit;
    this.#now = now;
  }

  /**
   * Whether a request fits into the budgets.
   * @param uid of the Pod; undefined for an IPAMClaim, which has only the budget of its namespace
   * @param count the addresses that the request may add
   * @returns why it must wait, as a sentence; undefined if it fits
   */
  refusalOf(namespace: string, uid: string | undefined, count: number): string | undefined {
    const [inNamespace, ofPod] = this.#budgetsOf(namespace, uid);
    if (ofPod && ofPod.left < count)
      return `the networks of the Pod change too often, and each change is recorded for good: the next ${count === 1 ? 'address is' : `${count} addresses are`} requested in ${secondsUntil(ofPod, count, podLimit)} s. Change them less often`;
    if (inNamespace.left < count)
      return `namespace ${namespace} requests addresses too often, and each is recorded for good: the next are requested in ${secondsUntil(inNamespace, count, this.#namespaceLimit)} s. Create and change fewer Pods and IPAMClaims, use more namespaces, or raise --namespace-rate of the pod-watcher`;
    return undefined;
  }

  /** Takes what was granted. A request that was refused, repeated, or has no answer writes nothing, or is counted when it is repeated. */
  spend(namespace: string, uid: string | undefined, count: number): void {
    for (const budget of this.#budgetsOf(namespace, uid)) if (budget) budget.left -= count;
  }

  #budgetsOf(namespace: string, uid: string | undefined): [inNamespace: Budget, ofPod: Budget | undefined] {
    const now = this.#now();
    return [
      budgetOf(this.#namespaces, namespace, this.#namespaceLimit, now),
      uid === undefined ? undefined : budgetOf(this.#pods, uid, podLimit, now),
    ];
  }
}

interface Budget {
  left: number;
  readonly at: number;
}

const secondsUntil = ({ left }: Budget, count: number, { perSecond }: BudgetLimit): number =>
  Math.ceil((count - left) / perSecond);

/** The budget as of now; a new one is full. */
function budgetOf(budgets: Map<string, Budget>, key: string, { perSecond, burst }: BudgetLimit, now: number): Budget {
  const known = budgets.get(key);
  const left = known ? Math.min(burst, known.left + ((now - known.at) / 1_000) * perSecond) : burst;
  const budget = { left, at: now };
  budgets.delete(key);
  budgets.set(key, budget);
  const [oldest] = budgets.keys();
  if (budgets.size > maxBudgets && oldest !== undefined) budgets.delete(oldest);
  return budget;
}

/** Finds out which NICs have port security, from the annotations of Pods. */
import type { ObjectChange } from '../../../lib/kubernetes/client/informer.ts';
import type { PortAllocation } from '../rows/row-sources.ts';
import type { SecuredPod } from './secured-pod.ts';

export interface PortSecurityOptions {
  /** Whether the ledger has ports of a Pod, by its namespace and its uid in the ledger. */
  readonly hasPorts: (pod: Pick<PortAllocation, 'namespace' | 'uid'>) => boolean;
  /** Called when the request of a Pod has changed. */
  readonly onChange: (pod: Pick<PortAllocation, 'namespace' | 'uid'>) => void;
}

const allProviders = 'ovn';
const keyOf = ({ namespace, uid }: Pick<PortAllocation, 'namespace' | 'uid'>): string => `${namespace}/${uid}`;

export class PortSecurity {
  readonly #options: PortSecurityOptions;
  /**
   * The requests by namespace and ledger uid, then by Pod uid: a migrating machine has two Pods.
   */
  readonly #requests = new Map<string, Map<string, ReadonlySet<string>>>();
  /** Deleted Pods whose request still holds, because they have ports. */
  readonly #gone = new Map<string, { readonly pod: Pick<PortAllocation, 'namespace' | 'uid'>; readonly uid: string }>();

  constructor(options: PortSecurityOptions) {
    this.#options = options;
  }

  /** Whether OVN drops a NIC's packets with foreign addresses: one Pod's request is enough. */
  isSecured(allocation: Pick<PortAllocation, 'namespace' | 'uid' | 'provider'>): boolean {
    const requests = this.#requests.get(keyOf(allocation))?.values() ?? [];
    return [...requests].some((secured) => secured.has(allocation.provider) || secured.has(allProviders));
  }

  /** Receives a change of an informer. */
  handle(change: ObjectChange<SecuredPod>): void {
    if (change.kind === 'listed') return;
    const { namespace, uid, ledgerUid, secured } = change.object;
    const pod = { namespace, uid: ledgerUid };
    const present = this.#requests.get(keyOf(pod))?.get(uid) ?? nothing;
    if (change.kind === 'gone') {
      if (present.size === 0) return;
      // Keeps the port secured as long as it exists: a container may outlive the object of its Pod.
      this.#gone.set(uid, { pod, uid });
      this.sweep();
    } else if (!isSame(present, secured)) {
      this.#set(pod, uid, secured);
      this.#options.onChange(pod);
    }
  }

  /** Forgets the requests of Pods that have neither an object nor a port. */
  sweep(): void {
    for (const [key, { pod, uid }] of this.#gone) {
      if (this.#options.hasPorts(pod)) continue;
      this.#gone.delete(key);
      this.#set(pod, uid, nothing);
    }
  }

  #set(pod: Pick<PortAllocation, 'namespace' | 'uid'>, uid: string, secured: ReadonlySet<string>): void {
    const requests = this.#requests.get(keyOf(pod)) ?? new Map<string, ReadonlySet<string>>();
    if (secured.size === 0) requests.delete(uid);
    else requests.set(uid, secured);
    if (requests.size === 0) this.#requests.delete(keyOf(pod));
    else this.#requests.set(keyOf(pod), requests);
  }
}

const nothing: ReadonlySet<string> = new Set();
const isSame = (left: ReadonlySet<string>, right: ReadonlySet<string>): boolean =>
  left.size === right.size && [...left].every((each) => right.has(each));

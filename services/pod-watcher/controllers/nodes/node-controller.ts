/**
 * The Node controller: unbinds the containers of Nodes that were deleted or tainted as out of
 * service. Released addresses of their Pods are then free.
 *
 * A binding ends only if no Pod holds its address: a container may still run although its Node
 * object was deleted. While its Pod exists, the address is allocated to no other Pod. A Node counts
 * as deleted only if the API reported the deletion: the ledger also has names that are not Nodes
 * (an agent without Kubernetes, a test). A Node that binds after its taint is alive, so that
 * binding stays.
 */
import { errorMessage } from '../../../../lib/errors.ts';
import type { Logger } from '../../../../lib/process/log.ts';
import { IpamService, type SandboxBinding, type UnbindCause } from '../../../../proto/generated/ipledger.ts';
import type { ObjectChange, ObjectMeta, Informer } from '../../../../lib/kubernetes/client/informer.ts';
import { type NodeObject, outOfServiceTaint } from '../../kubernetes/objects/node.ts';
import type { LedgerClient } from '../../../../lib/ledger-client/ledger-client.ts';
import { readPages } from '../../../../lib/ledger-client/pages.ts';
import type { LedgerEvent } from '../../ledger/ledger-events.ts';
import type { LedgerSubscriber } from '../../ledger/ledger-subscriber.ts';
import { type Outcome, WorkQueue } from '../../work-queue/work-queue.ts';
import { handoverLimits } from '../../limits.ts';
import { allObjects, MassDeletionGuard } from '../mass-deletion-guard.ts';

export interface NodeControllerOptions {
  readonly allocator: Pick<LedgerClient, 'call'>;
  readonly nodes: Pick<Informer<NodeObject>, 'objects' | 'subscribe' | 'hasSynced'>;
  /** The namespace of the Lease on which an operator accepts a mass deletion. */
  readonly leaseNamespace: string;
  /** Whether the Pod of this container still holds one of its addresses. */
  readonly isAddressHeld: (sandbox: SandboxBinding) => boolean;
  /** Looks up whether the Node exists. */
  readonly nodeExists: (name: string, signal: AbortSignal) => Promise<boolean>;
  /** Lists the Nodes that were deleted while no watcher ran, from the history of the API server. */
  readonly listDeleted?: (signal: AbortSignal) => AsyncIterable<ObjectMeta>;
  readonly missingBefore?: number;
  /** The Nodes out of service that an earlier watcher saw; see `outOfService`. */
  readonly outOfServiceBefore?: Readonly<Record<string, number>>;
  /** Raises the alarm that most Nodes are missing; undefined clears it. */
  readonly alarm: (message: string | undefined) => void;
  /** The delay of the controller after a deletion, because others may follow. */
  readonly settleMs?: number;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

const concurrency = 4;
const firstBackoffMs = 500;
/** The interval of retries while Pods hold addresses. Each release also triggers a retry. */
const maxBackoffMs = 60_000;
const defaultSettleMs = 10_000;
/** The time within which releases are handled together. */
const gatherMs = 200;
/** The time within which disappearing Nodes count as one mass deletion. */
const massDeletionWindowMs = 60_000;
const minNodes = 10;

/** Why a Node's bindings end. Bindings later than `until`, a ledger time, stay. */
interface NodeEnd {
  readonly cause: UnbindCause;
  readonly evidence: string;
  readonly until: number;
}

/** The result of a pass over the bindings of a Node. */
interface NodeBindings {
  /** The number of remaining bindings that end when their addresses are released. */
  readonly remaining: number;
  /** The ledger time of the last binding; 0 if there is none. */
  readonly lastAt: number;
}

export class NodeController implements LedgerSubscriber {
  readonly #options: NodeControllerOptions;
  readonly #queue: WorkQueue;
  readonly #massDeletionGuard: MassDeletionGuard;
  /** Deleted Nodes that may have bindings, with the performance.now() of the deletion. */
  readonly #deleted = new Map<string, { readonly uid: string; readonly at: number }>();
  /**
   * Nodes tainted as out of service, with the ledger time of the last binding that they had when
   * the taint was seen; undefined until it is read. The taint's own time is from another clock, so
   * it is not compared.
   */
  readonly #outOfService = new Map<string, number | undefined>();

  constructor(options: NodeControllerOptions) {
    this.#options = options;
    const { log, signal, missingBefore = 0 } = options;
    const haltedBefore = { [allObjects]: missingBefore };
    this.#massDeletionGuard = new MassDeletionGuard({ minObjects: minNodes, haltedBefore });
    const work = (name: string) => this.#reconcile(name);
    this.#queue = new WorkQueue({ concurrency, firstBackoffMs, maxBackoffMs, work, log, signal });
    options.nodes.subscribe((change) => this.#onNode(change));
  }

  /** The number of missing Nodes while the mass-deletion guard halts the controller; or 0. */
  get missing(): number {
    return this.#massDeletionGuard.halted.get(allObjects) ?? 0;
  }

  /** Whether an operator accepted the deletion of Nodes, and most of them are not back. */
  get isAccepted(): boolean {
    return this.#massDeletionGuard.accepted.length > 0;
  }

  /** Accepts that up to this number of missing Nodes were deleted. */
  acceptMassDeletion(missing: number): void {
    this.#massDeletionGuard.accept(missing > 0 ? { [allObjects]: missing } : {});
    this.#checkMassDeletion();
    for (const name of this.#deleted.keys()) this.#queue.add(name);
  }

  /** The Nodes out of service, for the next watcher. */
  get outOfService(): Readonly<Record<string, number>> {
    const { nodes, outOfServiceBefore = {} } = this.#options;
    if (!nodes.hasSynced) return outOfServiceBefore;
    const known = [...this.#outOfService].filter((entry): entry is [string, number] => entry[1] !== undefined);
    return Object.fromEntries(known.slice(0, handoverLimits.nodes));
  }

  /** Starts; Nodes and ledger must be loaded. Resolves when earlier deletions are listed. */
  async start(): Promise<void> {
    const { listDeleted, nodes, log, signal } = this.#options;
    this.#queue.start();
    if (!listDeleted) return;
    try {
      for await (const node of listDeleted(signal)) if (!nodes.objects.has(node.name)) this.#onDeleted(node);
    } catch (error) {
      if (!signal.aborted)
        log.info({ reason: errorMessage(error) }, 'nodes: the API server has no full history of the deletions');
    }
  }

  onSnapshot(): void {
    // Lists no bindings here: each reconciliation does.
  }

  onEvents(events: readonly LedgerEvent[]): void {
    if (events.some(({ kind }) => kind === 'released'))
      for (const name of [...this.#deleted.keys(), ...this.#outOfService.keys()]) this.#queue.addAfter(name, gatherMs);
  }

  #onNode(change: ObjectChange<NodeObject>): void {
    if (change.kind === 'listed') return;
    const { name, isOutOfService } = change.object;
    if (change.kind === 'gone' || !isOutOfService) this.#outOfService.delete(name);
    if (change.kind === 'gone') return this.#onDeleted(change.object);
    this.#deleted.delete(name);
    if (!isOutOfService || this.#outOfService.has(name)) return;
    this.#outOfService.set(name, this.#options.outOfServiceBefore?.[name]);
    this.#queue.add(name);
  }

  #onDeleted({ name, uid }: ObjectMeta): void {
    this.#deleted.set(name, { uid, at: performance.now() });
    this.#queue.addAfter(name, this.#settleMs);
  }

  get #settleMs(): number {
    return this.#options.settleMs ?? defaultSettleMs;
  }

  async #reconcile(name: string): Promise<Outcome> {
    const { nodeExists, nodes, signal } = this.#options;
    if (this.#outOfService.has(name)) {
      const cause = 'UNBIND_CAUSE_NODE_OUT_OF_SERVICE';
      const evidence = `Node ${name} (uid ${nodes.objects.get(name)?.uid}) has the taint ${outOfServiceTaint}`;
      const known = this.#outOfService.get(name);
      const { remaining, lastAt } = await this.#unbind(name, { cause, evidence, until: known ?? Infinity });
      if (this.#outOfService.has(name)) this.#outOfService.set(name, known ?? lastAt);
      return remaining > 0 ? 'again' : 'done';
    }
    const deleted = this.#deleted.get(name);
    if (!deleted) return 'done';
    const remainingMs = deleted.at + this.#settleMs - performance.now();
    if (remainingMs > 0) {
      this.#queue.addAfter(name, remainingMs);
      return 'done';
    }
    if (this.#checkMassDeletion()) return 'again';
    const evidence = `Node ${name} (uid ${deleted.uid}) is deleted`;
    const end = { cause: 'UNBIND_CAUSE_NODE_DELETED', evidence, until: Infinity } as const;
    const remaining = (await nodeExists(name, signal)) ? 0 : (await this.#unbind(name, end)).remaining;
    if (remaining > 0) return 'again';
    this.#deleted.delete(name);
    return 'done';
  }

  #checkMassDeletion(): boolean {
    const { nodes, alarm, leaseNamespace } = this.#options;
    const wasHalted = this.missing > 0;
    const since = wasHalted ? -Infinity : performance.now() - massDeletionWindowMs;
    const missing = [...this.#deleted].filter(([, { at }]) => at > since).map(([name]) => name);
    const expected = missing.length + nodes.objects.size;
    const isHalted = this.#massDeletionGuard.update(allObjects, { missing: missing.length, expected });
    if (isHalted)
      alarm(
        `${missing.length} of ${expected} Nodes are missing from the Kubernetes API all at the same time (${missing.slice(0, 3).join(', ')}, …); their bindings stay. ` +
          `If the API server lost its data, restore it; if the Nodes are really deleted, run: ipledger accept-mass-deletion --namespace ${leaseNamespace} --reason TEXT`,
      );
    else if (wasHalted) alarm(undefined);
    return isHalted;
  }

  /** Ends the bindings of a Node whose addresses are not held by a Pod. */
  async #unbind(node: string, end: NodeEnd): Promise<NodeBindings> {
    const { allocator, isAddressHeld, log, signal } = this.#options;
    const { cause, until } = end;
    let [ended, remaining, later, lastAt] = [0, 0, 0, 0];
    const read = (pageToken: string) => allocator.call(IpamService.listBindings, { node, pageToken }, signal);
    for await (const { bindings } of readPages(read))
      for (const sandbox of bindings) {
        const at = Date.parse(sandbox.binding?.at ?? '') || 0;
        lastAt = Math.max(lastAt, at);
        if (at > until) later += 1;
        else if (!isAddressHeld(sandbox) && (await this.#unbindOne(sandbox, end)) > 0) ended += 1;
        else remaining += 1;
      }
    const counts = { node, ended, remaining, cause };
    if (ended > 0) log.info(counts, 'nodes: unbound the containers of a Node that is deleted or out of service');
    if (later > 0)
      log.warn(
        { ...counts, later },
        'nodes: a Node with the out-of-service taint has bound containers since, so it runs. Remove the taint, or stop the machine',
      );
    return { remaining, lastAt };
  }

  /** Unbinds a container. @returns how many bindings ended: 0 if fenced or already unbound */
  async #unbindOne({ attachment, binding }: SandboxBinding, { cause, evidence }: NodeEnd): Promise<number> {
    const { allocator, signal } = this.#options;
    const { namespace = '', pod = '', provider = '' } = attachment ?? {};
    const { containerId = '', interface: name = '' } = binding ?? {};
    const request = { namespace, pod, provider, containerId, interface: name, cause, evidence };
    return (await allocator.call(IpamService.unbind, request, signal)).unbound;
  }
}

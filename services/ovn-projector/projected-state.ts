/**
 * The state to project: the OVN networks of the ledger and the settings of Kubernetes objects. It
 * reports which rows a change concerns, and joins the changes of one event-loop turn.
 */
import { Informer, type ObjectMeta } from '../../lib/kubernetes/client/informer.ts';
import type { Api } from '../../lib/kubernetes/client/kubernetes-api.ts';
import type { EventReply } from '../../lib/ledger-client/event-subscription.ts';
import { FatalLedgerError } from '../../lib/ledger-client/follow-ledger.ts';
import { watchSilenceMs } from '../../lib/ledger-client/ledger-client.ts';
import type { Logger } from '../../lib/process/log.ts';
import type { InputStatus } from '../../lib/process/readiness.ts';
import type { Position } from '../../proto/generated/ipledger.ts';
import { securedPods } from './kubernetes/secured-pod.ts';
import { PortSecurity } from './kubernetes/port-security.ts';
import { subnetSettings, providerNetworks, vlans } from './kubernetes/subnet-settings.ts';
import { LedgerModel } from './ledger/ledger-model.ts';
import type { LedgerSnapshot } from './ledger/read-snapshot.ts';
import type { RowInputs } from './rows/desired-rows.ts';

/** The rows to compute again. */
export interface StateChange {
  /** Whether all rows must be computed again. */
  readonly isAll: boolean;
  /** Whether the rows of all Subnets must be computed again. */
  readonly hasSubnets: boolean;
  /** The names of ports to compute again. */
  readonly ports: ReadonlySet<string>;
}

/** The allocator now serves another ledger, which does not own the rows of the previous one. */
export class OtherLedger extends FatalLedgerError {
  override readonly name = 'OtherLedger';
}

export class ProjectedState {
  readonly #model = new LedgerModel();
  readonly #security: PortSecurity;
  readonly #informers;
  readonly #complete = Promise.withResolvers<string>();
  #ledger: string | undefined;
  #position: Position | undefined;
  /** The last event in any page of the snapshot. The state has no single position before it. */
  #consistentSeq = 0;
  #lastReplyAt = -Infinity;
  #listener: ((change: StateChange) => void) | undefined;
  #onPosition: (() => void) | undefined;
  #changed = nothingChanged();

  constructor(api: Api, log: Logger) {
    this.#informers = {
      subnets: new Informer(api, subnetSettings, log),
      vlans: new Informer(api, vlans, log),
      providerNetworks: new Informer(api, providerNetworks, log),
      pods: new Informer(api, securedPods, log),
    };
    this.#security = new PortSecurity({
      hasPorts: ({ namespace, uid }) => this.#model.portsOf(namespace, uid).size > 0,
      onChange: ({ namespace, uid }) => this.#change({ ports: this.#model.portsOf(namespace, uid) }),
    });
  }

  /** Resolves to the id of the ledger when the state is complete. */
  get complete(): Promise<string> {
    return this.#complete.promise;
  }

  /** The ledger position of the state; undefined while it has no single position. */
  get position(): Position | undefined {
    return this.#position;
  }

  get inputs(): Omit<RowInputs, 'ledger'> {
    const { subnets: settings, vlans, providerNetworks } = this.#informers;
    const { subnets, allocations } = this.#model;
    return {
      subnets,
      allocations,
      settings: settings.objects,
      vlans: vlans.objects,
      providerNetworks: providerNetworks.objects,
      isSecured: (allocation) => this.#security.isSecured(allocation),
    };
  }

  /** The age of each input. */
  get status(): InputStatus[] {
    const informers = Object.entries(this.#informers).map(([name, { hasSynced, silentMs, maxSilentMs }]) => {
      return { name, isKnown: hasSynced, silentMs, maxSilentMs };
    });
    const silentMs = performance.now() - this.#lastReplyAt;
    return [
      ...informers,
      { name: 'the allocator', isKnown: this.#position !== undefined, silentMs, maxSilentMs: watchSilenceMs },
    ];
  }

  /** Reports changes from now on. @param onPosition called when the position has changed */
  subscribe(listener: (change: StateChange) => void, onPosition: () => void): void {
    this.#listener = listener;
    this.#onPosition = onPosition;
  }

  /** Lists and watches the Kubernetes objects until the signal is aborted. */
  watch(signal: AbortSignal): void {
    const { pods, ...structural } = this.#informers;
    pods.subscribe((change) => this.#security.handle(change));
    for (const informer of Object.values(structural) as Informer<ObjectMeta>[])
      informer.subscribe((change) => {
        // Ignores changes of the status, which most changes of a Subnet are.
        const isOther = change.kind === 'gone' || (change.kind === 'present' && !isSame(change.before, change.object));
        if (isOther) this.#change({ hasSubnets: true });
      });
    for (const informer of Object.values(this.#informers) as Informer<ObjectMeta>[]) {
      informer.subscribe((change) => (change.kind === 'listed' ? this.#checkComplete() : undefined));
      void informer.run(signal);
    }
  }

  /** Replaces all earlier state. @throws OtherLedger */
  onSnapshot(snapshot: LedgerSnapshot): void {
    const { ledger, lastSeq } = snapshot;
    if (this.#ledger !== undefined && ledger !== this.#ledger)
      throw new OtherLedger(
        `the allocator serves ledger ${ledger}, and served ${this.#ledger} before: start this program again`,
      );
    this.#ledger = ledger;
    this.#position = undefined;
    this.#consistentSeq = lastSeq;
    this.#model.load(snapshot);
    this.#change({ isAll: true });
  }

  /** Applies the events of complete commands; none for a keepalive. @throws UnknownEvent */
  onReply({ events, position }: Pick<EventReply, 'events' | 'position'>): void {
    for (const event of events) this.#change(this.#model.apply(event));
    this.#lastReplyAt = performance.now();
    if (position.seq < this.#consistentSeq) return;
    this.#position = position;
    this.#checkComplete();
    this.#report();
    this.#onPosition?.();
  }

  #checkComplete(): void {
    const areListed = Object.values(this.#informers).every(({ hasSynced }) => hasSynced);
    if (areListed && this.#position && this.#ledger !== undefined) this.#complete.resolve(this.#ledger);
  }

  #change({ isAll = false, hasSubnets = false, ports = [] }: PartialChange): void {
    const isFirst = !isChange(this.#changed);
    this.#changed.isAll ||= isAll;
    this.#changed.hasSubnets ||= hasSubnets;
    for (const port of ports) this.#changed.ports.add(port);
    if (isFirst && isChange(this.#changed)) setImmediate(() => this.#report());
  }

  /** Postpones the report while the state has no single position. */
  #report(): void {
    const changed = this.#changed;
    if (!this.#listener || !this.#position || !isChange(changed)) return;
    this.#changed = nothingChanged();
    this.#security.sweep();
    this.#listener(changed);
  }
}

type PartialChange = Partial<Omit<StateChange, 'ports'>> & { readonly ports?: Iterable<string> };

const nothingChanged = () => ({ isAll: false, hasSubnets: false, ports: new Set<string>() });

const isChange = ({ isAll, hasSubnets, ports }: StateChange): boolean => isAll || hasSubnets || ports.size > 0;

/** Whether two versions of an object have the same parsed fields. */
const isSame = (before: ObjectMeta | undefined, after: ObjectMeta): boolean =>
  before !== undefined && contentOf(before) === contentOf(after);

const contentOf = (object: ObjectMeta): string => JSON.stringify({ ...object, resourceVersion: '' });

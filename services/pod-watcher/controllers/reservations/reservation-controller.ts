/** Applies objects that reserve an address without a Pod (Vip, IP) to the ledger. */
import { isIP } from 'node:net';
import { IpledgerError } from '../../../../lib/errors.ts';
import { ipv4First } from '../../../../lib/net/ip.ts';
import type { CustomResource } from '../../kubernetes/objects/custom-resource.ts';
import type { UntypedJson } from '../../../../lib/kubernetes/untyped-json.ts';
import type { LedgerClient } from '../../../../lib/ledger-client/ledger-client.ts';
import { IpamService } from '../../../../proto/generated/ipledger.ts';
import type { LedgerEvent, ReservedAddress } from '../../ledger/ledger-events.ts';
import type { LedgerSubscriber, LedgerSnapshot } from '../../ledger/ledger-subscriber.ts';
import {
  ObjectController,
  type ObjectControllerOptions,
  type ObjectAccess,
} from '../object-controller/object-controller.ts';

/** The reservation that an object requests. */
export interface DesiredReservation {
  readonly subnet: string;
  /** The addresses to reserve; empty: any address of each family. */
  readonly addresses: readonly string[];
  /** Whether to reserve an address of the other family, too: the Pod gets one per family. */
  readonly isCompleted?: boolean;
  readonly reservedFor: string;
  readonly mac: string;
  /** The namespace that must be allowed to use the Subnet; "" means any namespace. */
  readonly namespace: string;
}

export interface ReservationControllerOptions<T extends CustomResource>
  extends ObjectAccess<T>, Pick<ObjectControllerOptions<T>, 'isRelevant' | 'differences' | 'reasons' | 'warnings'> {
  readonly allocator: Pick<LedgerClient, 'call'>;
  /** The prefix of a reservation's reason, before the object's name. */
  readonly reasonPrefix: string;
  /** Returns the reservation; undefined for none. @throws IpledgerError if spec is invalid */
  readonly desired: (object: T) => DesiredReservation | undefined;
  /** Returns why a Subnet allocates no new address for now, as a sentence. */
  readonly suspensionOf?: (subnet: string) => string | undefined;
  /** Returns why a namespace may not use a Subnet, as a sentence. Present reservations stay. */
  readonly subnetAccessRefusal: (subnet: string, namespace: string) => string | undefined;
  /** Returns the fields that an object must show. @param addresses IPv4 first */
  readonly appliedFields: (object: T, addresses: readonly string[]) => UntypedJson;
}

export class ReservationController<T extends CustomResource> implements LedgerSubscriber {
  readonly #options: ReservationControllerOptions<T>;
  readonly #controller: ObjectController<T>;
  /** The reservations of the ledger, by the names of their objects. */
  readonly #reserved = new Map<string, Pick<ReservedAddress, 'subnet' | 'reservedFor'>>();

  constructor(options: ReservationControllerOptions<T>) {
    this.#options = options;
    this.#controller = new ObjectController<T>({
      ...options,
      apply: (object) => this.#apply(object),
      isApplied: (name) => this.#reserved.has(name),
      retire: (name) => this.#retire(name),
      appliedNames: () => [...this.#reserved.keys()],
      onVerdict: () => undefined,
    });
  }

  /** Starts; resolves when every present object has been tried once. */
  start(): Promise<void> {
    return this.#controller.start();
  }

  onSnapshot({ reservations }: LedgerSnapshot): void {
    this.#reserved.clear();
    for (const reserved of reservations) this.#put(reserved);
    this.#controller.enqueueAll();
  }

  onEvents(events: readonly LedgerEvent[]): void {
    for (const event of events) {
      if (event.kind === 'reserved') this.#put(event.reserved);
      else if (event.kind === 'unreserved') this.#drop(event);
      if (event.kind === 'subnet-configured') this.#controller.retryAll();
      else if (event.kind === 'released') this.#retryFreed(event.subnet, event.addresses);
      else if (event.kind === 'unreserved' || event.kind === 'unquarantined')
        this.#retryFreed(event.subnet, [event.address]);
    }
  }

  /** Retries objects that name a freed address, no address, or a MAC. */
  #retryFreed(subnet: string, addresses: readonly string[]): void {
    this.#controller.retryAll((object) => {
      const desired = this.#desiredOf(object);
      if (desired?.subnet !== subnet) return false;
      const { mac, addresses: named, isCompleted = false } = desired;
      const needsOthers = named.length === 0 || (isCompleted && named.length === 1);
      return mac !== '' || needsOthers || named.some((each) => addresses.includes(each));
    });
  }

  /** Returns the requested reservation; undefined if there is none, or the spec is invalid. */
  #desiredOf(object: T): DesiredReservation | undefined {
    try {
      return this.#options.desired(object);
    } catch {
      return undefined;
    }
  }

  #put({ reason, subnet, reservedFor }: ReservedAddress): void {
    if (!reason.startsWith(this.#options.reasonPrefix)) return;
    const name = reason.slice(this.#options.reasonPrefix.length);
    this.#reserved.set(name, { subnet, reservedFor });
    this.#controller.enqueueIfOrphaned(name);
  }

  /** Applies an object again whose reservation another client ended. */
  #drop({ subnet, reservedFor }: Pick<ReservedAddress, 'subnet' | 'reservedFor'>): void {
    for (const [name, reserved] of this.#reserved)
      if (reserved.subnet === subnet && reserved.reservedFor === reservedFor) {
        this.#reserved.delete(name);
        this.#controller.enqueue(name);
      }
  }

  async #apply(object: T): Promise<UntypedJson | undefined> {
    const { desired, subnetAccessRefusal, suspensionOf, appliedFields } = this.#options;
    const reservation = desired(object);
    if (!reservation) return undefined;
    const { namespace, isCompleted = false, ...request } = reservation;
    const isNew = !this.#reserved.has(object.name);
    const suspension = isNew ? suspensionOf?.(request.subnet) : undefined;
    if (suspension !== undefined) throw new IpledgerError('SUBNET_OVERLAP', suspension);
    const refusal = isNew && namespace !== '' ? subnetAccessRefusal(request.subnet, namespace) : undefined;
    if (refusal !== undefined) throw new IpledgerError('NAMESPACE_NOT_ALLOWED', refusal);
    const named = await this.#reserve(object, request);
    if (!isCompleted || request.addresses.length !== 1) return appliedFields(object, named);
    const ofEachFamily = await this.#reserve(object, { ...request, addresses: [] });
    const others = ofEachFamily.filter((address) => isIP(address) !== isIP(named[0] ?? ''));
    return appliedFields(object, ipv4First([...named, ...others]));
  }

  async #reserve({ name }: T, request: Omit<DesiredReservation, 'namespace' | 'isCompleted'>): Promise<string[]> {
    const { allocator, reasonPrefix, signal } = this.#options;
    const named = { ...request, reason: reasonPrefix + name };
    const { records } = await allocator.call(IpamService.reserve, named, signal);
    return records.map(({ address }) => address);
  }

  async #retire(name: string): Promise<void> {
    const reserved = this.#reserved.get(name);
    if (!reserved) return;
    const { allocator, reasonPrefix, signal } = this.#options;
    const request = { ...reserved, addresses: [], reason: `${reasonPrefix}${name} was deleted` };
    await allocator.call(IpamService.unreserve, request, signal);
  }
}

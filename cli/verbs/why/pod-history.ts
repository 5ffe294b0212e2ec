/** Groups the events of a Pod's name by Pod, with allocation periods and open refusals. */
import type { Attachment, Event, Owner } from '../../../proto/generated/ipledger.ts';
import { type AllocationPeriod, buildAddressPeriods } from '../../allocation-periods/allocation-periods.ts';

/** A refusal without a later allocation of the attachment. */
export interface Refusal {
  readonly seq: number;
  readonly at: string;
  readonly attachment: Attachment | undefined;
  readonly reason: string;
  readonly message: string;
}

/** A Pod, identified by its uid. */
export interface PodHistory {
  readonly uid: string;
  readonly owner: Owner | undefined;
  /** Oldest first. */
  readonly events: readonly Event[];
  /** Oldest first. */
  readonly allocationPeriods: readonly AllocationPeriod[];
  /** The open refusals: at most one per attachment. */
  readonly refusals: readonly Refusal[];
}

/** The Pods of a name, newest first. @param events of the name, newest first. */
export function buildPodHistories(events: readonly Event[]): PodHistory[] {
  const periods = [...Map.groupBy(events, attachmentKey).values()].flatMap(
    (each) => buildAddressPeriods(each).allocationPeriods,
  );
  const byUid = Map.groupBy(events.toReversed(), createUidOf(events));
  const pods = [...byUid].map(([uid, own]): PodHistory => {
    const allocationPeriods = periods
      .filter(({ podUid }) => podUid === uid)
      .toSorted((a, b) => a.grant.seq - b.grant.seq);
    const owner = allocationPeriods.findLast((period) => period.owner)?.owner;
    return { uid, owner, events: own, allocationPeriods, refusals: findOpenRefusals(own, allocationPeriods) };
  });
  return pods.toSorted((a, b) => firstSeq(b) - firstSeq(a));
}

/** Orders Pods by their first event: bindings may end late. Events without a uid come last. */
const firstSeq = ({ uid, events }: PodHistory): number => (uid === '' ? 0 : (events[0]?.seq ?? 0));

/** The part of an event that names a Pod's uid. */
const podDetail = (event: Event) =>
  event.addressAllocated ??
  event.addressTransferred ??
  event.addressReleased ??
  event.addressBound ??
  event.allocationRefused;

function attachmentKey(event: Event): string {
  const { provider = '', ordinal = 0 } = (podDetail(event) ?? event.addressUnbound)?.attachment ?? {};
  return `${provider}/${ordinal}`;
}

/** AddressUnbound names no uid: the AddressBound of the same container does. */
function createUidOf(events: readonly Event[]): (event: Event) => string {
  const uidOfContainer = new Map<string, string>();
  for (const { addressBound } of events)
    if (addressBound) uidOfContainer.set(`${addressBound.containerId}/${addressBound.interface}`, addressBound.uid);
  return (event) => {
    const { addressUnbound } = event;
    if (!addressUnbound) return podDetail(event)?.uid ?? '';
    return uidOfContainer.get(`${addressUnbound.containerId}/${addressUnbound.interface}`) ?? '';
  };
}

/** The last refusal of each attachment, unless it got an allocation later. */
function findOpenRefusals(events: readonly Event[], periods: readonly AllocationPeriod[]): Refusal[] {
  const last = new Map<string, Refusal>();
  for (const event of events) {
    const { allocationRefused, seq, at } = event;
    if (!allocationRefused) continue;
    const { attachment, reason, message } = allocationRefused;
    last.set(attachmentKey(event), { seq, at, attachment, reason, message });
  }
  const isAllocatedLater = ({ seq, attachment }: Refusal): boolean =>
    periods.some(
      (period) =>
        period.grant.seq > seq &&
        period.attachment?.provider === attachment?.provider &&
        period.attachment?.ordinal === attachment?.ordinal,
    );
  return [...last.values()].filter((refusal) => !isAllocatedLater(refusal));
}

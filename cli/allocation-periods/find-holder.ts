/** Finds the Pod that had an address at an instant. */
import { IpledgerError, isPositionGone } from '../../lib/errors.ts';
import { type Event, IpamService, LedgerService, type Position } from '../../proto/generated/ipledger.ts';
import type { LedgerClient } from '../clients/ledger-client.ts';
import { readHistoryPage } from '../clients/read-history.ts';
import { clockTimeOf } from '../time/ledger-time.ts';
import {
  addressAtInstant,
  type AddressAtInstant,
  type AllocationPeriod,
  buildAddressPeriods,
} from './allocation-periods.ts';

export interface HolderQuery {
  readonly address: string;
  /** The subnet; undefined for all subnets that have a record of the address. */
  readonly subnet: string | undefined;
  /** The instant, RFC 3339 in UTC with milliseconds; undefined for now. */
  readonly instant: string | undefined;
  /** Ledger time now, if people gave `instant` by a clock. Events then get the clock's times. */
  readonly ledgerTime?: string;
}

/** The servers of the query. The read model finds the events, the allocator returns them. */
export interface HolderSources {
  readonly allocator: LedgerClient;
  readonly readModel?: Pick<LedgerClient, 'call'> | undefined;
}

/** The address in one subnet at the instant. */
export interface SubnetHolder extends AddressAtInstant {
  readonly subnet: string;
  /** The oldest readable event, if older events could change the answer; else "". */
  readonly historyStartsAt: string;
}

export interface HolderReport {
  readonly position: Position | undefined;
  /** The instant of the report. */
  readonly at: string;
  /** The address in each subnet; empty if the address was never used. */
  readonly subnets: readonly SubnetHolder[];
}

/** Called after each page, with the number of events and the time of the oldest. */
export type HistoryProgress = (events: number, at: string) => void;

/** The first page has what most answers need. Each later page is larger. */
const [firstPageSize, pageGrowth, maxPageSize] = [16, 4, 1_000];

/**
 * Reads the events of the address that decide the answer: from the second allocation after the
 * instant, or the newest event, down to the second allocation before it. The allocator finds each
 * event by the link of the later one, so that none is left out.
 * @throws IpledgerError POSITION_GONE if the events that decide the answer are sealed and
 * unavailable.
 */
export async function findHolder(
  sources: HolderSources,
  { address, subnet, instant: requested, ledgerTime = '' }: HolderQuery,
  onProgress?: HistoryProgress,
): Promise<HolderReport> {
  const {
    position,
    subnets: names,
    events,
  } = await readHistoryPage(sources.allocator, { address, subnet, pageSize: 1 });
  const newest = events[0]?.at ?? '';
  // The ledger's clock may be ahead of this machine's
  const instant = requested ?? laterOf(new Date().toISOString(), newest);
  const subnets: SubnetHolder[] = [];
  for (const name of names) {
    const place = { address, subnet: name, instant, ledgerTime };
    const indexed = newest > instant ? await findByIndex(sources, place, onProgress) : undefined;
    subnets.push(indexed ?? (await findFrom(sources.allocator, place, 0, onProgress)));
  }
  return { position, at: instant, subnets };
}

const laterOf = (a: string, b: string): string => (a > b ? a : b);

interface AddressInstant {
  readonly address: string;
  readonly subnet: string;
  readonly instant: string;
  readonly ledgerTime: string;
}

/**
 * Calls `findFrom` with an event that the read model names. The events show whether it is the right
 * event. Returns undefined if it is not, or if a later event can change the answer: then the search
 * begins with the newest event.
 */
async function findByIndex(
  { allocator, readModel }: HolderSources,
  place: AddressInstant,
  onProgress: HistoryProgress | undefined,
): Promise<SubnetHolder | undefined> {
  const { address, subnet, instant } = place;
  try {
    const reply = await readModel?.call(LedgerService.nextAllocations, { address, subnet, after: instant });
    const start = reply?.seqs[1];
    if (start === undefined) return undefined;
    const found = await findFrom(allocator, place, start, onProgress);
    // The end of a reservation or a quarantine may be a later event.
    return found.restrictions.some(({ until }) => until === '') ? undefined : found;
  } catch (error) {
    const { code } = IpledgerError.from(error);
    if (code === 'CANCELLED' || code === 'POSITION_GONE') throw error;
    return undefined; // the index is optional
  }
}

/** @param start the event to begin with; 0: the newest. @throws IpledgerError INVALID_REQUEST */
async function findFrom(
  allocator: LedgerClient,
  place: AddressInstant,
  start: number,
  onProgress: HistoryProgress | undefined,
): Promise<SubnetHolder> {
  const { subnet, instant } = place;
  const { events, unavailable } = await readDecisiveEvents(allocator, place, start, onProgress);
  if (start !== 0 && !isStartAfter(instant, events))
    throw new IpledgerError('INVALID_REQUEST', `event ${start} is not the second allocation after ${instant}`);
  if (unavailable && !events.some((event) => event.at <= instant && decidesHolder(event)))
    return await presentHolder(allocator, place, unavailable);
  const historyStartsAt = unavailable ? (events.at(-1)?.at ?? '') : '';
  return { subnet, ...addressAtInstant(instant, buildAddressPeriods(events)), historyStartsAt };
}

/**
 * Returns the Pod that got an address before the oldest readable event, and still has it.
 * @throws `unavailable` if the Pod got it after the instant, or no Pod has it: then only the
 * history has the answer
 */
async function presentHolder(
  allocator: LedgerClient,
  { address, subnet, instant }: AddressInstant,
  unavailable: IpledgerError,
): Promise<SubnetHolder> {
  const { record } = await allocator.call(IpamService.getAddress, { subnet, address });
  if (!record?.allocation || record.allocation.at > instant) throw unavailable;
  const { seq, addresses, cause, podUid, attachment, owner, node, mac, at: from } = record.allocation;
  const period: AllocationPeriod = {
    subnet,
    attachment,
    podUid,
    owner,
    node,
    mac,
    from,
    until: '',
    release: undefined,
    addresses: addresses.map((each) => each.address),
    grant: { seq, cause, actor: 'unknown', fromUid: '' },
    bindings: record.bindings.map(({ at, ...binding }) => ({
      ...binding,
      from: at,
      until: '',
      unbindCause: 'UNBIND_CAUSE_UNSPECIFIED',
    })),
  };
  const found = addressAtInstant(instant, { allocationPeriods: [period], restrictionPeriods: [] });
  return { subnet, ...found, historyStartsAt: '' };
}

interface AddressHistory {
  /** The events, newest first. */
  readonly events: readonly Event[];
  /** Why older events, which could change the answer, could not be read. */
  readonly unavailable: IpledgerError | undefined;
}

async function readDecisiveEvents(
  allocator: LedgerClient,
  { address, subnet, instant, ledgerTime }: AddressInstant,
  newestSeq: number,
  onProgress: HistoryProgress | undefined,
): Promise<AddressHistory> {
  const events: Event[] = [];
  let pageToken = '';
  let pageSize = firstPageSize;
  try {
    do {
      const page = await readHistoryPage(allocator, { address, subnet, newestSeq, pageSize, pageToken });
      // The stored line takes half of an event's memory
      for (const event of page.events) events.push({ ...event, at: clockTimeOf(event, ledgerTime), stored: '' });
      onProgress?.(events.length, events.at(-1)?.at ?? '');
      pageToken = page.nextPageToken;
      pageSize = Math.min(pageGrowth * pageSize, maxPageSize);
    } while (pageToken !== '' && !isDecisive(instant, events));
    return { events, unavailable: undefined };
  } catch (error) {
    if (isPositionGone(error)) return { events, unavailable: error };
    throw error;
  }
}

/** Whether this event decides the holder, without older events. */
const decidesHolder = ({ addressAllocated, addressTransferred, addressReleased }: Event): boolean =>
  (addressAllocated ?? addressTransferred ?? addressReleased) !== undefined;

/**
 * Whether older events can not change the answer. An AddressAllocated ends all bindings of earlier
 * Pods, and a quarantined address is not allocated. So nothing before the second allocation at or
 * before the instant changes holder, predecessor, bindings or quarantine. Its cause shows a
 * reservation.
 * @param events of one address in one subnet, newest first
 */
export function isDecisive(instant: string, events: readonly Event[]): boolean {
  const past = events.filter(({ at }) => at <= instant);
  const allocations = past.filter(({ addressAllocated }) => addressAllocated);
  return allocations.length >= 2 && past.some(showsReservation);
}

/** Whether the state of the reservation after this event does not depend on earlier events. */
function showsReservation({ addressAllocated, addressReserved, reservationCancelled, claimsDropped }: Event): boolean {
  if (addressReserved ?? reservationCancelled ?? claimsDropped) return true;
  return addressAllocated !== undefined && !causesWithReservation.has(addressAllocated.cause);
}

/** The causes that verification accepts for an allocation of a reserved address. */
const causesWithReservation: ReadonlySet<string> = new Set([
  'ALLOCATION_CAUSE_UNSPECIFIED',
  'ALLOCATION_CAUSE_RESERVATION',
  'ALLOCATION_CAUSE_IMPORT',
]);

/**
 * Whether newer events can change nothing but the end of a reservation or a quarantine: the events
 * begin with an allocation, and have an earlier one after the instant. Its period is complete, as
 * the first event ends it.
 */
export function isStartAfter(instant: string, events: readonly Event[]): boolean {
  const [first, ...others] = events;
  return (
    first?.addressAllocated !== undefined && others.some(({ addressAllocated, at }) => addressAllocated && at > instant)
  );
}

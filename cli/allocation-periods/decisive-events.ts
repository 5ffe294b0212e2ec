/**
 * Which part of the history of an address decides who had it at an instant. An AddressAllocated ends all bindings of earlier Pods,
 * and a quarantined address is not allocated. So nothing before the second allocation at or before the instant changes holder,
 * predecessor, bindings or quarantine. Its cause shows a reservation.
 */
import type { Event } from '../../proto/generated/ipledger.ts';

/** Whether older events can not change the answer. @param events of one address in one subnet, newest first. */
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

/** Verification rejects an allocation of a reserved address with any other cause. */
const causesWithReservation: ReadonlySet<string> = new Set([
  'ALLOCATION_CAUSE_UNSPECIFIED',
  'ALLOCATION_CAUSE_RESERVATION',
  'ALLOCATION_CAUSE_IMPORT',
]);

/**
 * Whether newer events can change nothing but the end of a reservation or a quarantine: the events begin with an allocation, and
 * have an earlier one after the instant. Its period is complete, as the first event ends it.
 */
export function isStartAfter(instant: string, events: readonly Event[]): boolean {
  const [first, ...others] = events;
  return (
    first?.addressAllocated !== undefined && others.some(({ addressAllocated, at }) => addressAllocated && at > instant)
  );
}

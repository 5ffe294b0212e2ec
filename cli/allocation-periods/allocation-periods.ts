/** Builds allocation, binding and restriction periods of an address from its events. */
import { applyEventTable, type EventTable } from '../../proto/event-table.ts';
import type {
  AddressQuarantined,
  AddressReserved,
  AllocationCause,
  Attachment,
  Event,
  Owner,
  ReleaseCause,
  UnbindCause,
} from '../../proto/generated/ipledger.ts';

/** The time from bind to unbind of an address by one container. */
export interface BindingPeriod {
  readonly containerId: string;
  readonly interface: string;
  readonly node: string;
  /** The boot ID of the node. */
  readonly bootId: string;
  readonly from: string;
  /** The time of the unbind; "" before it. */
  readonly until: string;
  /** The cause of the unbind; unspecified before it, and if another Pod got the address first. */
  readonly unbindCause: UnbindCause;
}

/** The event that started an allocation period. */
export interface Grant {
  readonly seq: number;
  readonly cause: AllocationCause;
  readonly actor: string;
  /** The uid of the Pod's predecessor in a transfer; else "". */
  readonly fromUid: string;
}

/** The event that ended an allocation period. */
export interface Release {
  readonly seq: number;
  readonly actor: string;
  readonly cause: ReleaseCause;
  readonly evidence: string;
  /** The uid of the Pod's successor in a transfer; else "". */
  readonly toUid: string;
}

/** The time from allocation to release of one address by one Pod. */
export interface AllocationPeriod {
  readonly subnet: string;
  /** The addresses of the allocation, one per family. */
  readonly addresses: readonly string[];
  readonly attachment: Attachment | undefined;
  readonly podUid: string;
  readonly owner: Owner | undefined;
  /** The node of the Pod; "" if no event names it. */
  readonly node: string;
  readonly mac: string;
  readonly from: string;
  /** The time of the release; "" before it. */
  readonly until: string;
  readonly grant: Grant;
  readonly release: Release | undefined;
  /** The bindings, oldest first. A binding may end after the release. */
  readonly bindings: readonly BindingPeriod[];
}

/** The time in which an address was reserved or quarantined. */
export interface RestrictionPeriod {
  readonly from: string;
  /** The end of the period; "" before it. */
  readonly until: string;
  readonly reserved?: AddressReserved;
  readonly quarantined?: AddressQuarantined;
}

/** All periods of one address in one subnet, oldest first. */
export interface AddressPeriods {
  readonly allocationPeriods: readonly AllocationPeriod[];
  readonly restrictionPeriods: readonly RestrictionPeriod[];
}

type Mutable<Of> = { -readonly [Name in keyof Of]: Of[Name] };
type MutableBinding = Mutable<BindingPeriod>;
type MutableAllocation = Mutable<Omit<AllocationPeriod, 'bindings'>> & { readonly bindings: MutableBinding[] };

/** The periods after a part of the events. */
interface Periods {
  readonly allocationPeriods: MutableAllocation[];
  /** The periods by the sequence number of the grant. */
  readonly byGrant: Map<number, MutableAllocation>;
  /** Bindings without an unbind so far. */
  openBindings: MutableBinding[];
  readonly restrictionPeriods: Mutable<RestrictionPeriod>[];
}

/** @param events newest first. Periods that started before the oldest event are left out. */
export function buildAddressPeriods(events: readonly Event[]): AddressPeriods {
  const periods: Periods = { allocationPeriods: [], byGrant: new Map(), openBindings: [], restrictionPeriods: [] };
  for (const event of events.toReversed()) applyEventTable(effects, event)?.(periods, event);
  return periods;
}

/** Changes no period: an address in such an event had neither holder, container nor restriction. */
const noPeriod = (): void => undefined;

/** The change of each event type to the periods of an address. */
const effects: EventTable<(periods: Periods, event: Event) => void> = {
  addressAllocated: () => applyGrant,
  addressTransferred: () => applyGrant,
  addressReleased: () => applyRelease,
  addressBound: () => applyBind,
  addressUnbound: () => applyUnbind,
  addressReserved: () => applyRestriction,
  reservationCancelled: () => applyRestriction,
  addressQuarantined: () => applyRestriction,
  quarantineLifted: () => applyRestriction,
  claimsDropped: () => noPeriod,
  allocationRefused: () => noPeriod,
  subnetConfigured: () => noPeriod,
  subnetRetired: () => noPeriod,
  poolConfigured: () => noPeriod,
  poolRetired: () => noPeriod,
  ledgerCreated: () => noPeriod,
  segmentSealed: () => noPeriod,
  historyDropped: () => noPeriod,
  ledgerRestored: () => noPeriod,
  keyRotated: () => noPeriod,
};

function applyGrant(periods: Periods, event: Event): void {
  const granted = event.addressAllocated ?? event.addressTransferred;
  if (!granted) return;
  const fromUid = event.addressTransferred?.fromUid ?? '';
  const predecessor = periods.allocationPeriods.at(-1);
  const { seq, actor, at, subnet } = event;
  if (predecessor?.until === '') {
    predecessor.until = at;
    predecessor.release = { seq, actor, cause: 'RELEASE_CAUSE_UNSPECIFIED', evidence: '', toUid: granted.uid };
  }
  // A transfer, to a Pod of the same name, keeps the bindings. An allocation starts without
  // bindings.
  if (!event.addressTransferred) endBindings(periods, { at, cause: 'UNBIND_CAUSE_UNSPECIFIED' }, () => true);
  const { attachment, uid: podUid, owner, node, mac, cause } = granted;
  const addresses = granted.addresses.map(({ address }) => address);
  const grant = { seq, cause, actor, fromUid };
  const period: MutableAllocation = {
    subnet,
    addresses,
    attachment,
    podUid,
    owner,
    node,
    mac,
    from: at,
    until: '',
    grant,
    release: undefined,
    bindings: [...periods.openBindings],
  };
  periods.allocationPeriods.push(period);
  periods.byGrant.set(seq, period);
}

function applyBind(periods: Periods, { addressBound, at }: Event): void {
  const period = addressBound && periods.byGrant.get(addressBound.alloc);
  if (!period) return;
  const { containerId, interface: name, node, bootId } = addressBound;
  // Containers do not survive a reboot of their node
  endBindings(periods, { at, cause: 'UNBIND_CAUSE_NODE_REBOOTED' }, (of) => of.node === node && of.bootId !== bootId);
  period.node = node;
  const isBound = periods.openBindings.some(
    (of) => of.containerId === containerId && of.interface === name && of.node === node,
  );
  if (isBound) return;
  const binding: MutableBinding = {
    containerId,
    interface: name,
    node,
    bootId,
    from: at,
    until: '',
    unbindCause: 'UNBIND_CAUSE_UNSPECIFIED',
  };
  period.bindings.push(binding);
  periods.openBindings.push(binding);
}

function applyUnbind(periods: Periods, { addressUnbound, at }: Event): void {
  if (!addressUnbound) return;
  const { containerId, interface: name, cause } = addressUnbound;
  endBindings(periods, { at, cause }, (of) => of.containerId === containerId && of.interface === name);
}

function endBindings(
  periods: Periods,
  { at, cause }: { readonly at: string; readonly cause: UnbindCause },
  matches: (binding: BindingPeriod) => boolean,
): void {
  for (const binding of periods.openBindings.filter(matches)) {
    binding.until = at;
    binding.unbindCause = cause;
  }
  periods.openBindings = periods.openBindings.filter(({ until }) => until === '');
}

function applyRelease({ byGrant }: Periods, { addressReleased, seq, actor, at }: Event): void {
  const period = addressReleased && byGrant.get(addressReleased.alloc);
  if (!period) return;
  const { cause, evidence } = addressReleased;
  period.until = at;
  period.release = { seq, actor, cause, evidence, toUid: '' };
}

function applyRestriction({ restrictionPeriods: periods }: Periods, event: Event): void {
  const { addressReserved, reservationCancelled, addressQuarantined, quarantineLifted, at } = event;
  const close = (kind: 'reserved' | 'quarantined'): void => {
    const last = periods.findLast((each) => each[kind] !== undefined && each.until === '');
    if (last) last.until = at;
  };
  if (reservationCancelled ?? addressReserved) close('reserved');
  if (quarantineLifted ?? addressQuarantined) close('quarantined');
  if (addressReserved) periods.push({ from: at, until: '', reserved: addressReserved });
  if (addressQuarantined) periods.push({ from: at, until: '', quarantined: addressQuarantined });
}

/** Whether a period contains a time, RFC 3339 in UTC: `from` is inclusive, `until` exclusive. */
const contains = ({ from, until }: { readonly from: string; readonly until: string }, at: string): boolean =>
  from <= at && (until === '' || at < until);

/** An address at an instant. */
export interface AddressAtInstant {
  /** The allocation period that contains the instant. */
  readonly holder: AllocationPeriod | undefined;
  /** The last period that ended before, and the first that started after the instant. */
  readonly before: AllocationPeriod | undefined;
  readonly after: AllocationPeriod | undefined;
  /** Containers that may still have answered on an address without a holder. */
  readonly lingeringBindings: readonly BindingPeriod[];
  /** Reservations and quarantines in force. */
  readonly restrictions: readonly RestrictionPeriod[];
}

/** @param instant RFC 3339 in UTC with milliseconds. */
export function addressAtInstant(
  instant: string,
  { allocationPeriods, restrictionPeriods }: AddressPeriods,
): AddressAtInstant {
  const holder = allocationPeriods.find((period) => contains(period, instant));
  // A binding that continued through a transfer is in both periods
  const bindings = [...new Set(allocationPeriods.flatMap((period) => period.bindings))];
  return {
    holder: holder && { ...holder, node: nodeAt(holder, instant) },
    before: allocationPeriods.findLast(({ until }) => until !== '' && until <= instant),
    after: allocationPeriods.find(({ from }) => from > instant),
    lingeringBindings: holder ? [] : bindings.filter((each) => contains(each, instant)),
    restrictions: restrictionPeriods.filter((each) => contains(each, instant)),
  };
}

/** The node of the last binding before the instant, for a migration; else of the first binding. */
const nodeAt = ({ bindings, node }: AllocationPeriod, instant: string): string =>
  (bindings.findLast(({ from }) => from <= instant) ?? bindings[0])?.node ?? node;

/** Computes how events change an address: whether it is free, held, reserved or quarantined. */
import { type EventTable, applyEventTable } from '../../../proto/event-table.ts';
import type { AddressBound, Event } from '../../../proto/generated/ipledger.ts';

/** The bits of a state. An address without a claim has none of them. */
export const stateBits = { known: 1, allocated: 2, reserved: 4, quarantined: 8, bound: 16 } as const;

/** A container that may answer on the address. */
export interface Container extends Pick<AddressBound, 'containerId' | 'interface' | 'node' | 'bootId'> {
  /** "namespace/name" */
  readonly pod: string;
}

export interface AddressEntry {
  readonly isAllocated: boolean;
  readonly isReserved: boolean;
  readonly isQuarantined: boolean;
  readonly containers: readonly Container[];
}

/** The entry of an address that no event has changed yet. */
export const freshEntry: AddressEntry = {
  isAllocated: false,
  isReserved: false,
  isQuarantined: false,
  containers: [],
};

export function stateOf({ isAllocated, isReserved, isQuarantined, containers }: AddressEntry): number {
  const { known, allocated, reserved, quarantined, bound } = stateBits;
  const flags = (isAllocated ? allocated : 0) + (isReserved ? reserved : 0) + (isQuarantined ? quarantined : 0);
  return known + flags + (containers.length > 0 ? bound : 0);
}

export function entryOf(state: number, containers: readonly Container[]): AddressEntry {
  const { allocated, reserved, quarantined } = stateBits;
  return {
    isAllocated: (state & allocated) !== 0,
    isReserved: (state & reserved) !== 0,
    isQuarantined: (state & quarantined) !== 0,
    containers,
  };
}

/** Whether the address is in use: a Pod has it, or it is reserved. */
export const isInUse = (state: number): boolean => (state & (stateBits.allocated | stateBits.reserved)) !== 0;

/** The change that an event makes to addresses. */
export interface AddressChange {
  readonly addresses: readonly string[];
  /** Returns the entry after the event; undefined when the claim is dropped. */
  readonly change: (entry: AddressEntry) => AddressEntry | undefined;
}

/** Returns undefined for an event that changes no address. */
export const addressChangeOf = (event: Event): AddressChange | undefined => applyEventTable(changes, event);

const podOf = (attachment: { readonly namespace: string; readonly pod: string } | undefined): string =>
  attachment ? `${attachment.namespace}/${attachment.pod}` : '';

const none = (): undefined => undefined;

/** The same effects as in the allocator: ledger/domain/events. */
const changes: EventTable<AddressChange | undefined> = {
  addressAllocated: ({ addresses, attachment, supersedes }) => ({
    addresses: addresses.map(({ address }) => address),
    // Containers of an earlier Pod of the same name may still answer.
    change: (entry) => ({
      ...entry,
      isAllocated: true,
      containers: supersedes === '' ? [] : entry.containers.filter(({ pod }) => pod === podOf(attachment)),
    }),
  }),
  addressTransferred: ({ addresses, attachment }) => ({
    addresses: addresses.map(({ address }) => address),
    change: (entry) => ({
      ...entry,
      isAllocated: true,
      containers: entry.containers.filter(({ pod }) => pod === podOf(attachment)),
    }),
  }),
  addressBound: ({ addresses, attachment, containerId, interface: name, node, bootId }) => ({
    addresses,
    change: (entry) => {
      const others = entry.containers.filter(
        (each) =>
          !(each.containerId === containerId && each.interface === name) &&
          !(each.node === node && each.bootId !== bootId),
      );
      const bound = { containerId, interface: name, node, bootId, pod: podOf(attachment) };
      return { ...entry, containers: [...others, bound] };
    },
  }),
  addressUnbound: ({ addresses, containerId, interface: name }) => ({
    addresses,
    change: (entry) => ({
      ...entry,
      containers: entry.containers.filter((each) => each.containerId !== containerId || each.interface !== name),
    }),
  }),
  addressReleased: ({ addresses }) => ({ addresses, change: (entry) => ({ ...entry, isAllocated: false }) }),
  addressReserved: ({ addresses }) => ({ addresses, change: (entry) => ({ ...entry, isReserved: true }) }),
  reservationCancelled: ({ addresses }) => ({ addresses, change: (entry) => ({ ...entry, isReserved: false }) }),
  addressQuarantined: ({ address }) => ({
    addresses: [address],
    change: (entry) => ({ ...entry, isQuarantined: true }),
  }),
  quarantineLifted: ({ address }) => ({
    addresses: [address],
    change: (entry) => ({ ...entry, isQuarantined: false }),
  }),
  claimsDropped: ({ addresses }) => ({ addresses, change: () => undefined }),
  allocationRefused: none,
  ledgerCreated: none,
  subnetConfigured: none,
  subnetRetired: none,
  poolConfigured: none,
  poolRetired: none,
  segmentSealed: none,
  historyDropped: none,
  ledgerRestored: none,
  keyRotated: none,
};

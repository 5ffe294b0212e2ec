/** Definitions of the events that begin and end a container's use of an allocation. */
import { changeClaims } from './change-claims.ts';
import { type Binding, type Claim, continuesAfterBind } from '../state/claim.ts';
import { indexAllocation } from '../state/indexes.ts';
import { allocationOf, claimOf } from '../state/state.ts';
import type { AddressUnbound } from './event.ts';
import { type EventDefinition, noOtherKey } from './event-definition.ts';
import { brokenHolding } from './holding-rule.ts';

export const addressBound: EventDefinition<'AddressBound'> = {
  since: 1,
  changes: [],
  addressesOf: ({ addresses }) => addresses,
  otherKeyOf: noOtherKey,
  evolve: (state, event, undoLog) => {
    const { alloc, attachment, addresses, containerId, interface: name, node, bootId } = event.data;
    const known = allocationOf(state, attachment);
    const mac = known?.seq === alloc && known.mac;
    const container = { containerId, interface: name, node, bootId };
    const binding: Binding = { alloc, attachment, ...container, at: event.at, ...(mac && { mac }) };
    const allocation = known?.seq === alloc ? { ...known, interface: name, node } : undefined;
    if (allocation) indexAllocation(state, allocation, undoLog);
    changeClaims(
      state,
      event,
      {
        addresses,
        change: (claim) => ({
          ...claim,
          ...(allocation && claim.allocation && { allocation }),
          bindings: [...claim.bindings.filter((each) => continuesAfterBind(each, binding)), binding],
        }),
      },
      undoLog,
    );
  },
  brokenRule: (state, { data }) => brokenHolding(state, data, 'binds'),
};

/** The only cause before version 2: CNI DEL, or a failed ADD. */
const causeBefore2 = 'container-deleted';

/** Before version 5, a node out of service was recorded as deleted: it runs no container. */
const outOfServiceBefore5 = 'node-deleted';

export const addressUnbound: EventDefinition<'AddressUnbound'> = {
  since: 1,
  changes: [
    {
      version: 2,
      adds: 'cause',
      upcast: (data) => ({ ...(data as AddressUnbound['data']), cause: causeBefore2 }),
      downcast: ({ cause: _, ...data }) => data,
    },
    {
      version: 5,
      adds: 'cause node-out-of-service',
      downcast: (data) => (data.cause === 'node-out-of-service' ? { ...data, cause: outOfServiceBefore5 } : data),
    },
    { version: 6, adds: 'evidence', downcast: ({ evidence: _, ...data }) => data },
  ],
  addressesOf: ({ addresses }) => addresses,
  otherKeyOf: noOtherKey,
  evolve: (state, event, undoLog) => {
    const { addresses, containerId, interface: name } = event.data;
    const isEnded = (binding: Binding): boolean => binding.containerId === containerId && binding.interface === name;
    const change = {
      addresses,
      change: (claim: Claim) => ({ ...claim, bindings: claim.bindings.filter((binding) => !isEnded(binding)) }),
    };
    changeClaims(state, event, change, undoLog);
  },
  brokenRule: (state, { subnet, data: { addresses, containerId, interface: name } }) => {
    const isBound = (address: string): boolean =>
      claimOf(state, subnet, address)?.bindings.some(
        (binding) => binding.containerId === containerId && binding.interface === name,
      ) ?? false;
    const other = addresses.find((address) => !isBound(address));
    return other === undefined ? undefined : `ends container ${containerId}'s use of ${other}, which did not use it`;
  },
};

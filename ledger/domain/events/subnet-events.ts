/** Definitions of the events about Subnets and IPPools. */
import { indexSubnet, unindexSubnet } from '../state/indexes.ts';
import { subnetFromSpec } from '../state/subnet.ts';
import { type EventDefinition, noAddresses, noRule } from './event-definition.ts';
import type { State } from '../state/state.ts';
import type { UndoLog } from '../state/undo-log.ts';

export const subnetConfigured: EventDefinition<'SubnetConfigured'> = {
  since: 1,
  changes: [
    {
      version: 5,
      adds: 'spec.maxAddressesPerNamespace',
      isRequiredBy: ({ spec }) => spec.maxAddressesPerNamespace !== undefined,
    },
    {
      version: 9,
      adds: 'spec.probeAddresses',
      isRequiredBy: ({ spec }) => spec.probeAddresses !== undefined,
    },
  ],
  addressesOf: noAddresses,
  otherKeyOf: ({ subnet }) => ({ kind: 'subnets', name: subnet }),
  evolve: (state, { subnet, data: { spec, source } }, undoLog) =>
    indexSubnet(state, { subnet: subnetFromSpec(subnet, spec), ...(source && { source }) }, undoLog),
  brokenRule: noRule,
};

export const subnetRetired: EventDefinition<'SubnetRetired'> = {
  since: 1,
  changes: [],
  addressesOf: noAddresses,
  otherKeyOf: ({ subnet }) => ({ kind: 'subnets', name: subnet }),
  evolve: (state, { subnet }, undoLog) => unindexSubnet(state, subnet, undoLog),
  brokenRule: (state, { subnet }) =>
    state.subnets.has(subnet) ? undefined : `retires subnet ${subnet}, which is not in force`,
};

export const poolConfigured: EventDefinition<'PoolConfigured'> = {
  since: 3,
  changes: [],
  addressesOf: noAddresses,
  otherKeyOf: ({ data: { pool } }) => ({ kind: 'pools', name: pool }),
  evolve: (state, { subnet, data: { pool: name, spec, source } }, undoLog) => {
    undoLog.setKey(state.pools, name, { name, spec, ...(source && { source }) });
    rebuildSpaces(state, subnet, undoLog);
  },
  brokenRule: noRule,
};

export const poolRetired: EventDefinition<'PoolRetired'> = {
  since: 3,
  changes: [],
  addressesOf: noAddresses,
  otherKeyOf: ({ data: { pool } }) => ({ kind: 'pools', name: pool }),
  evolve: (state, { subnet, data: { pool } }, undoLog) => {
    undoLog.deleteKey(state.pools, pool);
    rebuildSpaces(state, subnet, undoLog);
  },
  brokenRule: (state, { data: { pool } }) =>
    state.pools.has(pool) ? undefined : `retires pool ${pool}, which is not in force`,
};

/** Divides the addresses of a subnet among its pools again, after a pool changed. */
function rebuildSpaces(state: State, subnet: string, undoLog: UndoLog): void {
  const configured = state.subnets.get(subnet);
  if (!configured) return;
  const { spaces: _, ...rest } = configured;
  indexSubnet(state, rest, undoLog);
}

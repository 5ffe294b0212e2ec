/** Definitions of the events about IPPools. */
import { indexSubnet } from '../state/indexes.ts';
import type { State } from '../state/state.ts';
import type { UndoLog } from '../state/undo-log.ts';
import { type EventDefinition, noAddresses, noRule } from './event-definition.ts';

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

/** Divides a subnet into its pools again, after a change of its pools. */
function rebuildSpaces(state: State, subnet: string, undoLog: UndoLog): void {
  const configured = state.subnets.get(subnet);
  if (!configured) return;
  const { spaces: _, ...rest } = configured;
  indexSubnet(state, rest, undoLog);
}

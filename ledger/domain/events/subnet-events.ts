/** Definitions of the events about Subnets. */
import { indexSubnet, unindexSubnet } from '../state/indexes.ts';
import { subnetFromSpec } from '../state/subnet.ts';
import { type EventDefinition, noAddresses, noRule } from './event-definition.ts';

export const subnetConfigured: EventDefinition<'SubnetConfigured'> = {
  since: 1,
  changes: [
    {
      version: 5,
      adds: 'spec.maxAddressesPerNamespace',
      isRequiredBy: ({ spec }) => spec.maxAddressesPerNamespace !== undefined,
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

/** Subnets and allocations from which specs compute rows. */
import { logicalPortName } from '../../../lib/ovn/names.ts';
import type { LedgerSubnet, PortAllocation } from '../rows/row-sources.ts';
import type { RowInputs } from '../rows/desired-rows.ts';
import { overlayDefaults, type SubnetSettings, type Vlan } from '../rows/subnet-rows.ts';

export const testLedger = '01TESTLEDGER';

/** A Subnet with one CIDR. */
export const subnetNamed = (name: string, parts: Partial<LedgerSubnet> = {}): LedgerSubnet => ({
  name,
  cidrs: ['10.8.0.0/24'],
  gateways: ['10.8.0.1'],
  ...parts,
});

/** Makes the settings of a Subnet, by default those of an overlay. */
export const settingsOf = (parts: Partial<SubnetSettings> = {}): SubnetSettings => ({ ...overlayDefaults, ...parts });

/** Makes the allocation of a Pod in namespace default. */
export const allocationOf = (pod: string, parts: Partial<PortAllocation> = {}): PortAllocation => ({
  seq: 1,
  namespace: 'default',
  pod,
  uid: `uid-${pod}`,
  provider: 'net.default.ovn',
  ordinal: 0,
  subnet: 'lan',
  addresses: ['10.8.0.2'],
  mac: '0a:00:00:00:00:02',
  node: '',
  bindings: new Map(),
  ...parts,
});

export interface InputParts {
  readonly subnets?: readonly LedgerSubnet[];
  readonly allocations?: readonly PortAllocation[];
  readonly settings?: Readonly<Record<string, SubnetSettings>>;
  readonly vlans?: Readonly<Record<string, Vlan>>;
  readonly providerNetworks?: readonly string[];
  readonly secured?: (allocation: PortAllocation) => boolean;
}

/** Makes the inputs of `DesiredRows`, whose maps of allocations and Subnets may be changed. */
export function rowInputs(parts: InputParts = {}) {
  const { subnets = [], allocations = [], settings = {}, vlans = {}, providerNetworks = [], secured } = parts;
  return {
    ledger: testLedger,
    subnets: new Map(subnets.map((subnet) => [subnet.name, subnet])),
    allocations: new Map(allocations.map((allocation) => [logicalPortName(allocation), allocation])),
    settings: new Map(Object.entries(settings)),
    vlans: new Map(Object.entries(vlans)),
    providerNetworks: new Map(providerNetworks.map((name) => [name, {}])),
    isSecured: secured ?? (() => false),
  } satisfies RowInputs;
}

/** What `check` compares: the state of the ledger, of the cluster, of OVN and of the node's switch, and when they were read. */
import type {
  AddressRecord,
  Allocation,
  Freeze,
  Pool,
  Position,
  SandboxBinding,
  StorageUse,
  Subnet,
  WriteObstacle,
} from '../../../proto/generated/ipledger.ts';
import type { ClusterState } from '../../cluster/cluster-state.ts';
import type { NodeSwitch } from '../../ovn/node-switch.ts';
import type { Northbound } from '../../ovn/northbound.ts';

export interface LedgerState {
  /** Id of the ledger. */
  readonly id: string;
  readonly position: Position | undefined;
  /** Present while it is frozen. */
  readonly freeze?: Freeze | undefined;
  /** Why nothing can be written to it. */
  readonly obstacle?: WriteObstacle | undefined;
  readonly storage?: StorageUse | undefined;
  readonly allocations: readonly Allocation[];
  /** Current subnets. */
  readonly subnets: readonly Subnet[];
  /** Containers that may answer on an address, which may be released. */
  readonly bindings: readonly SandboxBinding[];
  /** Current pools. */
  readonly pools: readonly Pool[];
  /** The record of each reserved address. */
  readonly reservations: readonly AddressRecord[];
}

export interface CheckInput {
  readonly ledger: LedgerState;
  readonly cluster: ClusterState;
  /** Absent without `--ovn-nb`. */
  readonly northbound?: Northbound | undefined;
  /** Absent without `--ovs-db`. */
  readonly nodeSwitch?: NodeSwitch | undefined;
}

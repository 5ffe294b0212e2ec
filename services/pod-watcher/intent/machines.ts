/**
 * Whether a virtual machine will need its addresses again: while there is a VirtualMachine of its name it may be started at any
 * time. Machines are looked up and not watched, since most clusters do not know their kinds.
 */
import type { Owner } from '../../../proto/ipledger.ts';
import type { Machine } from '../kubernetes/objects.ts';
import type { Ending } from './owner.ts';

/** What there is of a machine "namespace/name" in the API at this moment. */
export interface Machines {
  readonly VirtualMachine: Machine | undefined;
  readonly VirtualMachineInstance: Machine | undefined;
}

export type LookUpMachines = (key: string, signal: AbortSignal) => Promise<Machines>;

/** Why a machine will not run again; undefined while it may. Without a VirtualMachine, it is the instance that its owner started. */
export function whyNoMachine(
  { VirtualMachine: machine, VirtualMachineInstance: instance }: Machines,
  owner: Owner,
): Ending | undefined {
  if (machine) return machine.deleting ? gone(`VirtualMachine ${owner.name} is being deleted`) : undefined;
  const named = `VirtualMachineInstance ${owner.name} (uid ${owner.uid})`;
  if (instance?.uid !== owner.uid) return gone(`there is no VirtualMachine ${owner.name}, and no ${named}`);
  return instance.deleting
    ? gone(`there is no VirtualMachine ${owner.name}, and ${named} is being deleted`)
    : undefined;
}

const gone = (evidence: string): Ending => ({ cause: 'RELEASE_CAUSE_OWNER_DELETED', evidence });

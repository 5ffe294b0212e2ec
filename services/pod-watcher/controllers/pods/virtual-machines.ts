/**
 * Decides whether a virtual machine may need its addresses again: it may be started at any time while a VirtualMachine of its
 * name exists. Machines are looked up, not watched, because most clusters do not have their kinds.
 */
import type { Owner } from '../../../../proto/generated/ipledger.ts';
import type { VirtualMachineObject } from '../../kubernetes/objects/virtual-machine.ts';
import { ownerDeleted, type ReleaseReason } from './release-reason.ts';

/** The objects of one machine that the API has at this moment. */
export interface VirtualMachines {
  readonly VirtualMachine: VirtualMachineObject | undefined;
  readonly VirtualMachineInstance: VirtualMachineObject | undefined;
}

/** @param key "namespace/name" */
export type LookUpVirtualMachines = (key: string, signal: AbortSignal) => Promise<VirtualMachines>;

/** Why a machine will not run again; undefined while it may. Without a VirtualMachine the instance is the machine. */
export function virtualMachineReleaseReason(
  { VirtualMachine: machine, VirtualMachineInstance: instance }: VirtualMachines,
  owner: Owner,
): ReleaseReason | undefined {
  if (machine) return machine.deleting ? ownerDeleted(`VirtualMachine ${owner.name} is being deleted`) : undefined;
  const named = `VirtualMachineInstance ${owner.name} (uid ${owner.uid})`;
  if (instance?.uid !== owner.uid) return ownerDeleted(`there is no VirtualMachine ${owner.name}, and no ${named}`);
  return instance.deleting
    ? ownerDeleted(`there is no VirtualMachine ${owner.name}, and ${named} is being deleted`)
    : undefined;
}

/** KubeVirt's VirtualMachine and VirtualMachineInstance. */
import { type MachineInstance, machineInstanceOf } from '../../../../lib/kubernetes/pod-identity.ts';
import { asRecord, asText } from '../../../../lib/kubernetes/untyped-json.ts';
import { objectMetaOf } from '../../../../lib/kubernetes/object-meta.ts';

export interface VirtualMachineObject extends MachineInstance {
  readonly deleting: boolean;
}

/** The plural names in API paths, by kind. */
export const virtualMachinePaths = {
  VirtualMachine: 'virtualmachines',
  VirtualMachineInstance: 'virtualmachineinstances',
} as const;

/** @throws Error for an object without name or uid */
export function toVirtualMachine(raw: unknown): VirtualMachineObject {
  const meta = asRecord(asRecord(raw)['metadata']);
  return { ...machineInstanceOf(raw), uid: objectMetaOf(meta).uid, deleting: asText(meta['deletionTimestamp']) !== '' };
}

/** KubeVirt's VirtualMachine and VirtualMachineInstance. */
import { type MachineInstance, machineInstanceOf } from '../../../../lib/kubernetes/pod-identity.ts';
import { asRecord, asText } from '../../../../lib/kubernetes/untyped-json.ts';
import type { ObjectMeta, ResourceKind } from '../../../../lib/kubernetes/client/informer.ts';
import { objectMetaOf } from '../../../../lib/kubernetes/object-meta.ts';

export interface VirtualMachineObject extends MachineInstance {
  readonly deleting: boolean;
}

/** The metadata of a VirtualMachine or a VirtualMachineInstance. */
export interface MachineObject extends ObjectMeta {
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

/** Omits the status, which changes often. Most clusters do not have these kinds. */
const machineKind = (plural: string): ResourceKind<MachineObject> => ({
  path: `/apis/kubevirt.io/v1/${plural}`,
  mayBeMissing: true,
  needsMetadataOnly: true,
  parse: (raw) => {
    const meta = asRecord(asRecord(raw)['metadata']);
    return { ...objectMetaOf(meta), deleting: asText(meta['deletionTimestamp']) !== '' };
  },
});

export const virtualMachines = machineKind(virtualMachinePaths.VirtualMachine);
export const virtualMachineInstances = machineKind(virtualMachinePaths.VirtualMachineInstance);

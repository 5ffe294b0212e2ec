/** Reads single objects from the API, where an informer's copy is too old. */
import { timeoutSignal } from '../../../../lib/process/abortable.ts';
import { ifPresent } from '../../../../lib/kubernetes/client/api-error.ts';
import type { Api } from '../../../../lib/kubernetes/client/kubernetes-api.ts';
import { objectPath, podPath, readObject } from '../../../../lib/kubernetes/client/object-requests.ts';
import { nodes } from '../objects/node.ts';
import { type Pod, toPod } from '../objects/pod.ts';
import { type StatefulSet, toStatefulSet } from '../objects/stateful-set.ts';
import { toVirtualMachine, type VirtualMachineObject, virtualMachinePaths } from '../objects/virtual-machine.ts';

const timeoutMs = 10_000;

/** Take "namespace/name", return undefined if the object is absent, and throw ApiError. */
export interface Lookups {
  lookUpPod(key: string, signal: AbortSignal): Promise<Pod | undefined>;
  lookUpStatefulSet(key: string, signal: AbortSignal): Promise<StatefulSet | undefined>;
  /** Reads the VirtualMachine and the VirtualMachineInstance of this name. */
  lookUpMachines(
    key: string,
    signal: AbortSignal,
  ): Promise<Record<keyof typeof virtualMachinePaths, VirtualMachineObject | undefined>>;
  nodeExists(name: string, signal: AbortSignal): Promise<boolean>;
}

export function createLookups(api: Api): Lookups {
  return {
    async lookUpPod(key, signal) {
      const [namespace, name] = splitKey(key);
      return read(api, podPath(namespace, name), toPod, signal);
    },
    async lookUpStatefulSet(key, signal) {
      return read(api, namespacedPath('/apis/apps/v1', 'statefulsets', key), toStatefulSet, signal);
    },
    async lookUpMachines(key, signal) {
      const one = (plural: string) =>
        read(api, namespacedPath('/apis/kubevirt.io/v1', plural, key), toVirtualMachine, signal);
      const [machine, instance] = await Promise.all([
        one(virtualMachinePaths.VirtualMachine),
        one(virtualMachinePaths.VirtualMachineInstance),
      ]);
      return { VirtualMachine: machine, VirtualMachineInstance: instance };
    },
    async nodeExists(name, signal) {
      return (await read(api, objectPath(nodes.path, name), () => true, signal)) !== undefined;
    },
  };
}

function splitKey(key: string): [namespace: string, name: string] {
  const [namespace = '', name = ''] = key.split('/');
  return [namespace, name];
}

function namespacedPath(group: string, plural: string, key: string): string {
  const [namespace, name] = splitKey(key);
  return objectPath(`${group}/namespaces/${encodeURIComponent(namespace)}/${plural}`, name);
}

const read = <T>(api: Api, path: string, parse: (raw: unknown) => T, signal: AbortSignal): Promise<T | undefined> =>
  ifPresent(readObject(api, path, timeoutSignal(timeoutMs, signal)).then(parse));

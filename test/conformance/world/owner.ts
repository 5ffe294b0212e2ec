/** Who owns a case's Pods, from words such as "StatefulSet web (spec.ordinals.start=5)". */
import { machineDefinitions } from '../../harness/kubevirt.ts';
import { notUnderstood } from '../case.ts';
import type { Fields } from '../json.ts';
import type { KubeObject, Objects } from './objects.ts';

export type OwnerKind = 'none' | 'Deployment' | 'DaemonSet' | 'Job' | 'StatefulSet' | 'VirtualMachineInstance';

export interface Owner {
  readonly kind: OwnerKind;
  readonly name: string;
  /** Of a StatefulSet: spec.ordinals.start. */
  readonly start: number;
}

const kinds: readonly OwnerKind[] = ['Deployment', 'DaemonSet', 'Job', 'StatefulSet', 'VirtualMachineInstance'];
const usualNames: Partial<Record<OwnerKind, string>> = { StatefulSet: 'web', VirtualMachineInstance: 'vm1' };

/** @throws CannotExecute */
export function ownerOf(words: string): Owner {
  if (words === '' || /^(none|bare)/i.test(words)) return { kind: 'none', name: '', start: 0 };
  const [, first = '', second] = /^(\w+)(?: ([a-z0-9-]+))?/.exec(words) ?? [];
  const kind = kinds.find((each) => each === first);
  if (!kind) throw notUnderstood('owner', words);
  return { kind, name: second ?? usualNames[kind] ?? 'owner', start: Number(/start\D*(\d+)/.exec(words)?.[1] ?? 0) };
}

/** What a Pod's ownerReferences say of it. */
export interface Reference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

const containers = [{ name: 'c', image: 'c' }];

/** Makes the owner, as far as somebody may want to look it up. */
export async function makeOwner(
  objects: Objects,
  owner: Owner,
  namespace: string,
  replicas = 3,
): Promise<Reference | undefined> {
  const { kind, name } = owner;
  switch (kind) {
    case 'none':
      return undefined;
    case 'StatefulSet':
      return referenceTo('apps/v1', kind, await makeStatefulSet(objects, owner, namespace, replicas));
    case 'VirtualMachineInstance': {
      for (const definition of machineDefinitions) await objects.define(definition);
      const spec: Fields = { running: true };
      const machine = await objects.create('VirtualMachine', { namespace, name }, { spec });
      const ownerReferences = [{ ...referenceTo('kubevirt.io/v1', 'VirtualMachine', machine), controller: true }];
      const made = await objects.create('VirtualMachineInstance', { namespace, name, ownerReferences }, { spec: {} });
      return referenceTo('kubevirt.io/v1', kind, made);
    }
    case 'Deployment':
      return { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: `${name}-5d4f6c7b8`, uid: `uid-of-${name}` };
    case 'DaemonSet':
      return { apiVersion: 'apps/v1', kind, name, uid: `uid-of-${name}` };
    case 'Job':
      return { apiVersion: 'batch/v1', kind, name, uid: `uid-of-${name}` };
  }
}

function referenceTo(apiVersion: string, kind: string, { metadata }: KubeObject): Reference {
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid };
}

/** No controller runs here: its Pods are made by hand. */
export function makeStatefulSet(
  objects: Objects,
  { name, start }: Owner,
  namespace: string,
  replicas: number,
): Promise<KubeObject> {
  const labels = { app: name };
  const spec = {
    replicas,
    serviceName: name,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers } },
    ...(start > 0 && { ordinals: { start } }),
  };
  return objects.create('StatefulSet', { namespace, name }, { spec });
}

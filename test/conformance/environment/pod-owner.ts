/**
 * The owner of a case's Pods, parsed from words such as "StatefulSet web (spec.ordinals.start=5)".
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { virtualMachineCrds } from '../../harness/kubernetes/kubevirt-crds.ts';
import { unsupportedError } from '../case.ts';
import { type Fields, fieldsOf, listOf } from '../../harness/json.ts';
import type { KubeObject, KubernetesClient, Manifest } from '../../harness/kubernetes/kubernetes-client.ts';

export type OwnerKind = 'none' | 'Deployment' | 'DaemonSet' | 'Job' | 'StatefulSet' | 'VirtualMachineInstance';

export interface Owner {
  readonly kind: OwnerKind;
  readonly name: string;
  /** spec.ordinals.start of a StatefulSet. */
  readonly start: number;
}

const kinds: readonly OwnerKind[] = ['Deployment', 'DaemonSet', 'Job', 'StatefulSet', 'VirtualMachineInstance'];
const defaultNames: Partial<Record<OwnerKind, string>> = { StatefulSet: 'web', VirtualMachineInstance: 'vm1' };

/** @throws UnsupportedCaseError */
export function parseOwner(words: string): Owner {
  if (words === '' || /^(none|bare)/i.test(words)) return { kind: 'none', name: '', start: 0 };
  const [, first = '', second] = /^(\w+)(?: ([a-z0-9-]+))?/.exec(words) ?? [];
  const kind = kinds.find((each) => each === first);
  if (!kind) throw unsupportedError('owner', words);
  return { kind, name: second ?? defaultNames[kind] ?? 'owner', start: Number(/start\D*(\d+)/.exec(words)?.[1] ?? 0) };
}

/** The owner in a Pod's ownerReferences. */
export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

const containers = [{ name: 'c', image: 'c' }];

/** Creates the owner if the watcher may read it. */
export async function createOwner(
  objects: KubernetesClient,
  owner: Owner,
  namespace: string,
  replicas = 3,
): Promise<OwnerReference | undefined> {
  const { kind, name } = owner;
  switch (kind) {
    case 'none':
      return undefined;
    case 'StatefulSet':
      return referenceTo('apps/v1', kind, await createStatefulSet(objects, owner, namespace, replicas));
    case 'VirtualMachineInstance': {
      for (const definition of virtualMachineCrds) await establish(objects, definition);
      const spec: Fields = { running: true };
      const machine = await objects.create({ kind: 'VirtualMachine', metadata: { namespace, name }, spec });
      const ownerReferences = [{ ...referenceTo('kubevirt.io/v1', 'VirtualMachine', machine), controller: true }];
      const instance = await objects.create({
        kind: 'VirtualMachineInstance',
        metadata: { namespace, name, ownerReferences },
        spec: {},
      });
      return referenceTo('kubevirt.io/v1', kind, instance);
    }
    case 'Deployment':
      return { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: `${name}-5d4f6c7b8`, uid: `uid-of-${name}` };
    case 'DaemonSet':
      return { apiVersion: 'apps/v1', kind, name, uid: `uid-of-${name}` };
    case 'Job':
      return { apiVersion: 'batch/v1', kind, name, uid: `uid-of-${name}` };
  }
}

/** Creates a CustomResourceDefinition if it is absent; resolves when its objects can be created. */
async function establish(objects: KubernetesClient, definition: Manifest): Promise<void> {
  const { kind, metadata } = definition;
  if (!(await objects.find(kind, metadata.name))) await objects.create(definition);
  for (;;) {
    const { status } = await objects.get(kind, metadata.name);
    const conditions = listOf(status?.['conditions']).map(fieldsOf);
    if (conditions.some(({ type, status: is }) => type === 'Established' && is === 'True')) return;
    await sleep(20);
  }
}

function referenceTo(apiVersion: string, kind: string, { metadata }: KubeObject): OwnerReference {
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid };
}

/** Creates a StatefulSet without Pods: its controller does not run. */
export function createStatefulSet(
  objects: KubernetesClient,
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
  return objects.create({ kind: 'StatefulSet', metadata: { namespace, name }, spec });
}

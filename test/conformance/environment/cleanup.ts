/** Deletes the objects of a case from the Kubernetes API. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../../../lib/kubernetes/client/api-error.ts';
import {
  type Kind,
  type KubeObject,
  type KubernetesClient,
  keyOf,
} from '../../harness/kubernetes/kubernetes-client.ts';
import { sentinel } from './sentinel-pod.ts';

const kinds: readonly Kind[] = [
  'Pod',
  'StatefulSet',
  'Deployment',
  'Vip',
  'IPPool',
  'IP',
  'Subnet',
  'NetworkAttachmentDefinition',
];
/** Kinds whose CRDs may be absent. */
const machineKinds: readonly Kind[] = ['VirtualMachineInstance', 'VirtualMachine'];
const ownNode = 'node-1';
const pollMs = 20;

/**
 * Resolves when objects of every kind can be listed: the API server serves a new CRD after a delay.
 */
export async function waitUntilServed(objects: KubernetesClient): Promise<void> {
  for (const kind of kinds) while (!(await isServed(objects, kind))) await sleep(pollMs);
}

async function isServed(objects: KubernetesClient, kind: Kind): Promise<boolean> {
  try {
    await objects.list(kind);
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.reaction === 'later') return false;
    throw error;
  }
}

/**
 * Deletes all objects of a case. Namespaces lose their annotations only: without a controller their
 * deletion never ends.
 */
export async function deleteAllObjects(objects: KubernetesClient): Promise<void> {
  for (const kind of [...kinds, ...machineKinds]) {
    const all = await objects.list(kind).catch(noneOfThisKind);
    await Promise.all(all.filter((each) => !sentinel.owns(each)).map((each) => removeOne(objects, kind, each)));
  }
  for (const { metadata } of await objects.list('Node'))
    if (metadata.name !== ownNode) await objects.remove('Node', metadata.name);
  for (const { metadata } of await objects.list('Namespace')) {
    const keys = Object.keys(metadata.annotations ?? {}).filter((key) =>
      /^(?:ovn\.kubernetes|ipledger)\.io\//.test(key),
    );
    const annotations = Object.fromEntries(keys.map((key) => [key, null]));
    if (keys.length > 0) await objects.patch('Namespace', metadata.name, { metadata: { annotations } });
  }
}

/** Removes the finalizers first: their controllers do not run. */
async function removeOne(objects: KubernetesClient, kind: Kind, object: KubeObject): Promise<void> {
  const { finalizers = [] } = object.metadata;
  try {
    if (finalizers.length > 0) await objects.patch(kind, keyOf(object), { metadata: { finalizers: null } });
    await objects.remove(kind, keyOf(object));
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 404)) throw error;
  }
}

function noneOfThisKind(error: unknown): KubeObject[] {
  if (error instanceof ApiError && error.status === 404) return [];
  throw error;
}

/** Between cases: the Kubernetes API is as it was before the first. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../../../services/pod-watcher/kubernetes/api.ts';
import type { Kind, KubeObject, Objects } from './objects.ts';
import { sentinel } from './sentinel.ts';

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
/** Not in every cluster. */
const machineKinds: readonly Kind[] = ['VirtualMachineInstance', 'VirtualMachine'];
const ownNode = 'node-1';
const pollMs = 20;

/** Resolves when objects of every kind can be listed: a kind that was just defined is not served at once. */
export async function untilServed(objects: Objects): Promise<void> {
  for (const kind of kinds) while (!(await isServed(objects, kind))) await sleep(pollMs);
}

async function isServed(objects: Objects, kind: Kind): Promise<boolean> {
  try {
    await objects.list(kind);
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.reaction === 'later') return false;
    throw error;
  }
}

/** Removes all that a case made. Namespaces stay, for nobody here could end them; they lose their annotations. */
export async function removeAll(objects: Objects): Promise<void> {
  for (const kind of [...kinds, ...machineKinds]) {
    const all = await objects.list(kind).catch(noneOfThisKind);
    await Promise.all(all.filter((each) => !sentinel.owns(each)).map((each) => removeOne(objects, kind, each)));
  }
  for (const { metadata } of await objects.list('Node'))
    if (metadata.name !== ownNode) await objects.remove({ kind: 'Node', name: metadata.name });
  for (const { metadata } of await objects.list('Namespace')) {
    const marks = Object.keys(metadata.annotations ?? {}).filter((key) =>
      /^(?:ovn\.kubernetes|ipledger)\.io\//.test(key),
    );
    const annotations = Object.fromEntries(marks.map((key) => [key, null]));
    if (marks.length > 0)
      await objects.patch({ kind: 'Namespace', name: metadata.name }, { metadata: { annotations } });
  }
}

/** Whatever its finalizers say: nobody is left who could heed them. */
async function removeOne(objects: Objects, kind: Kind, { metadata }: KubeObject): Promise<void> {
  const { name, namespace, finalizers = [] } = metadata;
  const which = { kind, name, ...(namespace !== undefined && { namespace }) };
  try {
    if (finalizers.length > 0) await objects.patch(which, { metadata: { finalizers: null } });
    await objects.remove(which, 0);
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 404)) throw error;
  }
}

function noneOfThisKind(error: unknown): KubeObject[] {
  if (error instanceof ApiError && error.status === 404) return [];
  throw error;
}

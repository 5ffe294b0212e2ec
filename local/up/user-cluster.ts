/**
 * The user's cluster: `make up` surveys it, installs CustomResourceDefinitions and permissions
 * after consent, and `make down` removes only those.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { finalizer } from '../../lib/kubernetes/kubernetes-metadata.ts';
import { crdFiles, type Kubectl, multusCrdFile } from '../../test/harness/kubernetes/kubectl.ts';
import { root } from '../../test/harness/paths.ts';
import { printProgress } from '../../test/harness/progress.ts';
import type { UserCluster } from './state.ts';

const watcher = 'ipledger-pod-watcher';

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

export interface ClusterSurvey {
  readonly server: string;
  readonly context: string;
  /**
   * Existing and missing objects, for example "customresourcedefinition/subnets.kubeovn.io" or
   * "kube-system/role/ipledger-pod-watcher".
   */
  readonly present: readonly string[];
  readonly missing: readonly string[];
}

/** Reads the state of a cluster without changes. @throws Error if it does not answer. */
export async function surveyCluster(kubectl: Kubectl): Promise<ClusterSurvey> {
  const server = await readServerUrl(kubectl);
  const context = (await kubectl(['config', 'current-context'])).trim();
  const manifests = projectManifests();
  const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: manifests });
  const get = ['get', '-f', '-', '--ignore-not-found', '-o', 'json', '--request-timeout=10s'];
  const existing = new Set(parseObjects(await kubectl(get, list)).map(nameOf));
  const names = manifests.map(nameOf);
  return {
    server,
    context,
    present: names.filter((name) => existing.has(name)),
    missing: names.filter((name) => !existing.has(name)),
  };
}

/** Returns those of these Nodes that the cluster has. */
export async function existingNodes(kubectl: Kubectl, names: readonly string[]): Promise<string[]> {
  const found = (await kubectl(['get', 'node', ...names, '--ignore-not-found', '-o', 'name'])).split('\n');
  return names.filter((name) => found.includes(`node/${name}`));
}

async function readServerUrl(kubectl: Kubectl): Promise<string> {
  return kubectl(['config', 'view', '--minify', '-o', 'jsonpath={.clusters[0].cluster.server}']);
}

/** Describes the planned changes for the user. */
export function describeSurvey({ server, context, present, missing }: ClusterSurvey): string {
  const list = (names: readonly string[]): string => (names.length > 0 ? names.join(', ') : 'nothing');
  return [
    `KUBECONFIG is set: ${server} (context ${context})`,
    `  would be installed there: ${list(missing)}`,
    `  left as it is: ${list(present)}`,
    '  and the pod-watcher would serve the Pods of that cluster: it writes annotations, IP objects, Subnet status and Events.',
  ].join('\n');
}

/** Installs the objects with these names of `surveyCluster`. Fails if one already exists. */
export async function installObjects(kubectl: Kubectl, names: readonly string[]): Promise<void> {
  if (names.length === 0) return;
  const items = projectManifests().filter((manifest) => names.includes(nameOf(manifest)));
  await kubectl(['create', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  const crds = items.filter(isCrd).map(({ metadata }) => `crd/${metadata.name}`);
  if (crds.length > 0) await kubectl(['wait', '--for=condition=Established', '--timeout=30s', ...crds]);
}

/**
 * Removes what `make up` installed: also all objects of its CustomResourceDefinitions.
 * @throws Error if the kubeconfig now names another server.
 */
export async function uninstallObjects(
  kubectl: Kubectl,
  { kubeconfig, server, installed }: UserCluster,
): Promise<void> {
  if (installed.length === 0) return;
  const now = await readServerUrl(kubectl);
  if (now !== server)
    throw new Error(
      `${kubeconfig} now names ${now}. ${installed.join(', ')} were installed on ${server} and still exist: set KUBECONFIG to that cluster`,
    );
  const items = projectManifests().filter((manifest) => installed.includes(nameOf(manifest)));
  if (items.some(({ kind, metadata }) => kind === 'ServiceAccount' && metadata.name === watcher))
    items.push(...ledgerMemory);
  for (const { metadata } of items.filter(isCrd)) await releaseObjects(kubectl, metadata.name);
  printProgress(`down: removing from ${server}: ${installed.join(', ')}`);
  const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
  await kubectl(['delete', '-f', '-', '--ignore-not-found', '--timeout=60s'], list);
}

/**
 * Removes the pod-watcher's finalizers from the objects of a CustomResourceDefinition. Without a
 * running pod-watcher, they block the deletion.
 */
async function releaseObjects(kubectl: Kubectl, crd: string): Promise<void> {
  const existing = await kubectl(['get', 'crd', crd, '--ignore-not-found', '-o', 'name']);
  if (existing === '') return;
  const objects = parseObjects<{ metadata: { finalizers?: string[] } }>(
    await kubectl(['get', crd, '-A', '-o', 'json']),
  );
  for (const { metadata } of objects) {
    const { name, namespace, finalizers = [] } = metadata;
    if (!finalizers.includes(finalizer)) continue;
    const patch = { metadata: { finalizers: finalizers.filter((other) => other !== finalizer) } };
    const where = namespace === undefined ? [] : ['-n', namespace];
    await kubectl(['patch', crd, name, ...where, '--type=merge', '-p', JSON.stringify(patch)]);
  }
}

/** Parses the output of `kubectl get -o json`: a list, a single object, or none. */
function parseObjects<More = unknown>(json: string): (Manifest & More)[] {
  if (json.trim() === '') return [];
  const found = JSON.parse(json) as Manifest & More & { items?: (Manifest & More)[] };
  return found.items ?? [found];
}

/**
 * The objects in which the pod-watcher stores the position of its ledger. With another ledger it
 * would report that etcd was restored.
 */
const ledgerMemory: readonly (Manifest & { readonly apiVersion: string })[] = [
  { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: watcher, namespace: 'kube-system' } },
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'ipledger-checkpoints', namespace: 'kube-system' } },
];

const isCrd = ({ kind }: Manifest): boolean => kind === 'CustomResourceDefinition';

/** The name of an object in messages and in the state file. */
function nameOf({ kind, metadata: { name, namespace } }: Manifest): string {
  const within = namespace === undefined ? '' : `${namespace}/`;
  return `${within}${kind.toLowerCase()}/${name}`;
}

function projectManifests(): Manifest[] {
  return [...crdFiles(), multusCrdFile, join(root, 'deploy', 'rbac.yaml')].flatMap((file) =>
    parseAllDocuments(readFileSync(file, 'utf8')).map((document) => document.toJS() as Manifest),
  );
}

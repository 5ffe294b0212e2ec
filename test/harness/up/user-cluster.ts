/** A cluster that the user named: looked at first, changed only when told so, and cleaned of exactly what we brought. */
import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import { crdFiles, type Kubectl } from '../kubectl.ts';
import { say } from '../say.ts';
import type { UserCluster } from './state.ts';

/** What our pod-watcher puts on objects so that it sees their deletion; without it running, nobody takes it off. */
const finalizer = 'ipledger.io/ledger';

interface Crd {
  readonly metadata: { readonly name: string };
}

export interface Survey {
  readonly server: string;
  readonly context: string;
  /** CustomResourceDefinitions that it has, and those that it lacks. */
  readonly present: readonly string[];
  readonly missing: readonly string[];
}

/** Looks at a cluster without changing it. @throws Error when it does not answer. */
export async function survey(kubectl: Kubectl): Promise<Survey> {
  const server = await serverOf(kubectl);
  const context = (await kubectl(['config', 'current-context'])).trim();
  const names = projectCrds().map(({ metadata }) => metadata.name);
  const there = await kubectl(['get', 'crd', ...names, '--ignore-not-found', '-o', 'name', '--request-timeout=10s']);
  const present = names.filter((name) =>
    there.split('\n').includes(`customresourcedefinition.apiextensions.k8s.io/${name}`),
  );
  return { server, context, present, missing: names.filter((name) => !present.includes(name)) };
}

export async function serverOf(kubectl: Kubectl): Promise<string> {
  return kubectl(['config', 'view', '--minify', '-o', 'jsonpath={.clusters[0].cluster.server}']);
}

/** Tells the user what would be done there. */
export function describeSurvey({ server, context, present, missing }: Survey): string {
  const list = (names: readonly string[]): string => (names.length > 0 ? names.join(', ') : 'nothing');
  return [
    `KUBECONFIG is set: ${server} (context ${context})`,
    `  would be installed there: ${list(missing)}`,
    `  left as it is: ${list(present)}`,
    '  and the pod-watcher would serve the Pods of that cluster: it writes annotations, IP objects, Subnet status and Events.',
  ].join('\n');
}

/** Installs the CustomResourceDefinitions of these names; never one that is there. */
export async function installCrds(kubectl: Kubectl, names: readonly string[]): Promise<void> {
  if (names.length === 0) return;
  const items = projectCrds().filter(({ metadata }) => names.includes(metadata.name));
  await kubectl(['create', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  await kubectl(['wait', '--for=condition=Established', '--timeout=30s', ...names.map((name) => `crd/${name}`)]);
}

/**
 * Removes what we installed, and with each CustomResourceDefinition all its objects.
 * @throws Error when the kubeconfig leads to another server by now.
 */
export async function uninstallCrds(kubectl: Kubectl, { kubeconfig, server, installed }: UserCluster): Promise<void> {
  if (installed.length === 0) return;
  const now = await serverOf(kubectl);
  if (now !== server)
    throw new Error(
      `${kubeconfig} leads to ${now} now; ${installed.join(', ')} were installed on ${server} and are still there`,
    );
  for (const name of installed) await releaseObjects(kubectl, name);
  say(`down: removing from ${server}: ${installed.join(', ')}`);
  await kubectl(['delete', 'crd', ...installed, '--ignore-not-found', '--timeout=60s']);
}

interface KubernetesObject {
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly finalizers?: readonly string[] };
}

async function releaseObjects(kubectl: Kubectl, crd: string): Promise<void> {
  const there = await kubectl(['get', 'crd', crd, '--ignore-not-found', '-o', 'name']);
  if (there === '') return;
  const { items } = JSON.parse(await kubectl(['get', crd, '-A', '-o', 'json'])) as { items: KubernetesObject[] };
  for (const { metadata } of items) {
    const { name, namespace, finalizers = [] } = metadata;
    if (!finalizers.includes(finalizer)) continue;
    const patch = { metadata: { finalizers: finalizers.filter((other) => other !== finalizer) } };
    const where = namespace === undefined ? [] : ['-n', namespace];
    await kubectl(['patch', crd, name, ...where, '--type=merge', '-p', JSON.stringify(patch)]);
  }
}

function projectCrds(): Crd[] {
  return crdFiles().flatMap((file) =>
    parseAllDocuments(readFileSync(file, 'utf8')).map((document) => document.toJS() as Crd),
  );
}

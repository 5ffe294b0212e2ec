/** Runs kubectl against one cluster. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { mustRun } from '../processes/command.ts';
import { childEnvironment } from '../processes/launch.ts';
import { crdFolder } from '../paths.ts';
import { findProgram } from '../programs/find-program.ts';

/**
 * Runs kubectl with arguments and stdin. Returns its stdout.
 * @throws Error with its stderr if the exit status is not 0.
 */
export type Kubectl = (args: readonly string[], input?: string) => Promise<string>;

/**
 * @param kubeconfig one file, or several as the variable KUBECONFIG lists them.
 * @param cacheFolder a folder for each cluster: kubectl caches API discovery by address for hours,
 * and another server can use the same port later.
 */
export function kubectlFor(kubeconfig: string, cacheFolder: string, signal: AbortSignal): Kubectl {
  const env = childEnvironment({ KUBECONFIG: kubeconfig, KUBECACHEDIR: cacheFolder });
  return async (args, input) => mustRun(await findProgram('kubectl'), args, { env, input, signal });
}

/** The CustomResourceDefinition of Multus, which the clusters of tests have from the start. */
export const multusCrdFile = join(import.meta.dirname, 'network-attachment-definition.yaml');

/** The CustomResourceDefinition files of the project. @throws Error if there are none. */
export function crdFiles(): string[] {
  const isDefinition = (name: string): boolean => name.endsWith('.yaml') && name !== 'kustomization.yaml';
  const files = existsSync(crdFolder) ? readdirSync(crdFolder).filter(isDefinition) : [];
  if (files.length === 0) throw new Error(`no CustomResourceDefinitions in ${crdFolder}`);
  return files.sort().map((name) => join(crdFolder, name));
}

/**
 * Applies CustomResourceDefinitions, by default those of the project and of Multus. Resolves when
 * they are established.
 */
export async function applyCrds(
  kubectl: Kubectl,
  crds: readonly string[] = [...crdFiles(), multusCrdFile],
): Promise<void> {
  const files = crds.flatMap((file) => ['-f', file]);
  await kubectl(['apply', '--server-side', '--force-conflicts', ...files]);
  await kubectl(['wait', '--for=condition=Established', '--timeout=60s', ...files]);
}

/**
 * Creates Node objects. Without a Node object, the Pod garbage collector deletes the Pods of the
 * node.
 */
export async function addNodes(kubectl: Kubectl, names: readonly string[]): Promise<void> {
  if (names.length === 0) return;
  const nodes = names.map((name) => ({ apiVersion: 'v1', kind: 'Node', metadata: { name } }));
  await kubectl(['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items: nodes }));
}

/**
 * Waits until kubelets have registered their nodes and report them Ready. It runs one command for
 * each node: with two missing objects `kubectl wait --for=create` fails at once, in place of
 * waiting.
 */
export async function waitForNodes(kubectl: Kubectl, names: readonly string[]): Promise<void> {
  const waitFor = (condition: string, name: string): Promise<string> =>
    kubectl(['wait', `--for=${condition}`, '--timeout=120s', `node/${name}`]);
  await Promise.all(
    names.map(async (name) => {
      await waitFor('create', name);
      await waitFor('condition=Ready', name);
    }),
  );
}

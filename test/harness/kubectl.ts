/** kubectl against one cluster. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { mustRun } from './command.ts';
import { childEnvironment } from './launch.ts';
import { crdFolder } from './paths.ts';
import { findProgram } from './programs.ts';

/** Runs kubectl with some arguments and stdin; gives its stdout. @throws Error with what it said, when it exits with anything but 0. */
export type Kubectl = (args: readonly string[], input?: string) => Promise<string>;

/**
 * @param kubeconfig one file, or several as the variable KUBECONFIG lists them.
 * @param cacheFolder kubectl caches what an API serves by its address, for hours: another server at the same port is
 *   another API, so each has a cache of its own.
 */
export function kubectlFor(kubeconfig: string, cacheFolder: string, signal: AbortSignal): Kubectl {
  const env = childEnvironment({ KUBECONFIG: kubeconfig, KUBECACHEDIR: cacheFolder });
  return async (args, input) => mustRun(await findProgram('kubectl'), args, { env, input, signal });
}

/** The project's CustomResourceDefinition files. @throws Error when there are none. */
export function crdFiles(): string[] {
  const files = existsSync(crdFolder) ? readdirSync(crdFolder).filter((name) => /\.ya?ml$/.test(name)) : [];
  if (files.length === 0) throw new Error(`no CustomResourceDefinitions in ${crdFolder}`);
  return files.sort().map((name) => join(crdFolder, name));
}

/** Applies the project's CustomResourceDefinitions; resolves when objects of theirs can be made. */
export async function applyCrds(kubectl: Kubectl): Promise<void> {
  const files = crdFiles().flatMap((file) => ['-f', file]);
  await kubectl(['apply', '--server-side', '--force-conflicts', ...files]);
  await kubectl(['wait', '--for=condition=Established', '--timeout=30s', ...files]);
}

/** Makes Node objects, as a kubelet would: Pods on a Node that does not exist are deleted by the Pod garbage collector. */
export async function addNodes(kubectl: Kubectl, names: readonly string[]): Promise<void> {
  if (names.length === 0) return;
  const nodes = names.map((name) => ({ apiVersion: 'v1', kind: 'Node', metadata: { name } }));
  await kubectl(['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items: nodes }));
}

/**
 * kubeconfig files with which a program of `make up` has the permissions of its ServiceAccount, and
 * no others.
 */
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import type { Kubectl } from '../../test/harness/kubernetes/kubectl.ts';
import { writeFileAtomically } from './state.ts';

interface Kubeconfig {
  readonly users?: readonly { readonly name: string; readonly user: Readonly<Record<string, unknown>> }[];
}

/**
 * Writes the user's credentials with impersonation of a ServiceAccount of deploy/rbac.yaml. They do
 * not expire as a token does.
 * @param kubectl with the kubeconfig of a user who may impersonate ServiceAccounts
 * @returns the path of the file
 */
export async function writeServiceAccountKubeconfig(
  kubectl: Kubectl,
  folder: string,
  account: string,
): Promise<string> {
  const config = parse(await kubectl(['config', 'view', '--minify', '--flatten', '--raw'])) as Kubeconfig;
  const as = `system:serviceaccount:kube-system:${account}`;
  const users = config.users?.map(({ name, user }) => ({ name, user: { ...user, as } }));
  const file = join(folder, `${account}.kubeconfig`);
  writeFileAtomically(file, stringify({ ...config, users }), 0o600);
  return file;
}

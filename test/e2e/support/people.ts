/**
 * Creates people of a cluster: ServiceAccounts with the roles of the chart, and kubeconfigs with
 * their tokens.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments, stringify } from 'yaml';
import type { Cluster } from '../../harness/kubernetes/cluster.ts';
import { root } from '../../harness/paths.ts';

/** The namespaces of the chart and of the people. */
export const installed = 'ipledger-system';
const people = 'people';

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

const roleKinds = new Set(['Role', 'RoleBinding', 'ClusterRole', 'ClusterRoleBinding']);

/** Applies the ServiceAccounts and the roles of deploy/single. */
export async function applyChartRoles(cluster: Cluster): Promise<void> {
  const documents = parseAllDocuments(readFileSync(join(root, 'deploy/single/ipledger.yaml'), 'utf8'));
  const items = documents.map((document) => document.toJS() as Manifest | null).filter((item) => item !== null);
  const roles = items.filter(({ kind, metadata: { namespace = installed } }) =>
    kind === 'ServiceAccount' ? true : roleKinds.has(kind) && namespace === installed,
  );
  const namespaces = [installed, people].map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }));
  await cluster.apply(JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [...namespaces, ...roles] }));
}

/** Creates a ServiceAccount that stands for a person. Returns its user name. */
export async function createPerson(cluster: Cluster, name: string, clusterRoles: readonly string[]): Promise<string> {
  const subjects = [{ kind: 'ServiceAccount', name, namespace: people }];
  const bindings = clusterRoles.map((role) => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: `${role}-${name}` },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    subjects,
  }));
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace: people } };
  await cluster.apply(JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [account, ...bindings] }));
  return `system:serviceaccount:${people}:${name}`;
}

/** Permits a person to reach the allocators by kubectl ipledger. */
export const permitConnecting = (cluster: Cluster, name: string): Promise<string> =>
  cluster.kubectl([
    'create',
    'rolebinding',
    `connect-${name}`,
    '-n',
    installed,
    '--role=ipledger-connect',
    `--serviceaccount=${people}:${name}`,
  ]);

/** Requests a token of a person. @param audience default: the Kubernetes API */
export async function createToken(cluster: Cluster, name: string, audience?: string): Promise<string> {
  const audiences = audience === undefined ? [] : [`--audience=${audience}`];
  return (await cluster.kubectl(['create', 'token', name, '-n', people, ...audiences])).trim();
}

/**
 * Writes a kubeconfig whose user has these fields instead of the administrator's certificate.
 * Returns its path.
 */
export function writeUserKubeconfig(cluster: Cluster, file: string, user: object): string {
  const config = parse(readFileSync(cluster.kubeconfig, 'utf8')) as { users: { name: string }[] };
  const users = config.users.map(({ name }) => ({ name, user }));
  writeFileSync(file, stringify({ ...config, users }), { mode: 0o600 });
  return file;
}

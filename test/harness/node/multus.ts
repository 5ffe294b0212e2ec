/**
 * Multus of the workers: the stand-in of the tests (test/tools/cni/attach-networks), or a real
 * Multus that MULTUS names. That is the file of the thin plugin `multus`, or the folder of a thick
 * plugin, with `multus-shim` and `multus-daemon`.
 */
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import type { Cluster } from '../kubernetes/cluster.ts';
import { type Server, startServer } from '../processes/server.ts';
import { findProgram } from '../programs/find-program.ts';
import type { Run } from '../run.ts';
import type { Machine, MachineState } from './machine.ts';

export interface Multus {
  /** The name on the disk of the plugin that the runtime calls. */
  readonly type: 'attach-networks' | 'multus' | 'multus-shim';
  /** The file of that plugin. */
  readonly plugin: string;
  /** The daemon of a thick Multus. */
  readonly daemon?: string;
}

const socketFolder = '/run/multus/';
/** The folder in which a program in a Pod finds its ServiceAccount. */
const accountFolder = '/run/secrets/kubernetes.io/serviceaccount';

/** Finds Multus. @throws Error if MULTUS names neither plugin */
export async function findMultus(env: NodeJS.ProcessEnv = process.env): Promise<Multus> {
  const chosen = env['MULTUS'];
  if (!chosen) return { type: 'attach-networks', plugin: await findProgram('attach-networks') };
  const path = resolve(chosen);
  const [shim, daemon] = [join(path, 'multus-shim'), join(path, 'multus-daemon')];
  if (existsSync(shim) && existsSync(daemon)) return { type: 'multus-shim', plugin: shim, daemon };
  if (statSync(path, { throwIfNoEntry: false })?.isFile()) return { type: 'multus', plugin: path };
  throw new Error(`MULTUS=${chosen} is neither a file nor a folder with multus-shim and multus-daemon`);
}

/** The configuration of the plugin. @param main the configuration list of eth0 */
export async function multusNetwork({ type }: Multus, kubeconfig: string, main: object): Promise<object> {
  switch (type) {
    case 'attach-networks':
      return { type, kubectl: await findProgram('kubectl'), kubeconfig, main };
    case 'multus':
      return { type, kubeconfig, delegates: [main] };
    case 'multus-shim':
      return { type, daemonSocketDir: socketFolder, delegates: [main] };
  }
}

/** Starts the daemon of a thick Multus, with the account of a Pod. */
export async function startMultusDaemon(
  run: Run,
  {
    daemon,
    cluster,
    state,
    machine,
  }: { readonly daemon: string; readonly cluster: Cluster; readonly state: MachineState; readonly machine: Machine },
): Promise<Server> {
  const config = join(state.folder, 'multus-daemon.json');
  const generated = join(state.folder, 'multus-generated');
  mkdirSync(generated);
  const settings = {
    cniVersion: '1.0.0',
    socketDir: socketFolder,
    logToStderr: true,
    // The daemon ends at once without a configuration to generate. The runtime has one, and does
    // not read this folder
    multusConfigFile: 'auto',
    multusAutoconfigDir: '/etc/cni/net.d',
    cniConfigDir: generated,
  };
  writeFileSync(config, JSON.stringify(settings));
  mkdirSync(machine.path(accountFolder), { recursive: true });
  const token = await cluster.kubectl(['create', 'token', 'multus', '--namespace=kube-system', '--duration=24h']);
  writeFileSync(machine.path(join(accountFolder, 'token')), token.trim());
  writeFileSync(machine.path(join(accountFolder, 'ca.crt')), authorityOf(cluster));
  const { hostname, port } = new URL(cluster.url);
  const env = { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port, MULTUS_NODE_NAME: state.name };
  const probe = ['--silent', '--fail', '--unix-socket', join(socketFolder, 'multus.sock'), 'http://daemon/healthz'];
  return startServer(
    run,
    machine.inside({
      name: `multus-daemon-${state.name}`,
      program: daemon,
      args: ['-config', config],
      env,
      ready: async () => {
        const { code } = await machine.run(['curl', ...probe]);
        if (code !== 0) throw new Error(`the daemon of Multus does not answer: curl ended with ${code}`);
      },
      readyWithinMs: 30_000,
    }),
  );
}

/** The account of the daemon. */
export const multusAccount: readonly object[] = [
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'multus', namespace: 'kube-system' } },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'multus' },
    rules: [
      { apiGroups: ['k8s.cni.cncf.io'], resources: ['*'], verbs: ['*'] },
      { apiGroups: [''], resources: ['pods', 'pods/status'], verbs: ['get', 'list', 'update', 'watch'] },
      { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update'] },
    ],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'multus' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'multus' },
    subjects: [{ kind: 'ServiceAccount', name: 'multus', namespace: 'kube-system' }],
  },
];

function authorityOf({ kubeconfig }: Cluster): string {
  const { clusters } = parse(readFileSync(kubeconfig, 'utf8')) as {
    readonly clusters: readonly { readonly cluster: Readonly<Record<string, string>> }[];
  };
  return Buffer.from(clusters[0]?.cluster['certificate-authority-data'] ?? '', 'base64').toString('utf8');
}

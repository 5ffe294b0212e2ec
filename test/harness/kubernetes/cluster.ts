/** Starts a real Kubernetes API that ends with the run. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Etcd, startEtcd } from '../etcd.ts';
import { writeKubeconfig } from './kubeconfig.ts';
import { controlPlane } from './control-plane.ts';
import { addNodes, applyCrds, kubectlFor, type Kubectl } from './kubectl.ts';
import { type Authority, issueCertificate } from '../certificates/certificate-authority.ts';
import { findFreePort } from '../processes/free-ports.ts';
import type { Run } from '../run.ts';
import { type Server, startServer } from '../processes/server.ts';

export interface ClusterOptions {
  /** Whether the project's CustomResourceDefinitions are applied (default yes). */
  readonly crds?: boolean;
  /** Node objects to create (default `node-1`). */
  readonly nodes?: readonly string[];
  /**
   * Whether kube-controller-manager runs (default yes). Without it, Pods need no ServiceAccount.
   */
  readonly controllers?: boolean;
  /** Whether nodes have kubelets (default no). */
  readonly kubelets?: boolean;
}

export interface Cluster {
  /** "https://127.0.0.1:<port>" */
  readonly url: string;
  /** kubeconfig file of a cluster administrator. */
  readonly kubeconfig: string;
  readonly etcd: Etcd;
  readonly apiServer: Server;
  /** The controller manager; undefined with `controllers: false`. */
  readonly controllerManager: Server | undefined;
  readonly kubectl: Kubectl;
  /** Applies a manifest: a file or a text. */
  apply(manifest: string): Promise<void>;
  /** Runs `kubectl get … -o json`. Returns the object, or the items of a list. */
  get(args: readonly string[]): Promise<unknown>;
  /**
   * Creates a kubeconfig file for a user, for example
   * "system:serviceaccount:kube-system:ipledger-agent".
   */
  kubeconfigFor(user: string, groups?: readonly string[]): Promise<string>;
  /** The calls with another lifetime: until the signal is aborted. */
  until(signal: AbortSignal): Omit<Cluster, 'etcd' | 'apiServer' | 'controllerManager'>;
}

/**
 * Starts etcd, kube-apiserver and kube-controller-manager. Resolves when Pods can be created, after
 * about 5 s.
 */
export async function startCluster(run: Run, options: ClusterOptions = {}): Promise<Cluster> {
  const { crds = true, nodes = ['node-1'], controllers = true, kubelets } = options;
  const etcd = await startEtcd(run, { name: 'kube-etcd' });
  const [port, controllerManagerPort] = [await findFreePort(), await findFreePort()];
  const folder = join(run.folder, 'kubernetes');
  const plane = await controlPlane({ folder, etcdEndpoint: etcd.endpoint, port, controllerManagerPort, kubelets });
  const { url, kubeconfig, authority } = plane;
  const withoutAccounts = {
    ...plane.apiServer,
    args: [...plane.apiServer.args, '--disable-admission-plugins=ServiceAccount'],
  };
  const apiServer = await startServer(run, controllers ? plane.apiServer : withoutAccounts);
  const kubectl = kubectlFor(kubeconfig, join(folder, 'kubectl-cache'), run.signal);
  const [controllerManager] = await Promise.all([
    controllers ? startServer(run, plane.controllerManager) : undefined,
    crds ? applyCrds(kubectl) : undefined,
    addNodes(kubectl, nodes),
  ]);
  return { etcd, apiServer, controllerManager, ...accessTo({ folder, url, kubeconfig, authority }, run.signal) };
}

/** The URL and the credentials of a cluster. */
interface Access {
  readonly folder: string;
  readonly url: string;
  readonly kubeconfig: string;
  readonly authority: Authority;
}

/** The calls of a test. They end when the signal is aborted. */
function accessTo(access: Access, signal: AbortSignal) {
  const { folder, url, kubeconfig, authority } = access;
  const kubectl = kubectlFor(kubeconfig, join(folder, 'kubectl-cache'), signal);
  const calls: Omit<Cluster, 'etcd' | 'apiServer' | 'controllerManager'> = {
    url,
    kubeconfig,
    kubectl,
    async apply(manifest) {
      if (existsSync(manifest)) await kubectl(['apply', '-f', manifest]);
      else await kubectl(['apply', '-f', '-'], manifest);
    },
    async get(args) {
      const answer = JSON.parse(await kubectl(['get', ...args, '-o', 'json'])) as { kind: string; items?: unknown[] };
      return answer.kind === 'List' ? answer.items : answer;
    },
    async kubeconfigFor(user, groups = []) {
      const name = [user, ...groups].join('-').replaceAll(/[^A-Za-z0-9]/g, '-');
      const pair = await issueCertificate(authority, { name, commonName: user, organizations: groups });
      return writeKubeconfig(join(folder, `${name}.kubeconfig`), url, authority, pair);
    },
    until: (other) => accessTo(access, other),
  };
  return calls;
}

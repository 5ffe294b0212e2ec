/** A real Kubernetes API of a run's own. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Etcd, startEtcd } from './etcd.ts';
import { writeKubeconfig } from './kubeconfig.ts';
import { controlPlane } from './kubernetes.ts';
import { addNodes, applyCrds, kubectlFor, type Kubectl } from './kubectl.ts';
import { issue } from './pki.ts';
import { freePort } from './ports.ts';
import type { Run } from './run.ts';
import { type Server, startServer } from './server.ts';

export interface ClusterOptions {
  /** Whether the project's CustomResourceDefinitions are applied (default yes). */
  readonly crds?: boolean;
  /** Node objects to make (default `node-1`). */
  readonly nodes?: readonly string[];
  /** Whether Deployments, StatefulSets and garbage collection work (default yes). Without, Pods need no ServiceAccount. */
  readonly controllers?: boolean;
  /** Whether kubelets will report (default no). */
  readonly kubelets?: boolean;
}

export interface Cluster {
  /** "https://127.0.0.1:<port>" */
  readonly url: string;
  /** A cluster administrator's kubeconfig file. */
  readonly kubeconfig: string;
  readonly etcd: Etcd;
  readonly apiServer: Server;
  /** undefined with `controllers: false` */
  readonly controllerManager: Server | undefined;
  readonly kubectl: Kubectl;
  /** Applies a manifest file, or the text of one. */
  apply(manifest: string): Promise<void>;
  /** The objects that `kubectl get … -o json` gives: one as it is, a list's items. */
  get(args: readonly string[]): Promise<unknown>;
  /** A kubeconfig file for some user, as "system:serviceaccount:kube-system:ipledger-agent", to try permissions with. */
  kubeconfigFor(user: string, groups?: readonly string[]): Promise<string>;
}

/** Starts etcd, kube-apiserver and kube-controller-manager; resolves when Pods can be made. About 5 s. */
export async function startCluster(run: Run, options: ClusterOptions = {}): Promise<Cluster> {
  const { crds = true, nodes = ['node-1'], controllers = true, kubelets } = options;
  const etcd = await startEtcd(run, { name: 'kube-etcd' });
  const [port, controllerManagerPort] = [await freePort(), await freePort()];
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
  return {
    url,
    kubeconfig,
    etcd,
    apiServer,
    controllerManager,
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
      const name = user.replaceAll(/[^A-Za-z0-9]/g, '-');
      const pair = await issue(authority, { name, commonName: user, organizations: groups });
      return writeKubeconfig(join(folder, `${name}.kubeconfig`), url, authority, pair);
    },
  };
}

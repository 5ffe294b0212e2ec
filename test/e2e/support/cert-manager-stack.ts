/**
 * Starts a stack with the certificates that cert-manager issues for the chart, and an agent with a
 * ServiceAccount token.
 */
import { join } from 'node:path';
import { stringify } from 'yaml';
import { type Manifest, namespace, parseManifests, renderChart } from '../../chart/render-chart.ts';
import { startEtcd } from '../../harness/etcd.ts';
import { type CertManager, startCertManager } from '../../harness/kubernetes/cert-manager.ts';
import { type Cluster, startCluster } from '../../harness/kubernetes/cluster.ts';
import { type TcpProxy, startTcpProxy } from '../../harness/network/tcp-proxy.ts';
import type { Run } from '../../harness/run.ts';
import {
  type AgentServer,
  type AllocatorServer,
  startAgent,
  startAllocator,
  startWatcher,
} from '../../harness/services.ts';
import type { Stack } from '../../harness/stack.ts';
import { eventually } from './eventually.ts';
import { type MountedSecrets, mountSecrets, replaceVolume } from './mounted-secrets.ts';

const agentAccount = 'ipledger-node-agent';

export interface CertManagerStack extends Stack {
  readonly certManager: CertManager;
  readonly standby: AllocatorServer;
  /** The proxy between the pod-watcher and the allocator. */
  readonly watcherProxy: TcpProxy;
  /** The proxy between the agents and the allocators. */
  readonly agentProxy: TcpProxy;
  readonly secrets: MountedSecrets;
  /**
   * The names of the chart's Certificates and of their Secrets: authorities, and the certificates
   * that they signed.
   */
  readonly authorities: readonly string[];
  readonly issued: readonly string[];
  /**
   * Starts an agent with a token that is bound to a new Pod of the agents' ServiceAccount, and so
   * to the node of that Pod.
   */
  startTokenAgent(options: TokenAgentOptions): Promise<TokenAgent>;
}

export interface TokenAgentOptions {
  /** The node of the Pod of the token. */
  readonly tokenOf: string;
  /** The node that the agent claims to be on (default: the node of the Pod). */
  readonly node?: string;
}

export interface TokenAgent extends AgentServer {
  /** Replaces the token by a new one for the same Pod, as the kubelet does. */
  renewToken(): Promise<void>;
}

/** @param values of the chart, such as "tls.viewer=true" */
export async function startCertManagerStack(run: Run, values: readonly string[]): Promise<CertManagerStack> {
  const nodes = ['node-1', 'node-2'];
  const [cluster, manifests] = await Promise.all([
    startCluster(run, { nodes, controllers: false }),
    renderChart(
      [],
      values.map((value) => `--set=${value}`),
    ).then(parseManifests),
  ]);
  const certManager = await startCertManager(run, cluster);
  await cluster.kubectl(['create', 'namespace', namespace]);
  const kinds = /^(ServiceAccount|(Cluster)?Role(Binding)?|Issuer|Certificate)$/;
  await cluster.apply(asText(manifests.filter(({ kind }) => kinds.test(kind))));
  const secrets = mountSecrets(run, cluster.kubeconfig, namespace);
  const certificates = manifests.filter(({ kind }) => kind === 'Certificate').map(({ metadata }) => metadata.name);
  await eventually(() => certificates.map(secrets.certificateOf));

  const { filesOf } = secrets;
  const etcd = await startEtcd(run, {
    tls: { server: filesOf('ipledger-etcd-server'), client: filesOf('ipledger-etcd-allocator') },
    host: 'localhost', // the name in its certificate
  });
  const tls = filesOf('ipledger-allocator-tls');
  const user = `system:serviceaccount:${namespace}:ipledger-allocator`;
  const tokenReview = { kubeconfig: await cluster.kubeconfigFor(user), account: `${namespace}/${agentAccount}` };
  const allocator = await startAllocator(run, { etcd, tls, tokenReview });
  const client = filesOf('ipledger-watcher-tls');
  const watcherProxy = await startTcpProxy(run, allocator.endpoint, { tls: { server: tls, client } });
  const agentProxy = await startTcpProxy(run, allocator.endpoint);
  const { ca } = filesOf('ipledger-agent-authority');
  const startTokenAgent = tokenAgentStarter(run, { cluster, allocator: agentProxy, ca });
  const [standby, watcher, agent] = await Promise.all([
    startAllocator(run, { etcd, name: 'standby', tls, tokenReview }),
    startWatcher(run, { allocator: watcherProxy, cluster, tls: client }),
    startTokenAgent({ tokenOf: 'node-1' }),
  ]);
  const isAuthority = (name: string): boolean => name.endsWith('-ca');
  return {
    etcd,
    cluster,
    certManager,
    allocator,
    standby,
    watcher,
    watcherProxy,
    agentProxy,
    secrets,
    agents: [agent],
    startTokenAgent,
    tls: filesOf('ipledger-operator-test'),
    authorities: certificates.filter(isAuthority),
    issued: certificates.filter((name) => !isAuthority(name)),
  };
}

const asText = (manifests: readonly Manifest[]): string => manifests.map((each) => stringify(each)).join('---\n');

interface AgentPeers {
  readonly cluster: Cluster;
  readonly allocator: { readonly endpoint: string };
  readonly ca: string;
}

function tokenAgentStarter(run: Run, { cluster, allocator, ca }: AgentPeers): CertManagerStack['startTokenAgent'] {
  let started = 0;
  return async ({ tokenOf, node = tokenOf }) => {
    const name = `${agentAccount}-${++started}`;
    const folder = join(run.folder, 'tokens', name);
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace },
      spec: { nodeName: tokenOf, serviceAccountName: agentAccount, containers: [{ name: 'agent', image: 'agent' }] },
    };
    await cluster.apply(JSON.stringify(pod));
    const renewToken = async (): Promise<void> => {
      const bound = ['--audience=ipledger', '--bound-object-kind=Pod', `--bound-object-name=${name}`];
      const token = await cluster.kubectl(['create', 'token', agentAccount, '-n', namespace, ...bound]);
      replaceVolume(folder, { token: Buffer.from(token.trim()).toString('base64') });
    };
    await renewToken();
    const token = { ca, file: join(folder, 'token') };
    return Object.assign(await startAgent(run, { allocator, cluster, node, name, token }), { renewToken });
  };
}

/**
 * cert-manager's controllers, without ACME, on a real API server, and its
 * CustomResourceDefinitions.
 */
import { join } from 'node:path';
import { findFreePort } from '../processes/free-ports.ts';
import { probeHttp } from '../processes/readiness-probes.ts';
import { type Server, startServer } from '../processes/server.ts';
import { moduleFolder } from '../programs/build-program.ts';
import { findProgram } from '../programs/find-program.ts';
import type { Run } from '../run.ts';
import type { Cluster } from './cluster.ts';
import { applyCrds, type Kubectl } from './kubectl.ts';

/** The kinds that the controllers read. ACME has further kinds. */
const kinds = ['certificaterequests', 'certificates', 'clusterissuers', 'issuers'];

export interface CertManager extends Server {
  /** "127.0.0.1:<port>" of /metrics. */
  readonly metrics: string;
}

/**
 * Starts the controllers with the permissions of a cluster administrator. Resolves when they have
 * reconciled an Issuer. There is no webhook: the API server checks only the schemas.
 */
export async function startCertManager(
  run: Run,
  { kubectl, kubeconfig }: Pick<Cluster, 'kubectl' | 'kubeconfig'>,
): Promise<CertManager> {
  await applyCertManagerCrds(kubectl);
  const metrics = `127.0.0.1:${await findFreePort()}`;
  const server = await startServer(run, {
    name: 'cert-manager',
    program: await findProgram('cert-manager'),
    args: [`--kubeconfig=${kubeconfig}`, `--metrics-listen-address=${metrics}`, '-v=2'],
    ready: (signal) => probeHttp(`http://${metrics}/metrics`, signal),
    readyWithinMs: 120_000,
  });
  const issuer = {
    apiVersion: 'cert-manager.io/v1',
    kind: 'ClusterIssuer',
    metadata: { name: `probe-${run.id}` },
    spec: { selfSigned: {} },
  };
  await kubectl(['apply', '-f', '-'], JSON.stringify(issuer));
  await kubectl(['wait', '--for=condition=Ready', '--timeout=120s', `clusterissuer/${issuer.metadata.name}`]);
  await kubectl(['delete', `clusterissuer/${issuer.metadata.name}`]);
  return Object.assign(server, { metrics });
}

/** Resolves when the definitions are established. Downloads the module if Go's cache lacks it. */
export async function applyCertManagerCrds(kubectl: Kubectl): Promise<void> {
  await applyCrds(kubectl, await findCrds());
}

async function findCrds(): Promise<string[]> {
  const folder = await moduleFolder('cert-manager', 'github.com/cert-manager/cert-manager');
  return kinds.map((kind) => join(folder, 'deploy', 'crds', `cert-manager.io_${kind}.yaml`));
}

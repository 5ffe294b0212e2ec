/** Starts kube-scheduler. */
import type { Cluster } from '../kubernetes/cluster.ts';
import { findFreePort } from '../processes/free-ports.ts';
import { probeHttp } from '../processes/readiness-probes.ts';
import { findProgram } from '../programs/find-program.ts';
import type { Run } from '../run.ts';
import { type Server, startServer } from '../processes/server.ts';

/** Starts kube-scheduler. Resolves when it is healthy. */
export async function startScheduler(run: Run, cluster: Cluster): Promise<Server> {
  const kubeconfig = await cluster.kubeconfigFor('system:kube-scheduler');
  const port = await findFreePort();
  return startServer(run, {
    name: 'kube-scheduler',
    program: await findProgram('kube-scheduler'),
    args: [
      `--kubeconfig=${kubeconfig}`,
      `--authentication-kubeconfig=${kubeconfig}`,
      `--authorization-kubeconfig=${kubeconfig}`,
      '--bind-address=127.0.0.1',
      `--secure-port=${port}`,
      '--leader-elect=false',
      '--profiling=false',
    ],
    ready: (signal) => probeHttp(`https://127.0.0.1:${port}/healthz`, signal),
    readyWithinMs: 60_000,
  });
}

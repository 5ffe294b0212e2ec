/** kube-scheduler. */
import type { Cluster } from '../cluster.ts';
import { freePort } from '../ports.ts';
import { httpOk } from '../probes.ts';
import { findProgram } from '../programs.ts';
import type { Run } from '../run.ts';
import { type Server, startServer } from '../server.ts';

/** Starts it; ready when it is healthy. */
export async function startScheduler(run: Run, cluster: Cluster): Promise<Server> {
  const kubeconfig = await cluster.kubeconfigFor('system:kube-scheduler');
  const port = await freePort();
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
    ready: (signal) => httpOk(`https://127.0.0.1:${port}/healthz`, signal),
    readyWithinMs: 60_000,
  });
}

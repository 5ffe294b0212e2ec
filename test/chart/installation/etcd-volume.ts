/** The volumes of the release on the workers: those of the members of etcd, and of the backups. */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../e2e/support/eventually.ts';
import type { Worker } from '../../harness/node/worker.ts';
import { namespace } from '../render-chart.ts';
import type { ChartEnvironment } from './chart-environment.ts';
import { killContainer, podsOf } from './release-pods.ts';

const limitMs = 300_000;

/** The folder of a claim, as the test sees it. */
export async function volumeOf({ cluster, workers }: ChartEnvironment, claim: string): Promise<string> {
  const { spec } = (await cluster.get(['pvc', claim, `--namespace=${namespace}`])) as { spec: { volumeName: string } };
  const { spec: volume } = (await cluster.get(['pv', spec.volumeName])) as { spec: { local: { path: string } } };
  const worker = workers.find(({ name }) => spec.volumeName.startsWith(`${name}-`)) as Worker;
  return worker.machine.path(volume.local.path);
}

interface ContainerStatus {
  readonly ready: boolean;
  readonly restartCount: number;
  readonly state: { readonly terminated?: { readonly message?: string } };
  readonly lastState: { readonly terminated?: { readonly message?: string } };
}

/**
 * Deletes the data of a member of etcd and ends it, until it refuses to start. If no other member answers it within a second, it starts under
 * its old identity and copies the data: then nothing is lost.
 */
export async function loseVolume(environment: ChartEnvironment, member: string): Promise<void> {
  const folder = join(await volumeOf(environment, `data-${member}`), 'etcd');
  let endedRun = -1;
  await eventually(async () => {
    const pod = (await environment.cluster.get(['pod', member, `--namespace=${namespace}`])) as {
      status: { containerStatuses: readonly [ContainerStatus] };
    };
    const [{ ready, restartCount, state, lastState }] = pod.status.containerStatuses;
    const { message = '' } = state.terminated ?? lastState.terminated ?? {};
    if (message.includes('has already been bootstrapped')) return;
    if (ready && restartCount > endedRun) {
      rmSync(folder, { recursive: true });
      const running = (await podsOf(environment, 'etcd')).find(({ name }) => name === member);
      if (running) await killContainer(environment, running);
      endedRun = restartCount;
    }
    throw new Error(`${member} does not refuse to start: ${message.slice(-500)}`);
  }, limitMs);
}

/** The files of the backups, oldest first. */
export async function listBackups(environment: ChartEnvironment): Promise<string[]> {
  const files = readdirSync(await volumeOf(environment, 'ipledger-etcd-backup'));
  return files.filter((name) => name.endsWith('.db'));
}

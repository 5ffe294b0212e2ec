/** `make down` without its output. */
import { existsSync, rmSync } from 'node:fs';
import { runningNames, stopBackground } from './background.ts';
import { socketFolder } from './agent-sockets.ts';
import { startOrder } from './start.ts';
import { readState } from './state.ts';
import { uninstallObjects } from './user-cluster.ts';
import { userKubectl } from './cluster-choice.ts';

export interface DownOptions {
  readonly folder: string;
  /** Whether to remove also the data, and what was installed in the user's cluster. */
  readonly purge: boolean;
  readonly signal: AbortSignal;
}

/**
 * Stops the servers that `startAll` started in a folder, in reverse order.
 * @returns the names of the stopped servers
 * @throws Error if a server does not end or the user's cluster cannot be cleaned. Then the folder
 * is not removed.
 */
export async function stopAll({ folder, purge, signal }: DownOptions): Promise<readonly string[]> {
  const stopped = runningNames(folder);
  const groups = Map.groupBy(stopped, startOrder);
  for (const [, names] of [...groups].sort(([one], [other]) => other - one))
    await Promise.all(names.map((name) => stopBackground(folder, name)));
  if (!purge || !existsSync(folder)) return stopped;

  const { cluster } = readState(folder);
  if (typeof cluster === 'object') await uninstallObjects(userKubectl(folder, cluster.kubeconfig, signal), cluster);
  rmSync(socketFolder(folder), { recursive: true, force: true });
  rmSync(folder, { recursive: true, force: true });
  return stopped;
}

/** `make down` without its words. */
import { existsSync, rmSync } from 'node:fs';
import { runningNames, stopBackground } from '../background.ts';
import { socketFolder } from './sockets.ts';
import { startOrder } from './start.ts';
import { readState } from './state.ts';
import { uninstallCrds } from './user-cluster.ts';
import { userKubectl } from './cluster.ts';

export interface DownOptions {
  readonly folder: string;
  /** Whether data goes, too, and what was installed in a cluster of the user's. */
  readonly purge: boolean;
  readonly signal: AbortSignal;
}

/**
 * Stops what `startAll` started in a folder, last first, and nothing else.
 * @returns the names of those that ran
 * @throws Error when something does not end, or the user's cluster can't be cleaned; then nothing else is removed.
 */
export async function stopAll({ folder, purge, signal }: DownOptions): Promise<readonly string[]> {
  const stopped = runningNames(folder);
  const groups = Map.groupBy(stopped, startOrder);
  for (const [, names] of [...groups].sort(([one], [other]) => other - one))
    await Promise.all(names.map((name) => stopBackground(folder, name)));
  if (!purge || !existsSync(folder)) return stopped;

  const { cluster } = readState(folder);
  if (typeof cluster === 'object') await uninstallCrds(userKubectl(folder, cluster.kubeconfig, signal), cluster);
  rmSync(socketFolder(folder), { recursive: true, force: true });
  rmSync(folder, { recursive: true, force: true });
  return stopped;
}

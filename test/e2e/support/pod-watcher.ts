/** Operations of tests on a pod-watcher and its API server. */
import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Cluster } from '../../harness/kubernetes/cluster.ts';
import type { Run } from '../../harness/run.ts';
import type { Server } from '../../harness/processes/server.ts';
import type { WatcherServer } from '../../harness/services.ts';
import { eventually } from './eventually.ts';

/** Reads the response of /readyz. */
export async function readReadiness({ health }: WatcherServer): Promise<string> {
  const answer = await fetch(`http://${health}/readyz`, { signal: AbortSignal.timeout(2_000) });
  return (await answer.text()).trim();
}

/** Whether this watcher runs, is active and is ready. */
export async function isWatching(watcher: WatcherServer): Promise<boolean> {
  try {
    if ((await readReadiness(watcher)) !== 'ok') return false;
    const metrics = await fetch(`http://${watcher.health}/metrics`, { signal: AbortSignal.timeout(2_000) });
    return /^ipledger_watcher_active 1$/m.test(await metrics.text());
  } catch {
    return false;
  }
}

/** Starts a watcher that need not become ready. Resolves when /readyz matches. */
export async function startUntilReadiness(watcher: WatcherServer, expected: RegExp): Promise<void> {
  watcher.start().catch(() => undefined);
  await eventually(async () => expect(await readReadiness(watcher)).to.match(expected));
}

/** Reads the log lines of a program at this level or above: 40 is a warning, 50 an error. */
export function readLogLines({ log }: Server, level: number): string[] {
  return readFileSync(log, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('{') && (JSON.parse(line) as { level: number }).level >= level);
}

/**
 * Removes objects from the API server's etcd, without a deletion by the API.
 * @param keys keys below /registry/
 */
export async function deleteApiServerKeys({ etcd }: Cluster, keys: readonly string[]): Promise<void> {
  for (const key of keys) expect((await etcd.etcdctl(['del', `/registry/${key}`])).trim()).to.equal('1');
}

/**
 * Copies the API server's etcd while both are stopped. Returns the function that restores the copy.
 */
export async function backUpApiServer(
  run: Run,
  { etcd, apiServer }: Cluster,
  name: string,
): Promise<() => Promise<void>> {
  const [data, backup] = [join(run.folder, etcd.name), join(run.folder, `backup-${name}`)];
  const whileStopped = async (work: () => void): Promise<void> => {
    await apiServer.kill();
    await etcd.stop();
    work();
    await etcd.start();
    await apiServer.start();
  };
  await whileStopped(() => cpSync(data, backup, { recursive: true }));
  return () =>
    whileStopped(() => {
      rmSync(data, { recursive: true });
      cpSync(backup, data, { recursive: true });
    });
}

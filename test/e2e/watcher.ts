/** What tests do to a pod-watcher and to the API server that it believes. */
import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Cluster } from '../harness/cluster.ts';
import type { Run } from '../harness/run.ts';
import type { Server } from '../harness/server.ts';
import type { Watcher } from '../harness/services.ts';
import { eventually } from './eventually.ts';

/** What /readyz answers. */
export async function readiness({ health }: Watcher): Promise<string> {
  const answer = await fetch(`http://${health}/readyz`, { signal: AbortSignal.timeout(2_000) });
  return (await answer.text()).trim();
}

/** Starts a watcher again that need not get ready: resolves when it says this of itself. */
export async function startsSaying(watcher: Watcher, expected: RegExp): Promise<void> {
  watcher.start().catch(() => undefined);
  await eventually(async () => expect(await readiness(watcher)).to.match(expected));
}

/** Lines that a program logged at a level or worse: 40 is a warning, 50 an error. */
export function logged({ log }: Server, level: number): string[] {
  return readFileSync(log, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('{') && (JSON.parse(line) as { level: number }).level >= level);
}

/** Takes objects out of the API server's etcd, as nobody who uses the API can. @param keys below /registry/ */
export async function loseKeys({ etcd }: Cluster, keys: readonly string[]): Promise<void> {
  for (const key of keys) expect((await etcd.etcdctl(['del', `/registry/${key}`])).trim()).to.equal('1');
}

/** A backup of the API server's etcd, with the server stopped meanwhile; gives how to put it back. */
export async function backUp(run: Run, { etcd, apiServer }: Cluster, name: string): Promise<() => Promise<void>> {
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

/** An outage of servers: killed, or frozen, so that their connections stay open. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Server } from '../harness/processes/server.ts';

export type OutageKind = 'killed' | 'frozen';

/**
 * Stops servers for a time and runs `work` from the start of the outage; resolves after `work` and
 * the restart.
 */
export async function withOutageFor(
  servers: readonly Server[],
  { kind, ms }: { readonly kind: OutageKind; readonly ms: number },
  work: () => Promise<unknown>,
): Promise<void> {
  await stop(servers, kind);
  const running = work();
  running.catch(() => undefined); // awaited below
  await sleep(ms);
  await restart(servers, kind);
  await running;
}

/** Stops servers until `work` has ended. */
export async function withOutageDuring(
  servers: readonly Server[],
  kind: OutageKind,
  work: () => Promise<unknown>,
): Promise<void> {
  await stop(servers, kind);
  try {
    await work();
  } finally {
    await restart(servers, kind);
  }
}

async function stop(servers: readonly Server[], kind: OutageKind): Promise<void> {
  if (kind === 'killed') await Promise.all(servers.map((server) => server.kill()));
  else for (const server of servers) server.freeze();
}

async function restart(servers: readonly Server[], kind: OutageKind): Promise<void> {
  if (kind === 'killed') await Promise.all(servers.map((server) => server.start()));
  else for (const server of servers) server.resume();
}

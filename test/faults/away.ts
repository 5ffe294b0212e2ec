/** A part that is away for a while: dead, or there and silent, which is worse. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Server } from '../harness/server.ts';

export type Absence = 'killed' | 'frozen';

/** Servers are away for so long, and `meanwhile` begins when they go; resolves when it has ended and all run again. */
export async function awayFor(
  servers: readonly Server[],
  { absence, ms }: { readonly absence: Absence; readonly ms: number },
  meanwhile: () => Promise<unknown>,
): Promise<void> {
  await leave(servers, absence);
  const going = meanwhile();
  going.catch(() => undefined); // awaited below
  await sleep(ms);
  await comeBack(servers, absence);
  await going;
}

/** Servers are away until `meanwhile` has ended. */
export async function awayWhile(
  servers: readonly Server[],
  absence: Absence,
  meanwhile: () => Promise<unknown>,
): Promise<void> {
  await leave(servers, absence);
  try {
    await meanwhile();
  } finally {
    await comeBack(servers, absence);
  }
}

async function leave(servers: readonly Server[], absence: Absence): Promise<void> {
  if (absence === 'killed') await Promise.all(servers.map((server) => server.kill()));
  else for (const server of servers) server.freeze();
}

async function comeBack(servers: readonly Server[], absence: Absence): Promise<void> {
  if (absence === 'killed') await Promise.all(servers.map((server) => server.start()));
  else for (const server of servers) server.thaw();
}
